import {
  BSONSymbol,
  Binary,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  type Document,
  type MongoClient,
} from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Type } from '../../shared/bson/value.ts';
import { buildArray, buildDocument, rawElement } from '../../shared/bson/walk.ts';
import { ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf, fieldRows, insertExactly } from '../harness/round.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;
let client: MongoClient;
let sandbox: MongoClient;

const int = (value: number) => new Uint8Array([Type.Int32, value, 0, 0, 0]);
const text = (...bytes: number[]) => new Uint8Array([Type.String, bytes.length + 1, 0, 0, 0, ...bytes, 0]);
const zero = () => new Timestamp({ t: 0, i: 0 });
const keys: readonly unknown[] = [
  null,
  NaN,
  new Double(1.5),
  Long.fromString('9007199254740993'),
  Decimal128.fromString('0.1'),
  '',
  'text',
  { a: 1, b: [1, { c: null }] },
  { b: 1, a: 1 },
  new Binary(Buffer.from([1, 2]), 0),
  new Binary(Buffer.from([1, 2]), 128),
  new ObjectId('507f1f77bcf86cd799439011'),
  true,
  new Date(-1),
  new Timestamp({ t: 1, i: 1 }),
  new Code('x()'),
  new BSONSymbol('symbol'),
  new MinKey(),
  new MaxKey(),
];

/** 100 levels of objects and arrays. */
function deep(leaf: Uint8Array): Uint8Array {
  let value = leaf;
  for (let level = 0; level < 98; level += 1) {
    value =
      level % 2 === 0
        ? new Uint8Array([Type.Object, ...buildDocument([rawElement('d', value)])])
        : new Uint8Array([Type.Array, ...buildArray([value])]);
  }
  return value;
}

const set = (field: string, to: unknown) => [
  { $replaceWith: { $setField: { field: { $literal: field }, input: '$$ROOT', value: to } } },
];

beforeAll(async () => {
  yard = await TestYard.open();
  client = await yard.client('main');
  await insertExactly(
    client,
    'written.ids',
    keys.map((_id) => ({ _id, n: new Int32(1) })),
  );
  const large = buildDocument([
    rawElement('_id', int(1)),
    rawElement('n', int(1)),
    rawElement('fill', new Uint8Array([Type.Binary, 0, 0, 240, 0, 0, ...new Uint8Array(15_728_640)])),
  ]);
  await insertExactly(client, 'written.large', [large]);
  await insertExactly(client, 'written.odd', [
    { _id: 'names', $id: 1, $set: { a: 1 }, 'a.b': 2, a: { b: 3 }, '': 4, $: 5 },
    Object.assign(
      JSON.parse('{"_id":"proto","__proto__":{"x":1},"constructor":{"y":1},"hasOwnProperty":1}') as Document,
    ),
    buildDocument([
      rawElement('_id', text(0x64, 0x75, 0x70)),
      rawElement('a', int(1)),
      rawElement('a', int(2)),
      rawElement('n', int(1)),
    ]),
    buildDocument([
      rawElement('_id', text(0x62, 0x6f, 0x74, 0x68)),
      rawElement('a', int(1)),
      rawElement('a', int(2)),
      rawElement('t', int(1)),
    ]),
    buildDocument([
      rawElement('_id', text(0x75, 0x74, 0x66)),
      rawElement('bad', text(0xff, 0xc0)),
      rawElement('n', int(1)),
    ]),
    buildDocument([
      rawElement('_id', text(0x75, 0x6e, 0x64)),
      rawElement('u', new Uint8Array([Type.Undefined])),
      rawElement('n', int(1)),
    ]),
    buildDocument([
      rawElement('_id', text(0x64, 0x65, 0x65, 0x70)),
      rawElement('d', deep(int(1))),
      rawElement('n', int(1)),
    ]),
    { _id: 'time', t: new Timestamp({ t: 1, i: 1 }), inner: { t: zero(), list: [zero()] }, n: 1 },
    { _id: 'gone', t: 1, n: 1 },
    { _id: 'cut', arr: ['a', 'b', 'c'], keep: 'v' },
    {
      _id: 'list',
      list: [
        { id: 1, v: 1 },
        { id: 2, v: 2 },
      ],
    },
  ]);
  await client.db('written').collection('odd').updateOne(one('gone'), set('t', zero()));
  await yard.fork('odd', { ttlMs: null });
  sandbox = await yard.client('odd');
});
afterAll(() => yard.close());

it('BS-21: an _id of every kind the server takes is found, changed, deleted, adopted and taken back', async () => {
  const ns = 'written.ids';
  const before = await contents(client, ns);
  expect(before.size).toBe(keys.length);
  const collection = sandbox.db('written').collection('ids');
  for (const [at, key] of keys.entries()) {
    const filter = { _id: { $eq: key as never } };
    if (at % 3 === 2) expect((await collection.deleteOne(filter)).deletedCount).toBe(1);
    else expect((await collection.updateOne(filter, { $inc: { n: new Int32(1) } })).modifiedCount).toBe(1);
  }
  const wanted = await contents(sandbox, ns);
  const diff = await completeDiff(yard, { branch: 'odd', only: [{ ns }] });
  expect(diff.summary).toEqual([{ ns, added: 0, modified: 13, removed: 6, conflicts: 0 }]);
  const { entry } = await yard.call('plan.adopt', { branch: 'odd', only: [{ ns }] });
  expect(await contents(client, ns)).toEqual(wanted);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('BS-12 BS-13 BS-19 CS-09 DF-04: what only bytes can carry is written byte for byte, and taken back', async () => {
  const ns = 'written.odd';
  const before = await contents(client, ns);
  const collection = sandbox.db('written').collection<Document>('odd');
  for (const [field, to] of [
    ['$id', 10],
    ['$set', { a: 10 }],
    ['a.b', 20],
    ['', 40],
    ['$', 50],
  ] as const) {
    await collection.updateOne(one('names'), set(field, to));
  }
  await collection.updateOne(one('names'), { $set: { 'a.b': 30 } });
  for (const field of ['__proto__', 'constructor', 'hasOwnProperty'])
    await collection.updateOne(one('proto'), set(field, { z: 9 }));
  for (const key of ['dup', 'utf', 'und', 'deep']) await collection.updateOne(one(key), { $set: { n: new Int32(2) } });
  await collection.updateOne(one('time'), set('t', zero()));
  await collection.deleteOne(one('gone'));
  await insertExactly(sandbox, ns, [{ _id: 'came', t: 1 }]);
  await collection.updateOne(one('came'), set('t', zero()));
  await collection.updateOne(one('cut'), [{ $set: { arr: { $slice: ['$arr', 1] } } }]);
  await collection.updateOne(one('list'), { $set: { list: [{ id: 2, v: 2.1 }] } });
  await collection.updateOne(one('both'), { $set: { t: zero() } });

  const diff = await completeDiff(yard, { branch: 'odd', only: [{ ns }] });
  const paths = (key: string) => documentOf(diff, key).fields.map(({ path }) => path);
  expect(paths('names')).toEqual([['$id'], ['$set', 'a'], ['a.b'], ['a', 'b'], [''], ['$']]);
  expect(paths('proto')).toEqual([
    ['__proto__', 'x'],
    ['__proto__', 'z'],
    ['constructor', 'y'],
    ['constructor', 'z'],
    ['hasOwnProperty'],
  ]);
  expect(({} as { x?: unknown }).x).toBeUndefined();
  expect(fieldRows(diff, 'cut')).toEqual([
    [['arr', 1], 'b', undefined],
    [['arr', 2], 'c', undefined],
  ]);
  expect(documentOf(diff, 'list').fields.map(({ path, branch }) => [path, ejson(branch)])).toEqual([
    [['list', 0], undefined],
    [['list', 0, 'v'], { $numberDouble: '2.1' }],
  ]);

  // What the server has no way to write is named with why, before anything is.
  const sentence =
    '"both" of written.odd cannot be written byte for byte: it holds both a zero timestamp and a field name twice, which the server writes in no way.';
  const refused = await yard.refusal('plan.adopt', { branch: 'odd', only: [{ ns }] });
  expect(refused).toMatchObject({ code: 'conflicts', message: expect.stringContaining(sentence) });
  expect(await contents(client, ns)).toEqual(before);

  const both = { ns, id: id('"both"') };
  const { entry } = await yard.call('plan.adopt', { branch: 'odd', only: [{ ns }], except: [both] });
  const [now, wanted] = [await contents(client, ns), await contents(sandbox, ns)];
  for (const all of [now, wanted]) all.delete('"both"');
  expect(now).toEqual(wanted);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('a document of almost 16 MB is changed, adopted and taken back', async () => {
  const ns = 'written.large';
  const before = await contents(client, ns);
  await sandbox
    .db('written')
    .collection('large')
    .updateOne(one(1), { $set: { n: new Int32(2) } });
  const { entry } = await yard.call('plan.adopt', { branch: 'odd', only: [{ ns }] });
  expect(await contents(client, ns)).toEqual(await contents(sandbox, ns));
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('a document that a TTL index would expire at once is adopted with its index, and its undo takes both away', async () => {
  const sessions = sandbox.db('ttl').collection('sessions');
  await sessions.createIndex({ at: 1 }, { expireAfterSeconds: 1 });
  await sessions.insertOne({ _id: 'old' as never, at: new Date(0) });
  const { applied, entry } = await yard.call('plan.adopt', { branch: 'odd', only: [{ ns: 'ttl.sessions' }] });
  expect(applied).toBe(3);
  const main = client.db('ttl').collection('sessions');
  expect((await main.indexes()).map(({ expireAfterSeconds }) => expireAfterSeconds as unknown)).toEqual([undefined, 1]);
  expect(await main.countDocuments()).toBe(1);
  await yard.call('log.undo', { entry: entry! });
  expect(await main.countDocuments()).toBe(0);
});

it('MG-21: a transaction that writes to a new collection, a hundred times, meets nothing but the server', async () => {
  const session = sandbox.startSession();
  const failures: unknown[] = [];
  for (let n = 0; n < 100; n += 1) {
    session.startTransaction();
    try {
      await sandbox
        .db('implicit')
        .collection(`made_${n}`)
        .insertOne({ _id: n as never }, { session });
      await session.commitTransaction();
    } catch (error) {
      failures.push(error);
      await session.abortTransaction();
    }
  }
  await session.endSession();
  expect(failures).toEqual([]);
  const diff = await completeDiff(yard, { branch: 'odd' });
  const made = diff.summary.filter(({ ns }) => ns.startsWith('implicit.'));
  expect([made.length, made.every(({ added }) => added === 1), diff.complete]).toEqual([100, true, true]);
});
