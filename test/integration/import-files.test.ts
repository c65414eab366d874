import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import type { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ImportResult } from '../../electron/engine/transfer/contract.ts';
import { importInto } from '../../electron/engine/transfer/import.ts';
import { parseSource } from '../../electron/engine/transfer/source.ts';
import { clientTarget } from '../../electron/engine/transfer/target.ts';
import { rawFindAll } from '../../electron/engine/mongod/raw.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { documentValue, stringValue } from '../../shared/bson/value.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { foreignDeployment } from '../fixtures/foreign-deployment.ts';

let server: MongoMemoryReplSet;
let client: MongoClient;
let folder: string;

beforeAll(async () => {
  server = await foreignDeployment();
  client = await MongoClient.connect(server.getUri());
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'forkyard-import-'));
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
  await fs.rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await client.db('shop').dropDatabase();
});

async function importText(text: string | Buffer, collection = 'products', signal?: AbortSignal): Promise<ImportResult> {
  const file = path.join(folder, 'file.json');
  await fs.writeFile(file, text);
  const target = clientTarget(client, signal ? { signal } : {});
  return await importInto(target, parseSource(file), { db: 'shop', collection });
}
/** What the collection holds, as canonical Extended JSON, in natural order. */
async function stored(collection = 'products'): Promise<string[]> {
  const documents = await rawFindAll(client.db('shop'), { collection, filter: {}, hint: { $natural: 1 } });
  return documents.map((bytes) => toEjson(documentValue(bytes)));
}
async function failure(promise: Promise<unknown>): Promise<ForkyardError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ForkyardError)) throw new Error(`expected a ForkyardError, got ${String(error)}`);
  return error;
}

describe('files', () => {
  const two = ['{"_id":"a","n":{"$numberInt":"1"}}', '{"_id":"b","t":"} {"}'];

  it.each([
    ['an array', `[${two.join(', ')}]`],
    ['one document a line', two.join('\n')],
    ['lines with CRLF, blank lines and a byte order mark', `\ufeff${two.join('\r\n\r\n')}\r\n`],
    [
      'pretty-printed documents one after another',
      two.map((one) => JSON.stringify(JSON.parse(one), null, 2)).join('\n'),
    ],
    ['UTF-16', Buffer.from(`\ufeff[${two.join(',')}]`, 'utf16le')],
    ['gzipped', gzipSync(two.join('\n'))],
    ['gzipped in several members', Buffer.concat(two.map((one) => gzipSync(`${one}\n`)))],
  ])('%s', async (_kind, text) => {
    const result = await importText(text);
    expect(result).toMatchObject({ collections: [{ ns: 'shop.products', documents: 2 }], problems: [] });
    expect(await stored()).toEqual(two);
  });

  it('keep every type, 64-bit numbers and the order of names', async () => {
    const documents = [
      '{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"},"z":{"$numberLong":"9007199254740993"},"10":{"$numberInt":"1"},"2":{"$numberDouble":"1.0"}}',
      '{"_id":{"$numberDecimal":"1.10"},"d":{"$date":{"$numberLong":"-1"}},"b":{"$binary":{"base64":"AQI=","subType":"03"}},"r":{"$regularExpression":{"pattern":"a/b","options":"i"}}}',
      '{"_id":null,"x":{"$minKey":1},"y":{"$maxKey":1},"u":{"$undefined":true},"nan":{"$numberDouble":"NaN"},"zero":{"$numberDouble":"-0.0"}}',
      '{"_id":{"k":{"$numberInt":"1"}},"__proto__":{"a":{"$numberInt":"1"}},"constructor":"c","$set":{"a":true},"a.b":false,"":"empty"}',
    ];
    const result = await importText(documents.join('\n'));
    expect(result.problems).toEqual([]);
    expect(await stored()).toEqual(documents);
  });

  it('give a document without _id an ObjectId as its first field, and put a late _id first', async () => {
    await importText('{"name":"lamp"}\n{"name":"arm","_id":"b"}');
    const [first, second] = await stored();
    expect(first).toMatch(/^\{"_id":\{"\$oid":"[0-9a-f]{24}"\},"name":"lamp"\}$/);
    expect(second).toBe('{"_id":"b","name":"arm"}');
  });

  it('have the same hash when they hold the same documents', async () => {
    const one = await importText(two.join('\n'));
    await client.db('shop').dropDatabase();
    expect((await importText(`[${two.join(',')}]`)).hash).toBe(one.hash);
    expect((await importText(two[0]!)).hash).not.toBe(one.hash);
  });

  it('are read through to the end before anything is written: a mistake names its line and writes nothing', async () => {
    const error = await failure(importText(['{"_id":1}', '{"_id":2}', '', '{"_id":3,}'].join('\n')));
    expect(error.code).toBe('import_parse');
    expect(error.message).toContain('file.json, line 4:');
    expect(error.details).toEqual({ line: 4 });
    expect(await stored()).toEqual([]);
    const many = Array.from({ length: 40_000 }, (_, i) => `{"_id":${i},"text":"${'x'.repeat(40)}"}`);
    many[39_998] = 'oops';
    expect((await failure(importText(many.join('\n')))).message).toContain('line 39999');
    expect(await client.db('shop').listCollections().toArray()).toEqual([]);
  });

  it('that hold something else than documents, or no text, are refused with the line', async () => {
    expect((await failure(importText('[{"_id":1},\n7]'))).message).toContain('line 2');
    expect((await failure(importText('{"_id":1}\n"text"'))).message).toContain('line 2');
    const bytes = Buffer.concat([
      Buffer.from('{"_id":1}\n{"_id":2,"t":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect((await failure(importText(bytes))).message).toContain('line 2: bytes that are no UTF-8');
    expect(await stored()).toEqual([]);
  });

  it('that are gzipped are read in pieces, and a mistake in them names its line', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => `{"_id":${i},"text":"${'x'.repeat(60)}"}`);
    expect((await importText(gzipSync(many.join('\n')))).collections).toMatchObject([{ documents: 60_000 }]);
    many[59_998] = 'oops';
    expect((await failure(importText(gzipSync(many.join('\n')), 'other'))).message).toContain('line 59999');
    expect(await stored('other')).toEqual([]);
  });

  it('whose gzip data is cut off or damaged, and archives of mongodump, are refused in plain words', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `{"_id":${i},"n":${Math.sin(i)}}`).join('\n');
    const whole = gzipSync(lines);
    const refused = async (bytes: Buffer): Promise<string> => {
      const error = await failure(importText(bytes));
      expect(error).toMatchObject({ code: 'import_parse', hint: expect.stringContaining('Nothing was imported.') });
      return error.message;
    };
    expect(await refused(whole.subarray(0, whole.length - 1_000))).toBe('file.json ends before its gzip data does.');
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, whole.length - 8, whole.length - 4);
    expect(await refused(damaged)).toBe('file.json is gzipped, and its gzip data is damaged.');
    const archive = Buffer.from('6de29981', 'hex');
    for (const bytes of [archive, gzipSync(archive)])
      expect(await refused(bytes)).toBe('file.json is an archive of mongodump, which Forkyard does not read.');
    expect(await stored()).toEqual([]);
  });

  it('that are missing or folders are named', async () => {
    const target = clientTarget(client);
    const options = { db: 'shop', collection: 'products' };
    const missing = path.join(folder, 'missing.json');
    expect(await failure(importInto(target, parseSource(missing), options))).toMatchObject({
      code: 'source_unreadable',
      message: `${missing} does not exist.`,
    });
    expect((await failure(importInto(target, parseSource(folder), options))).message).toBe(`${folder} is not a file.`);
  });

  it('need a database and a collection, with names that can be', async () => {
    const target = clientTarget(client);
    const source = parseSource(path.join(folder, 'file.json'));
    const codeOf = async (options: object) => (await failure(importInto(target, source, options))).code;
    expect(await codeOf({ db: 'shop' })).toBe('usage');
    expect(await codeOf({ collection: 'products' })).toBe('usage');
    expect(await codeOf({ db: 'a.b', collection: 'c' })).toBe('name_invalid');
    expect(await codeOf({ db: 'admin', collection: 'c' })).toBe('name_invalid');
    expect(await codeOf({ db: 'shop', collection: 'a$b' })).toBe('name_invalid');
    expect(await codeOf({ db: 'shop', collection: 'system.users' })).toBe('name_invalid');
  });
});

describe('documents that cannot be imported are named and the rest is imported', () => {
  it('a duplicate _id, in the file or in the branch', async () => {
    await client.db('shop').collection<{ _id: string }>('products').insertOne({ _id: 'c' });
    const result = await importText('{"_id":"a"}\n{"_id":"a","again":true}\n{"_id":"b"}\n{"_id":"c"}');
    expect(result.collections).toEqual([{ ns: 'shop.products', documents: 2 }]);
    expect(result.problems).toEqual([
      {
        ns: 'shop.products',
        line: 2,
        id: stringValue('a'),
        message: expect.stringContaining('duplicate key') as string,
      },
      {
        ns: 'shop.products',
        line: 4,
        id: stringValue('c'),
        message: expect.stringContaining('duplicate key') as string,
      },
    ]);
  });

  it('an _id of a type that cannot be one, while every legal kind is kept', async () => {
    const legal = [
      'null',
      '{"$numberDouble":"NaN"}',
      '{"$minKey":1}',
      '{"$binary":{"base64":"AA==","subType":"00"}}',
      '{}',
    ];
    const illegal = [
      '[{"$numberInt":"1"}]',
      '{"$regularExpression":{"pattern":"a","options":""}}',
      '{"$undefined":true}',
    ];
    const result = await importText([...legal, ...illegal].map((id) => `{"_id":${id}}`).join('\n'));
    expect(await stored()).toEqual(legal.map((id) => `{"_id":${id}}`));
    expect(result.problems.map(({ line, message }) => [line, message])).toEqual([
      [6, "a document's _id cannot be of type Array"],
      [7, "a document's _id cannot be of type Regex"],
      [8, "a document's _id cannot be of type Undefined"],
    ]);
  });

  it('one over 16 MB, and one nested deeper than the server reads', async () => {
    const deep = `${'{"a":'.repeat(210)}1${'}'.repeat(210)}`;
    const lines = [
      '{"_id":1}',
      `{"_id":2,"t":"${'x'.repeat(16 * 1024 * 1024)}"}`,
      `{"_id":3,"a":${deep}}`,
      '{"_id":4}',
    ];
    const result = await importText(lines.join('\n'));
    expect(result.problems.map(({ line }) => line)).toEqual([2, 3]);
    expect(await stored()).toEqual(['{"_id":{"$numberInt":"1"}}', '{"_id":{"$numberInt":"4"}}']);
  });

  it('one that the collection’s validator refuses', async () => {
    await client.db('shop').createCollection('products', { validator: { price: { $gt: 0 } } });
    const result = await importText('{"_id":1,"price":5}\n{"_id":2,"price":-5}');
    expect(result.problems).toMatchObject([
      { line: 2, message: expect.stringContaining('failed validation') as string },
    ]);
  });

  it('no more than a thousand are named, the others counted', async () => {
    const lines = Array.from({ length: 1500 }, () => '{"_id":"same"}');
    const { problems } = await importText(lines.join('\n'));
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)?.message).toBe('499 more documents were not imported');
  });
});

it('a zero Timestamp at the top level stays zero', async () => {
  const document =
    '{"_id":1,"t":{"$timestamp":{"t":0,"i":0}},"n":{"t":{"$timestamp":{"t":0,"i":0}}},"$set":"x","a.b":"y"}';
  const result = await importText(`${document}\n{"_id":{"$timestamp":{"t":0,"i":0}}}`);
  expect(result.problems).toEqual([]);
  expect(await stored()).toEqual([
    document.replace('"_id":1', '"_id":{"$numberInt":"1"}'),
    '{"_id":{"$timestamp":{"t":0,"i":0}}}',
  ]);
});

it('of names that occur twice the last value is taken, as JSON has it, and the line is named', async () => {
  const result = await importText('{"_id":1}\n{"_id":2,"a":1,"a":2}');
  expect(result.collections[0]?.documents).toBe(2);
  expect(result.problems).toEqual([
    { ns: 'shop.products', line: 2, message: 'the name "a" occurs twice in one document; its last value was taken' },
  ]);
  expect((await stored())[1]).toBe('{"_id":{"$numberInt":"2"},"a":{"$numberInt":"2"}}');
});

it('an import that is cancelled says what is in the branch already', async () => {
  const lines = Array.from({ length: 35_000 }, (_, i) => `{"_id":${i}}`);
  const controller = new AbortController();
  const file = path.join(folder, 'file.json');
  await fs.writeFile(file, lines.join('\n'));
  const onProgress = ({ text, done }: { text: string; done?: number }) => {
    if (text.startsWith('Importing') && (done ?? 0) > 0) controller.abort();
  };
  const target = clientTarget(client, { signal: controller.signal, onProgress });
  const error = await failure(importInto(target, parseSource(file), { db: 'shop', collection: 'products' }));
  expect(error.code).toBe('aborted');
  const count = await client.db('shop').collection('products').countDocuments();
  expect(error.message).toBe(
    `The import was cancelled; ${count.toLocaleString('en')} documents of shop.products had been imported.`,
  );
});

describe('samples', () => {
  afterEach(async () => {
    await client.db('elsewhere').dropDatabase();
  });

  it('sample:three holds the three products, and goes to another database when told', async () => {
    const result = await importInto(clientTarget(client), parseSource('sample:three'), { db: 'elsewhere' });
    expect(result).toMatchObject({ collections: [{ ns: 'elsewhere.products', documents: 3 }], problems: [] });
    await importInto(clientTarget(client), parseSource('sample:three'));
    expect(await stored()).toEqual([
      '{"_id":"p1","name":"Desk lamp","price":{"$numberInt":"49"}}',
      '{"_id":"p2","name":"Monitor arm","price":{"$numberInt":"89"}}',
      '{"_id":"p3","name":"Cable tray","price":{"$numberInt":"19"}}',
    ]);
  });

  it('sample:shop comes whole, with indexes, a validator that holds, and the same hash every time', async () => {
    const result = await importInto(clientTarget(client), parseSource('sample:shop'));
    expect(result.problems).toEqual([]);
    expect(result.collections).toEqual([
      { ns: 'shop.products', documents: 2_480 },
      { ns: 'shop.customers', documents: 8_614 },
      { ns: 'shop.orders', documents: 18_240 },
    ]);
    expect(result.hash).toBe('6735dc41b2020673a39555ab618692d61c38c916b6ca734089b398bba26d507f');
    const near = { $nearSphere: { $geometry: { type: 'Point', coordinates: [13.4, 52.5] }, $maxDistance: 50_000 } };
    expect(await client.db('shop').collection('customers').findOne({ 'addresses.location': near })).not.toBeNull();
    expect(
      await client
        .db('shop')
        .collection('products')
        .findOne({ $text: { $search: 'walnut' } }),
    ).not.toBeNull();
    await expect(client.db('shop').collection('orders').insertOne({ status: 'lost' })).rejects.toThrow('validation');
  });

  it('an index that what is there already does not allow is named, and the rest is imported', async () => {
    await client.db('shop').dropDatabase();
    await importInto(clientTarget(client), parseSource('sample:three'));
    const { collections, problems } = await importInto(clientTarget(client), parseSource('sample:shop'));
    expect(problems).toEqual([
      { ns: 'shop.products', message: expect.stringContaining('the index sku could not be built') },
    ]);
    expect(collections.map(({ documents }) => documents)).toEqual([2_480, 8_614, 18_240]);
    const names = (await client.db('shop').collection('products').indexes()).map(({ name }) => name);
    expect(names).toEqual(['_id_', 'category_price', 'search']);
  });

  it('names that are no sample are refused', () => {
    expect(() => parseSource('sample:zoo')).toThrow('There is no sample:zoo.');
  });
});
