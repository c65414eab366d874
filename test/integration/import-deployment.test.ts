import net from 'node:net';
import { BSON, type Db, type Document, Int32, Long, MongoClient, Timestamp } from 'mongodb';
import type { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rawFindAll, rawWrite } from '../../electron/engine/mongod/raw.ts';
import type { ImportOptions, ImportResult } from '../../electron/engine/transfer/contract.ts';
import { importInto } from '../../electron/engine/transfer/import.ts';
import { parseSource, sourceLabel } from '../../electron/engine/transfer/source.ts';
import { clientTarget } from '../../electron/engine/transfer/target.ts';
import { field } from '../../shared/bson/walk.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { timed } from '../harness/own-time.ts';
import { foreignDeployment } from '../fixtures/foreign-deployment.ts';

const password = 'p@ss:w/rd%?#[]$';
let source: MongoMemoryReplSet;
let branch: MongoMemoryReplSet;
let from: MongoClient;
let into: MongoClient;
let port: number;

/** Documents whose `_id` is no ObjectId. */
interface AnyId extends Document {
  _id: string | number;
}

/** The source's URI as `user`, with this password as it stands in the URI. */
const uriOf = (written: string, host = `127.0.0.1:${port}`, user = 'root') =>
  `mongodb://${user}:${written}@${host}/?authSource=admin`;

beforeAll(async () => {
  [source, branch] = await Promise.all([foreignDeployment({ root: { user: 'root', password } }), foreignDeployment()]);
  port = Number(new URL(source.getUri().replace('mongodb:', 'http:')).port);
  from = await MongoClient.connect(uriOf(encodeURIComponent(password)));
  into = await MongoClient.connect(branch.getUri());
});
afterAll(async () => {
  await Promise.all([from?.close(), into?.close()]);
  await Promise.all([source?.stop(), branch?.stop()]);
});
beforeEach(async () => {
  for (const client of [from, into]) {
    for (const { name } of (await client.db().admin().listDatabases()).databases) {
      if (!['admin', 'local', 'config'].includes(name)) await client.db(name).dropDatabase();
    }
  }
});

async function importAll(
  options: ImportOptions = {},
  uri = uriOf(encodeURIComponent(password)),
): Promise<ImportResult> {
  // As the engine writes: retryable writes of one session.
  const session = into.startSession();
  try {
    return await importInto(clientTarget(into, { session }), parseSource(uri), options);
  } finally {
    await session.endSession();
  }
}
async function failure(promise: Promise<unknown>): Promise<ForkyardError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ForkyardError)) throw new Error(`expected a ForkyardError, got ${String(error)}`);
  return error;
}
/** Nothing that a user could see of it holds the password, nor the longer pieces of it. */
function expectNoSecret(error: ForkyardError): void {
  const seen = JSON.stringify([error.toBody(), String(error), error.stack]);
  for (const secret of [password, encodeURIComponent(password), 'ss:w', 'rd%', 'w%2Frd'])
    expect(seen).not.toContain(secret);
}
/** A database's catalog without what differs by nature: UUIDs. */
async function catalog(db: Db): Promise<unknown[]> {
  const collections = (await db.listCollections({}, { promoteValues: false }).toArray()) as Document[];
  const all = [];
  for (const { name, type, options } of collections.sort((a, b) =>
    String(a['name']).localeCompare(String(b['name'])),
  )) {
    const isView = String(type) === 'view';
    const indexes = isView ? [] : await db.collection(String(name)).listIndexes().toArray();
    all.push({
      name: String(name),
      type: String(type),
      options: BSON.EJSON.stringify(options, { relaxed: false }),
      indexes,
    });
  }
  return all;
}
async function measurements(db: Db): Promise<Document[]> {
  return await db
    .collection('measured')
    .find({}, { promoteValues: false, sort: { _id: 1 } })
    .toArray();
}
async function bytes(db: Db, collection: string): Promise<string[]> {
  const documents = await rawFindAll(db, { collection, filter: {} });
  return documents.map((document) => Buffer.from(document).toString('hex'));
}

describe('a running deployment', () => {
  it('is copied with all its databases, documents byte for byte', async () => {
    // Duplicate names, an undefined, a zero Timestamp, odd names: inserted as bytes, as drivers of every kind can.
    const odd = [
      // {_id: 1, a: 1, a: 2, u: undefined}
      withLength(Buffer.from('00000000105f69640001000000106100010000001061000200000006750000', 'hex')),
      BSON.serialize({ _id: 2, t: new Timestamp({ t: 0, i: 1 }), 'a.b': 1, $set: { x: 1 }, '': Long.fromNumber(1) }),
    ];
    await rawWrite(from.db('one'), { insert: 'odd' }, { name: 'documents', items: odd });
    await from
      .db('two')
      .collection('many')
      .insertMany(Array.from({ length: 3000 }, (_, i) => ({ n: new Int32(i) })));
    await from.db('two').createCollection('empty');

    const result = await importAll();
    expect(result.problems).toEqual([]);
    expect([...result.collections].sort((a, b) => a.ns.localeCompare(b.ns))).toEqual([
      { ns: 'one.odd', documents: 2 },
      { ns: 'two.empty', documents: 0 },
      { ns: 'two.many', documents: 3000 },
    ]);
    expect(await bytes(into.db('one'), 'odd')).toEqual(odd.map((one) => Buffer.from(one).toString('hex')));
    expect(await bytes(into.db('two'), 'many')).toEqual(await bytes(from.db('two'), 'many'));
  });

  it('keeps a zero Timestamp, and refuses only a document that no write keeps exactly', async () => {
    const zero = new Timestamp({ t: 0, i: 0 });
    await from
      .db('one')
      .collection<AnyId>('c')
      .insertOne({ _id: 1, t: new Timestamp({ t: 5, i: 5 }), n: { t: zero } });
    await from
      .db('one')
      .collection<AnyId>('c')
      .updateOne({ _id: 1 }, [{ $set: { t: { $literal: zero } } }]);
    const result = await importAll();
    expect(result.problems).toEqual([]);
    expect(await bytes(into.db('one'), 'c')).toEqual(await bytes(from.db('one'), 'c'));
    expect(field((await rawFindAll(into.db('one'), { collection: 'c', filter: {} }))[0]!, 't')).toEqual(
      new Uint8Array([0x11, 0, 0, 0, 0, 0, 0, 0, 0]),
    );
  });

  it('is copied in part: one database, or one collection of it', async () => {
    for (const db of ['one', 'two'])
      for (const name of ['a', 'a.b', 'a.b.c']) await from.db(db).collection(name).insertOne({});
    expect((await importAll({ db: 'one', collection: 'a.b' })).collections).toEqual([{ ns: 'one.a.b', documents: 1 }]);
    expect((await importAll({ db: 'two' })).collections.map(({ ns }) => ns).sort()).toEqual([
      'two.a',
      'two.a.b',
      'two.a.b.c',
    ]);
    expect(await failure(importAll({ db: 'three' }))).toMatchObject({
      code: 'source_unreadable',
      hint: 'It has one, two.',
    });
    expect((await failure(importAll({ db: 'one', collection: 'b' }))).message).toContain('has no collection one.b');
  });

  it('keeps validators, collations, capped, clustered and time-series collections, and views on views in order', async () => {
    const db = from.db('one');
    await db.createCollection('checked', {
      validator: { price: { $gte: new Int32(0) }, '10': { $exists: false }, '2': { $exists: false } },
      validationLevel: 'moderate',
      validationAction: 'warn',
    });
    await db.createCollection('sorted', { collation: { locale: 'de', strength: 2 } });
    await db.createCollection('ring', { capped: true, size: 4096, max: 3 });
    await db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true, name: 'by id' } });
    await db.createCollection('measured', { timeseries: { timeField: 'at', metaField: 'who', granularity: 'hours' } });
    await db.createCollection('a_last', { viewOn: 'b_second', pipeline: [{ $match: { price: { $gt: 1.5 } } }] });
    await db.createCollection('b_second', { viewOn: 'checked', pipeline: [{ $project: { price: 1 } }] });
    for (let i = 0; i < 5; i++) await db.collection('ring').insertOne({ i });
    await db.collection<AnyId>('clustered').insertMany([{ _id: 2 }, { _id: 1 }]);
    const at = new Date('2026-01-01');
    await db.collection('measured').insertMany([
      { at, who: 'a', v: new Int32(1) },
      { at, who: 'a', v: 'text' },
    ]);
    await db.collection('checked').insertOne({ price: 2 });

    const result = await importAll();
    expect(result.problems).toEqual([]);
    expect(await catalog(into.db('one'))).toEqual(await catalog(db));
    expect(await into.db('one').collection('a_last').countDocuments()).toBe(1);
    expect((await into.db('one').collection('ring').find().toArray()).map(({ i }) => i as number)).toEqual([2, 3, 4]);
    await into.db('one').collection('ring').insertOne({ i: 5 });
    expect(await into.db('one').collection('ring').countDocuments()).toBe(3);
    // The server stores measurements by column: fields come back in an order of its own.
    expect(await measurements(into.db('one'))).toEqual(await measurements(db));
    expect(result.collections.find(({ ns }) => ns === 'one.measured')?.documents).toBe(2);
  });

  it('keeps every kind of index in full', async () => {
    const collection = from.db('one').collection('c');
    await collection.createIndexes([
      { key: { a: 1, b: -1 }, name: 'partial', unique: true, partialFilterExpression: { a: { $gt: 5 } } },
      { key: { c: 1 }, name: 'sparse', sparse: true },
      { key: { d: 1 }, name: 'hidden', hidden: true },
      {
        key: { t: 'text', u: 'text' },
        name: 'words',
        weights: { t: 7, u: 2 },
        default_language: 'german',
        language_override: 'sprache',
      },
      { key: { place: '2dsphere' }, name: 'place' },
      { key: { '$**': 1 }, name: 'wild', wildcardProjection: { 'x.y': 1 } },
      { key: { h: 'hashed' }, name: 'hashed' },
      { key: { n: 1 }, name: 'collated', collation: { locale: 'sv', strength: 1 } },
      { key: { at: 1 }, name: 'ttl', expireAfterSeconds: 3600 },
      { key: { '10': 1, '2': 1 }, name: 'numbers as names' },
    ]);
    await collection.insertOne({ a: 6, b: 1 });
    expect((await importAll()).problems).toEqual([]);
    const listed = async (client: MongoClient) =>
      BSON.EJSON.stringify(await client.db('one').collection('c').listIndexes().toArray());
    expect(await listed(into)).toBe(await listed(from));
  });

  it('keeps indexes that compare simply in a collection that does not', async () => {
    const collection = await from.db('one').createCollection('c', { collation: { locale: 'fr', strength: 2 } });
    await collection.createIndexes([
      { key: { n: 1 }, name: 'inherited', unique: true },
      { key: { n: 1 }, name: 'simple', collation: { locale: 'simple' } },
      { key: { words: 'text' }, name: 'words', collation: { locale: 'simple' } },
    ]);
    await collection.insertOne({ n: 'é' });
    expect((await importAll()).problems).toEqual([]);
    const listed = (client: MongoClient) => client.db('one').collection('c').listIndexes().toArray();
    expect(await listed(into)).toEqual(await listed(from));
  });

  it('holds documents that its validator would refuse today: they come along', async () => {
    await from.db('one').collection('c').insertOne({ price: 'free' });
    await from.db('one').command({ collMod: 'c', validator: { price: { $type: 'number' } } });
    expect(await importAll()).toMatchObject({ collections: [{ documents: 1 }], problems: [] });
  });

  it('adds to a collection that is there: duplicates are named, differing options noted', async () => {
    await from.db('one').createCollection('c', { collation: { locale: 'de' } });
    await from
      .db('one')
      .collection<AnyId>('c')
      .insertMany([{ _id: 'a' }, { _id: 'b' }]);
    await from.db('one').createCollection('v', { viewOn: 'c', pipeline: [] });
    await into.db('one').collection<AnyId>('c').insertOne({ _id: 'a', kept: true });
    await into.db('one').collection('v').insertOne({});
    const result = await importAll();
    expect(result.collections).toEqual([{ ns: 'one.c', documents: 1 }]);
    expect(result.problems.map(({ ns, message }) => `${ns}: ${message}`)).toEqual([
      "one.c: its options differ from the source's; the branch's are kept",
      expect.stringMatching(/^one\.c: .*duplicate key/) as string,
      "one.v: the branch has another of this name, which is kept; the source's view was not imported",
    ]);
    expect(await into.db('one').collection<AnyId>('c').findOne({ _id: 'a' })).toEqual({ _id: 'a', kept: true });
  });

  it('names an index that cannot be built, and builds the others', async () => {
    await from
      .db('one')
      .collection('c')
      .createIndexes([
        { key: { a: 1 }, name: 'a', unique: true },
        { key: { b: 1 }, name: 'b' },
      ]);
    await from.db('one').collection('c').insertOne({ a: 1 });
    await into.db('one').collection('c').insertOne({ a: 1 });
    const { problems } = await importAll();
    expect(problems).toMatchObject([{ message: expect.stringContaining('the index a could not be built') as string }]);
    expect(await into.db('one').collection('c').indexExists('b')).toBe(true);
  });

  it('is copied when it holds documents of almost 16 MB, more of them than go into one message', async () => {
    const text = 'x'.repeat(15_900_000);
    for (let i = 0; i < 10; i++) await from.db('one').collection<AnyId>('big').insertOne({ _id: i, text });
    const before = process.memoryUsage().rss;
    const result = await importAll();
    expect(result).toMatchObject({ collections: [{ ns: 'one.big', documents: 10 }], problems: [] });
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
  });

  it('stops when it is cancelled and says what is in the branch', async () => {
    await from
      .db('one')
      .collection('c')
      .insertMany(Array.from({ length: 30_000 }, (_, i) => ({ i })));
    const controller = new AbortController();
    const onProgress = ({ done }: { done?: number }) => {
      if ((done ?? 0) > 0) controller.abort();
    };
    const target = clientTarget(into, { signal: controller.signal, onProgress });
    const error = await failure(importInto(target, parseSource(uriOf(encodeURIComponent(password)))));
    expect(error.code).toBe('aborted');
    const count = await into.db('one').collection('c').countDocuments();
    expect(error.message).toContain(`${count.toLocaleString('en')} documents of one.c`);
  });
});

it('a deployment that ends in the middle of a copy is named, with what has been imported', async () => {
  const ending = await foreignDeployment();
  const client = await MongoClient.connect(ending.getUri());
  const text = 'x'.repeat(1_000_000);
  for (let i = 0; i < 80; i++) await client.db('one').collection<AnyId>('c').insertOne({ _id: i, text });
  await client.close();
  const target = clientTarget(into);
  const insert: typeof target.insert = async (...given) => {
    await ending.stop();
    return await target.insert(...given);
  };
  const error = await failure(importInto({ ...target, insert }, parseSource(ending.getUri())));
  expect(error.code).toBe('source_unreachable');
  const count = await into.db('one').collection('c').countDocuments();
  expect(count).toBeGreaterThan(0);
  expect(error.message).toMatch(
    /^The connection to .* was lost\. Before that, \d+ documents of one\.c had been imported\.$/,
  );
  expect(error.details).toEqual({ collections: [{ ns: 'one.c', documents: count }] });
});

describe('the way to a deployment', () => {
  it('is named without its password when nothing listens, within 10 s', async () => {
    const refused = failure(importAll({}, uriOf(encodeURIComponent(password), '127.0.0.1:1')));
    expect(await timed(() => refused)).toBeLessThan(10_000);
    const error = await refused;
    expect(error).toMatchObject({
      code: 'source_unreachable',
      message: '127.0.0.1:1 refused the connection.',
      retry: true,
    });
    expectNoSecret(error);
  });

  it('is given up within 10 s when a server takes the connection and never answers', async () => {
    const silent = net.createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port: silentPort } = silent.address() as net.AddressInfo;
    const sockets: net.Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    try {
      const refused = failure(importAll({}, uriOf(encodeURIComponent(password), `127.0.0.1:${silentPort}`)));
      expect(await timed(() => refused)).toBeLessThan(10_000);
      const error = await refused;
      expect(error).toMatchObject({ code: 'source_unreachable' });
      expect(error.message).toContain(`127.0.0.1:${silentPort} did not answer`);
      expectNoSecret(error);
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    }
  });

  it('DR-01: with a wrong password is refused in words that hold no password', async () => {
    const error = await failure(importAll({}, uriOf(encodeURIComponent(`${password}x`))));
    expect(error).toMatchObject({
      code: 'source_unreachable',
      message: `127.0.0.1:${port} refused the user name or the password.`,
    });
    expectNoSecret(error);
  });

  it('DR-01: with the password pasted as it is gets a hint instead of a guess, and shows nothing of it', async () => {
    const error = await failure(importAll({}, uriOf(password)));
    expect(error.code).toBe('source_unreadable');
    expect(error.hint).toContain('%40');
    expectNoSecret(error);
  });

  it('DR-02: by localhost and by the names of IPv6 is found', async () => {
    await from.db('one').collection('c').insertOne({});
    const result = await importAll({}, uriOf(encodeURIComponent(password), `localhost:${port}`));
    expect(result.collections).toEqual([{ ns: 'one.c', documents: 1 }]);
    const error = await failure(importAll({}, 'mongodb://[::1]:1/'));
    expect(error.message).toBe('[::1]:1 refused the connection.');
  });

  it('to a user who may read one database only, copies that one', async () => {
    await from.db('one').collection('c').insertOne({});
    await from.db('two').collection('c').insertOne({});
    await from.db('admin').command({ createUser: 'reader', pwd: 'reader', roles: [{ role: 'read', db: 'one' }] });
    const result = await importAll({}, uriOf('reader', undefined, 'reader'));
    expect(result.collections).toEqual([{ ns: 'one.c', documents: 1 }]);
  });

  it('is labelled by its hosts alone', () => {
    expect(sourceLabel(parseSource(uriOf(encodeURIComponent(password), 'db.example.com:27018')))).toBe(
      'db.example.com:27018',
    );
  });
});

/** Sets a document's length, so that it can be written as a literal. */
function withLength(document: Buffer): Uint8Array {
  document.writeInt32LE(document.length);
  return document;
}
