import { Binary, Int32, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Output } from '../../shared/api.ts';
import { engineCredentials } from '../../electron/engine/branches/secret.ts';
import { listCatalog } from '../../electron/engine/mongod/catalog.ts';
import { connectTo } from '../../electron/engine/mongod/replica.ts';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const schemaRows = (diff: Output<'diff.get'>) =>
  diff.schema.map(({ type, kind, ns, name, documents }) => [type, kind, ns, name, documents]);

/** The whole catalog of a branch as bytes, as its server describes it to the engine. */
async function catalogOf(client: MongoClient, db: string): Promise<string[]> {
  const engine = await connectTo(client.options.hosts[0]!.port!, await engineCredentials(yard.data)).connect();
  const entries = await listCatalog(engine, { db });
  await engine.close();
  return entries.map((entry) => Buffer.from(entry).toString('base64')).sort();
}

it('indexes, validators, TTL, capped, collation, clustered, views and time-series survive a fork, byte for byte in the catalog', async () => {
  const main = await yard.client('main');
  const db = main.db('kinds');
  await db.createCollection('checked', {
    validator: { $jsonSchema: { required: ['n'] } },
    validationLevel: 'moderate',
    validationAction: 'warn',
  });
  await db.createCollection('capped', { capped: true, size: 8_192, max: 10 });
  await db.createCollection('french', { collation: { locale: 'fr', strength: 1 } });
  await db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true } });
  await db.createCollection('weather', { timeseries: { timeField: 't', metaField: 'm', granularity: 'minutes' } });
  await db.createCollection('seen', { viewOn: 'checked', pipeline: [{ $match: { n: { $gt: 1 } } }] });
  await db.createIndex('checked', { at: 1 }, { expireAfterSeconds: 60 });
  await db.createIndex('checked', { a: 1, b: -1 }, { unique: true, sparse: true, name: 'odd name' });
  await db.createIndex('checked', { 'c.$**': 1 });
  await db.createIndex('checked', { text: 'text' }, { weights: { text: 3 }, default_language: 'french' });
  await db.createIndex('checked', { place: '2dsphere' }, { partialFilterExpression: { n: { $gt: 5 } } });
  await db.createIndex('checked', { hidden: 1 }, { hidden: true, collation: { locale: 'de' } });
  await db.collection('checked').insertOne({ n: 2, at: new Date(0), a: 1, b: 1 });
  await db.collection('capped').insertMany(Array.from({ length: 20 }, (_, n) => ({ n })));
  await db.collection('weather').insertMany([
    { t: new Date(1), m: 'a', v: 1 },
    { t: new Date(2), m: 'a', v: 2 },
  ]);
  await yard.fork('kinds', { ttlMs: null });
  const sandbox = await yard.client('kinds');
  expect(await catalogOf(sandbox, 'kinds')).toEqual(await catalogOf(main, 'kinds'));
  for (const name of ['checked', 'capped', 'french', 'clustered', 'system.buckets.weather']) {
    expect(await contents(sandbox, `kinds.${name}`)).toEqual(await contents(main, `kinds.${name}`));
  }
  expect(await sandbox.db('kinds').collection('weather').countDocuments()).toBe(2);
  expect(await sandbox.db('kinds').collection('seen').countDocuments()).toBe(1);
  expect(await completeDiff(yard, { branch: 'kinds' })).toMatchObject({ complete: true, schema: [], documents: [] });
});

it('an index made in the sandbox is a schema item, arrives in main when adopted, and goes when that is undone', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'indexed.items', [{ _id: 1, sku: 'a' }]);
  await yard.fork('indexed', { ttlMs: null });
  const sandbox = await yard.client('indexed');
  const options = { unique: true, name: 'by sku', partialFilterExpression: { sku: { $type: 'string' } } } as const;
  await sandbox.db('indexed').createIndex('items', { sku: 1 }, options);
  const diff = await completeDiff(yard, { branch: 'indexed' });
  expect(schemaRows(diff)).toEqual([['index', 'added', 'indexed.items', 'by sku', undefined]]);
  expect(ejson(diff.schema[0]?.branch)).toMatchObject({
    key: { sku: { $numberInt: '1' } },
    unique: true,
    name: 'by sku',
  });
  const before = await catalogOf(main, 'indexed');
  const { applied, entry } = await yard.call('plan.adopt', { branch: 'indexed' });
  expect(applied).toBe(1);
  const indexes = await main.db('indexed').collection('items').indexes();
  expect(indexes.find(({ name }) => name === 'by sku')).toMatchObject(options);
  expect((await completeDiff(yard, { branch: 'indexed' })).schema).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect((await main.db('indexed').collection('items').indexes()).map(({ name }) => name)).toEqual(['_id_']);
  expect((await catalogOf(main, 'indexed')).length).toBe(before.length);
});

/** A database of main with two documents, forked; `act` happens in the sandbox. Gives what the diff says. */
async function afterwards(name: string, act: (sandbox: MongoClient) => Promise<unknown>) {
  const main = await yard.client('main');
  await insertExactly(main, `${name}.items`, [
    { _id: 1, n: new Int32(1) },
    { _id: 2, n: new Int32(2) },
  ]);
  await main.db(name).createIndex('items', { n: 1 });
  await yard.fork(name, { ttlMs: null });
  await act(await yard.client(name));
  const ops = (await allChanges(yard, name)).map(({ op }) => op);
  const diff = await completeDiff(yard, { branch: name });
  // Main is not touched by any of it.
  expect((await contents(main, `${name}.items`)).size).toBe(2);
  return { ops, diff };
}

it('a dropped collection is never silent: one item that says how many documents go with it', async () => {
  const { ops, diff } = await afterwards('dropped', (sandbox) => sandbox.db('dropped').collection('items').drop());
  expect(ops).toEqual(['drop']);
  expect(schemaRows(diff)).toEqual([['collection', 'removed', 'dropped.items', undefined, 2]]);
  expect(diff.complete).toBe(true);
});

it('a collection dropped and made again is compared with what it was: by _id, and by what it lost', async () => {
  const { ops, diff } = await afterwards('again', async (sandbox) => {
    await sandbox.db('again').collection('items').drop();
    await sandbox
      .db('again')
      .collection<Document>('items')
      .insertMany([one(1), one(9)]);
  });
  expect(ops).toEqual(['drop', 'create', 'insert', 'insert']);
  expect(schemaRows(diff)).toEqual([['index', 'removed', 'again.items', 'n_1', undefined]]);
  expect(diff.summary).toEqual([{ ns: 'again.items', added: 1, modified: 1, removed: 1, conflicts: 0 }]);
});

it('a renamed collection is a rename, and a write to it afterwards is one to the same documents', async () => {
  const { ops, diff } = await afterwards('renamed', async (sandbox) => {
    const renamed = await sandbox.db('renamed').collection<Document>('items').rename('goods');
    await renamed.updateOne(one(1), { $set: { n: new Int32(7) } });
  });
  expect(ops).toEqual(['rename', 'update']);
  expect(schemaRows(diff)).toEqual([['rename', 'modified', 'renamed.goods', undefined, undefined]]);
  expect(diff.documents.map(({ ns, kind, id }) => [ns, kind, ejson(id)])).toEqual([
    ['renamed.goods', 'modified', { $numberInt: '1' }],
  ]);
});

it('a dropped database is never silent, and what is written under its name afterwards is captured', async () => {
  const { ops, diff } = await afterwards('whole', async (sandbox) => {
    await sandbox.db('whole').dropDatabase();
    await sandbox.db('whole').collection<Document>('items').insertOne(one(5));
  });
  expect(ops).toEqual(['drop', 'dropDatabase', 'create', 'insert']);
  expect(schemaRows(diff)).toEqual([['index', 'removed', 'whole.items', 'n_1', undefined]]);
  expect(diff.summary).toEqual([{ ns: 'whole.items', added: 1, modified: 0, removed: 2, conflicts: 0 }]);
});

it('writes from before anybody looked are all there: nothing has to be switched on', async () => {
  const { diff } = await afterwards('unwatched', async (sandbox) => {
    const items = sandbox.db('unwatched').collection<Document>('items', { writeConcern: { w: 1 } });
    await items.updateMany({}, { $inc: { n: new Int32(1) } });
    await items.insertOne({ _id: new Binary(Buffer.alloc(16), 4) as never });
  });
  expect(diff.summary).toEqual([{ ns: 'unwatched.items', added: 1, modified: 2, removed: 0, conflicts: 0 }]);
});

it('a view, a validator and a hidden index of the sandbox are items, adopted and taken back', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'parts.items', [{ _id: 1, n: new Int32(1) }]);
  await main.db('parts').createIndex('items', { n: 1 });
  const described = async () => (await catalogOf(main, 'parts')).length;
  const before = { count: await described(), options: await main.db('parts').listCollections().toArray() };
  await yard.fork('parts', { ttlMs: null });
  const sandbox = (await yard.client('parts')).db('parts');
  await sandbox.createCollection('large', { viewOn: 'items', pipeline: [{ $match: { n: { $gt: 5 } } }] });
  await sandbox.command({ collMod: 'items', validator: { n: { $type: 'int' } }, validationLevel: 'strict' });
  await sandbox.createIndex('items', { m: 1 }, { hidden: true });
  const diff = await completeDiff(yard, { branch: 'parts' });
  expect(schemaRows(diff).sort()).toEqual([
    ['index', 'added', 'parts.items', 'm_1', undefined],
    ['validator', 'added', 'parts.items', undefined, undefined],
    ['view', 'added', 'parts.large', undefined, undefined],
  ]);
  const { entry } = await yard.call('plan.adopt', { branch: 'parts' });
  expect(await main.db('parts').collection('large').countDocuments()).toBe(0);
  await expect(main.db('parts').collection('items').insertOne({ n: 'text' })).rejects.toThrow(/validation/);
  await yard.call('log.undo', { entry: entry! });
  const after = await main.db('parts').listCollections().toArray();
  const shown = (list: typeof after) =>
    list.map((each) => [each.name, each.type]).filter(([name]) => !String(name).startsWith('system.'));
  expect(shown(after)).toEqual(shown(before.options));
  await main.db('parts').collection('items').insertOne({ n: 'text' });
});
