import { BSON, Decimal128, Double, Int32, Long, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toBase64 } from '../../shared/bson/value.ts';
import { bson, ejson, id } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { insertExactly } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  const client = await yard.client('main');
  const db = client.db('stock');
  await db.createCollection('items', { validator: { price: { $exists: true } } });
  await db.collection('items').createIndex({ price: -1 }, { name: 'by price', unique: true });
  await insertExactly(
    client,
    'stock.items',
    Array.from({ length: 25 }, (_, n) => ({ _id: new Int32(n), price: new Double(n) })),
  );
  await db.createCollection('cheap', { viewOn: 'items', pipeline: [{ $match: { price: { $lt: 5 } } }] });
  await db.createCollection('weather', { timeseries: { timeField: 'at' } });
  await db.collection('weather').insertOne({ at: new Date(0), c: 20 });
  await client.db('another').collection('one').insertOne({ x: 1 });
});
afterAll(() => yard.close());

const documents = (input: {
  ns: string;
  filter?: string;
  sort?: string;
  after?: string;
  skip?: number;
  limit?: number;
}) => yard.call('data.documents', { branch: 'main', ...input });
const ids = async (input: Parameters<typeof documents>[0]) =>
  (await documents(input)).documents.map((document) => (ejson(document) as { _id: unknown })._id);
const int = (value: number) => ({ $numberInt: String(value) });

it('lists databases and collections with their sizes, indexes, options and validators', async () => {
  const { databases } = await yard.call('data.collections', { branch: 'main' });
  expect(databases.map(({ name }) => name)).toEqual(['another', 'stock']);
  const [, stock] = databases;
  expect(stock!.collections.map(({ name, type, documents }) => [name, type, documents])).toEqual([
    ['cheap', 'view', undefined],
    ['items', 'collection', 25],
    ['weather', 'timeseries', undefined],
  ]);
  const [cheap, items, weather] = stock!.collections;
  expect(items!.sizeBytes).toBe(25 * BSON.calculateObjectSize({ _id: new Int32(1), price: new Double(1) }));
  expect(items!.indexes.map(({ name, spec, sizeBytes }) => [name, ejson(spec), sizeBytes! > 0])).toEqual([
    ['_id_', { v: int(2), key: { _id: int(1) }, name: '_id_' }, true],
    ['by price', { v: int(2), unique: true, key: { price: int(-1) }, name: 'by price' }, true],
  ]);
  expect(ejson(items!.validator)).toEqual({ price: { $exists: true } });
  expect(ejson(items!.options)).toMatchObject({ validator: { price: { $exists: true } } });
  expect(ejson(items!.options)).not.toHaveProperty('uuid');
  expect(ejson(cheap!.options)).toMatchObject({ viewOn: 'items' });
  expect(ejson(weather!.options)).toMatchObject({ timeseries: { timeField: 'at' } });
});

it('pages through a collection by _id, whatever types those have, each document once and byte for byte', async () => {
  const client = await yard.client('main');
  const mixed = [
    null,
    3,
    'a',
    { a: 1, b: [2] },
    new ObjectId(),
    true,
    new Date(5),
    new BSON.MaxKey(),
    new BSON.MinKey(),
  ];
  const given = [...mixed, Long.fromString('9007199254740993'), Decimal128.fromString('0.10')].map((_id) => ({
    _id,
    n: new Double(1),
  }));
  await insertExactly(client, 'stock.mixed', given);
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = await documents({ ns: 'stock.mixed', limit: 2, ...(after === undefined ? {} : { after }) });
    expect(page.documents.length).toBeLessThanOrEqual(2);
    found.push(...page.documents);
    after = page.next;
  } while (after !== undefined);
  expect([...found].sort()).toEqual(given.map((each) => bson(each)).sort());
});

it('a page begins behind its last document even where that was removed meanwhile', async () => {
  const client = await yard.client('main');
  await insertExactly(
    client,
    'stock.moving',
    [1, 2, 3, 4].map((_id) => ({ _id })),
  );
  const first = await documents({ ns: 'stock.moving', limit: 2 });
  await client
    .db('stock')
    .collection('moving')
    .deleteOne({ _id: 2 as never });
  expect(await ids({ ns: 'stock.moving', limit: 2, after: first.next! })).toEqual([int(3), int(4)]);
});

it('filters and sorts in shell notation, with number types kept', async () => {
  expect(await ids({ ns: 'stock.items', filter: '{price: {$gt: 21}}', sort: '{price: -1}' })).toEqual(
    [24, 23, 22].map(int),
  );
  expect(await ids({ ns: 'stock.items', filter: "{_id: {$in: [NumberLong('3'), 4.0]}}" })).toEqual([3, 4].map(int));
  const page = await documents({ ns: 'stock.items', sort: '{price: 1}', limit: 10 });
  expect(await ids({ ns: 'stock.items', sort: '{price: 1}', limit: 20, after: page.next! })).toEqual(
    Array.from({ length: 15 }, (_, n) => int(n + 10)),
  );
  expect(await ids({ ns: 'stock.items', skip: 23 })).toEqual([23, 24].map(int));
  expect(await ids({ ns: 'stock.cheap', limit: 3, sort: '{_id: 1}' })).toEqual([0, 1, 2].map(int));
  expect((await documents({ ns: 'stock.weather' })).documents).toHaveLength(1);
});

it('large documents end a page early, and none is lost', async () => {
  const client = await yard.client('main');
  const text = 'x'.repeat(3_000_000);
  await insertExactly(
    client,
    'stock.large',
    [1, 2, 3, 4, 5].map((_id) => ({ _id, text })),
  );
  const first = await documents({ ns: 'stock.large', limit: 5 });
  expect(first.documents.length).toBe(3);
  const second = await documents({ ns: 'stock.large', limit: 5, after: first.next! });
  expect([second.documents.length, second.next]).toEqual([2, undefined]);
});

it.each([
  ['{price: }', 'query_invalid', /column 9/],
  ['{$where: "sleep(1000)"}', 'query_invalid', /runs code/],
  ['{a: {$not: [{$expr: {$function: {body: "", args: [], lang: "js"}}}]}}', 'query_invalid', /runs code/],
  ['[1]', 'query_invalid', /not an object/],
  ['{price: {$foo: 1}}', 'query_refused', /\$foo/],
])('refuses the filter %s', async (filter, code, message) => {
  const refused = await yard.refusal('data.documents', { branch: 'main', ns: 'stock.items', filter });
  expect(refused).toMatchObject({ code, message: expect.stringMatching(message) as string });
});

it('nothing but what is listed can be read', async () => {
  for (const ns of ['admin.system.users', 'local.oplog.rs', 'config.transactions', 'stock.none', 'stock']) {
    expect((await yard.refusal('data.documents', { branch: 'main', ns })).code).toBe('unknown_collection');
  }
  expect((await yard.refusal('data.documents', { branch: 'main', ns: 'stock.items', after: 'id:!' })).code).toBe(
    'usage',
  );
});

it('a document is compared with its parent whether the branch touched it or not', async () => {
  await yard.fork('compare', { ttlMs: null });
  const [main, sandbox] = [await yard.client('main'), await yard.client('compare')];
  const items = (client: typeof main) => client.db('stock').collection('items');
  await items(main).updateOne({ _id: 1 as never }, { $set: { price: 101 } });
  await items(sandbox).updateOne({ _id: 2 as never }, { $set: { price: 102 } });
  await items(main).insertOne({ _id: 99 as never, price: 99 });
  const compare = (key: number) =>
    yard.call('diff.document', { branch: 'compare', ns: 'stock.items', id: id(String(key)) });
  const document = (_id: number, price: number) =>
    toBase64(Uint8Array.of(3, ...BSON.serialize({ _id: new Int32(_id), price: new Double(price) })));
  const untouched = await compare(3);
  expect(untouched).toMatchObject({ base: document(3, 3), parent: document(3, 3), branch: document(3, 3) });
  expect(untouched.change).toBeUndefined();
  const moved = await compare(1);
  expect([moved.base, moved.branch]).toEqual([document(1, 1), document(1, 1)]);
  expect(ejson(moved.parent)).toEqual({ _id: int(1), price: int(101) });
  expect((await compare(2)).change).toMatchObject({ kind: 'modified' });
  const only = await compare(99);
  expect(ejson(only.parent)).toEqual({ _id: int(99), price: int(99) });
  expect([only.base, only.branch]).toEqual([undefined, undefined]);
});

it('says when documents were last written to and by whom, of those that the branch wrote', async () => {
  await yard.call('branches.fork', { name: 'writers', actor: 'first' });
  await yard.call('actors.add', { branch: 'writers', actor: 'second' });
  const first = (await yard.client('writers', 'first')).db('stock').collection<{ _id: number }>('items');
  const second = (await yard.client('writers', 'second')).db('stock').collection<{ _id: number }>('items');
  await first.updateMany({ _id: { $in: [3, 4] } }, { $set: { note: 'a' } });
  await second.updateOne({ _id: 4 }, { $set: { note: 'b' } });
  const asked = [3, 4, 5].map((value) => id(JSON.stringify(int(value))));
  const { writes } = await yard.call('data.lastWrites', { branch: 'writers', ns: 'stock.items', ids: asked });
  const known = await yard.call('changes.page', { branch: 'writers', settle: true });
  const newest = (wanted: string) => {
    const { time, actor, actors } = known.changes.filter((change) => change.id === wanted).at(-1)!;
    return { time, ...(actor === undefined ? { actors } : { actor }) };
  };
  expect(new Map(writes.map(({ id: key, ...write }) => [key, write]))).toEqual(
    new Map(asked.slice(0, 2).map((key) => [key, newest(key)])),
  );
  const { actor = '', actors = [actor] } = writes.find((write) => write.id === asked[1])!;
  expect(actors).toContain('second');
  expect(await yard.call('data.lastWrites', { branch: 'writers', ns: 'stock.none', ids: asked })).toEqual({
    writes: [],
  });
});
