import { Double, Int32, Timestamp, type CollectionInfo, type Db, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { completeDiff } from '../harness/settled.ts';
import { databaseSides, type DatabaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const sides = (name: string, prepare: (db: Db) => Promise<unknown>) => databaseSides(yard, name, prepare);

/** All that a database is: documents by the server's own hash, collections with options and UUIDs, indexes. */
async function stateOf(db: Db): Promise<Document> {
  const listed = (await db.listCollections({}, { nameOnly: false }).toArray()) as CollectionInfo[];
  const collections = listed
    .filter(({ name }) => name !== 'system.views')
    .map(withoutDefaults)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const indexes: Document = {};
  for (const { name, type } of collections) {
    if (type === 'collection')
      indexes[name] = (await db.collection(name).indexes()).sort((a, b) => (a.name! < b.name! ? -1 : 1));
  }
  const hashes = (await db.command({ dbHash: 1 }))['collections'] as Document;
  return { collections: JSON.parse(JSON.stringify(collections)) as unknown, indexes, hashes };
}

/** Whether a default is written out is no difference, nor is the engine's own switch for images. */
function withoutDefaults({ options = {}, ...collection }: CollectionInfo): CollectionInfo {
  const { changeStreamPreAndPostImages: _, ...shown } = options as Document;
  if (Object.keys((shown['validator'] ?? {}) as Document).length === 0) delete shown['validator'];
  if (shown['validationLevel'] === 'strict') delete shown['validationLevel'];
  if (shown['validationAction'] === 'error') delete shown['validationAction'];
  return { ...collection, options: shown };
}

const schemaRows = async (branch: string) =>
  (await completeDiff(yard, { branch })).schema.map(({ type, kind, ns, name, documents }) =>
    [type, kind, ns, name, documents].filter((each) => each !== undefined).join(' '),
  );

/** Adopts everything: main is like the sandbox; undoes it: main is as it was; and once more both ways. */
async function thereAndBack(branch: string, { main, sandbox }: DatabaseSides): Promise<void> {
  const [before, wanted] = [await stateOf(main), await stateOf(sandbox)];
  const shown = await schemaRows(branch);
  const adopted = await yard.call('plan.adopt', { branch });
  expect(adopted.leftOut).toBeUndefined();
  expect(await stateOf(main)).toEqual(wanted);
  expect(await completeDiff(yard, { branch })).toMatchObject({ schema: [], summary: [], complete: true });
  const undone = await yard.call('log.undo', { entry: adopted.entry! });
  expect(await stateOf(main)).toEqual(before);
  expect(await schemaRows(branch)).toEqual(shown);
  await yard.call('log.undo', { entry: undone.entry! });
  expect(await stateOf(main)).toEqual(wanted);
  expect(await completeDiff(yard, { branch })).toMatchObject({ schema: [], summary: [] });
}

it('CS-11: a dropped collection is one item with its count, goes when adopted, and comes back whole: documents byte for byte, in their order, indexes, validator, UUID', async () => {
  const { main, sandbox } = await sides('drop', async (db) => {
    await db.createCollection('items', { validator: { n: { $exists: true } }, validationLevel: 'moderate' });
    await insertExactly(
      db.client,
      'drop.items',
      Array.from({ length: 1_000 }, (_, n) => ({ _id: 1_000 - n, n, text: 'x'.repeat(50) })),
    );
    // What the server only takes when it is not asked: an invalid document, and a time that is zero.
    await db.command({ insert: 'items', documents: [{ _id: 'zero' }, { _id: 'odd' }], bypassDocumentValidation: true });
    await db.command({
      update: 'items',
      updates: [
        { q: { _id: 'zero' }, u: [{ $replaceWith: { $literal: { _id: 'zero', at: new Timestamp({ t: 0, i: 0 }) } } }] },
      ],
      bypassDocumentValidation: true,
    });
    await db.collection('items').createIndex({ n: -1 }, { unique: true, sparse: true });
    await db.collection('items').createIndex({ text: 1, n: 1 }, { hidden: true, sparse: true });
    await db.collection('other').insertOne(one(1));
  });
  await sandbox.collection('items').drop();
  await sandbox.collection('other').insertOne(one(2));
  expect(await schemaRows('drop')).toEqual(['collection removed drop.items 1002']);
  const bytes = await contents(main.client, 'drop.items');
  const natural = await main
    .collection('items')
    .find({}, { projection: { _id: 1 } })
    .toArray();
  const before = await stateOf(main);
  const { entry } = await yard.call('plan.adopt', { branch: 'drop' });
  expect((await main.listCollections().toArray()).map(({ name }) => name)).toEqual(['other']);
  expect(await main.collection('other').countDocuments()).toBe(2);
  await yard.call('log.undo', { entry: entry! });
  expect(await stateOf(main)).toEqual(before);
  expect(await contents(main.client, 'drop.items')).toEqual(bytes);
  expect(
    await main
      .collection('items')
      .find({}, { projection: { _id: 1 } })
      .toArray(),
  ).toEqual(natural);
  // Its history goes on: what main changes in it now is known, and a drop against it is a conflict.
  await main.collection('items').updateOne(one(7), { $set: { text: 'edited' } });
  expect((await completeDiff(yard, { branch: 'drop' })).schema).toMatchObject([{ conflict: true, edited: [id('7')] }]);
});

it('CS-12: a database dropped and filled again is told by _id: removed, modified, added', async () => {
  const both = await sides('again', async (db) => {
    await db.collection('a').insertMany([1, 2, 3].map((n) => ({ ...one(n), v: new Int32(n) })));
    await db.collection('a').createIndex({ v: 1 });
    await db.collection('gone').insertOne(one(1));
  });
  const { main, sandbox } = both;
  await sandbox.dropDatabase();
  await sandbox.collection('a').insertMany([{ ...one(2), v: new Int32(2) }, { ...one(3), v: new Int32(30) }, one(4)]);
  await main.collection('a').insertOne({ ...one('main’s own'), v: new Int32(9) });
  const diff = await completeDiff(yard, { branch: 'again' });
  expect(diff.documents.map(({ kind, id: key, conflict }) => [kind, ejson(key), conflict])).toEqual([
    ['removed', { $numberInt: '1' }, false],
    ['modified', { $numberInt: '3' }, false],
    ['added', { $numberInt: '4' }, false],
  ]);
  expect(await schemaRows('again')).toEqual(['index removed again.a v_1', 'collection removed again.gone 1']);
  await main.collection('a').deleteOne(one('main’s own'));
  const before = await stateOf(main);
  const { entry } = await yard.call('plan.adopt', { branch: 'again' });
  expect((await stateOf(main))['hashes']).toEqual((await stateOf(sandbox))['hashes']);
  expect(await completeDiff(yard, { branch: 'again' })).toMatchObject({ schema: [], summary: [] });
  await yard.call('log.undo', { entry: entry! });
  expect(await stateOf(main)).toEqual(before);
  expect((await completeDiff(yard, { branch: 'again' })).documents).toEqual(diff.documents);
});

it('CS-16: collections, indexes, hidden ones, lifetimes, validators and options are items, adopted and taken back', async () => {
  const both = await sides('parts', async (db) => {
    await db.createCollection('c', { validator: { a: { $type: 'int' } } });
    for (const [name, options] of Object.entries({ gone: {}, seen: {}, ttl: { expireAfterSeconds: 60 }, again: {} }))
      await db.collection('c').createIndex({ [name]: 1 }, { name, ...options });
    await db.createCollection('ring', { capped: true, size: 8_192 });
    await db.createCollection('clustered', {
      clusteredIndex: { key: { _id: 1 }, unique: true },
      expireAfterSeconds: 100,
    });
    await db.collection('c').insertOne({ ...one(1), a: new Int32(1) });
  });
  const { sandbox } = both;
  await sandbox.createCollection('new', { validator: { b: 1 }, collation: { locale: 'fr', strength: 1 } });
  await sandbox.createCollection('sorted', { clusteredIndex: { key: { _id: 1 }, unique: true, name: 'by id' } });
  await sandbox.collection('new').insertOne({ ...one(1), b: 1 });
  await sandbox.collection('c').createIndex({ made: 1 }, { unique: true, sparse: true });
  await sandbox.collection('c').dropIndex('gone');
  await sandbox.command({
    collMod: 'c',
    validator: { a: { $gt: 0 } },
    validationLevel: 'moderate',
    validationAction: 'warn',
  });
  await sandbox.command({ collMod: 'c', index: { name: 'seen', hidden: true } });
  await sandbox.command({ collMod: 'c', index: { name: 'ttl', expireAfterSeconds: 90 } });
  await sandbox.collection('c').dropIndex('again');
  await sandbox.collection('c').createIndex({ again: -1 }, { name: 'again' });
  await sandbox.command({ collMod: 'ring', cappedSize: 16_384 });
  await sandbox.command({ collMod: 'clustered', expireAfterSeconds: 200 });
  await sandbox.command({ collMod: 'c', changeStreamPreAndPostImages: { enabled: false } });
  expect((await schemaRows('parts')).sort()).toEqual([
    'collection added parts.new 1',
    'collection added parts.sorted 0',
    'index added parts.c made_1',
    'index modified parts.c again',
    'index modified parts.c seen',
    'index modified parts.c ttl',
    'index removed parts.c gone',
    'options modified parts.clustered',
    'options modified parts.ring',
    'validator added parts.new',
    'validator modified parts.c',
  ]);
  await thereAndBack('parts', both);
});

it('renames: a chain, a circle, and one over a collection that was there; what is renamed keeps its UUID', async () => {
  const both = await sides('names', async (db) => {
    for (const name of ['a', 'b', 'x', 'y', 'over', 'under'])
      await db.collection(name).insertOne({ ...one(name), v: 1 });
    await db.collection('under').createIndex({ v: 1 });
  });
  const { sandbox } = both;
  await sandbox.collection('b').rename('c');
  await sandbox.collection('a').rename('b');
  await sandbox.collection('a').insertOne({ ...one('new a'), v: 1 });
  await sandbox.collection('x').rename('t');
  await sandbox.collection('y').rename('x');
  await sandbox.collection('t').rename('y');
  await sandbox.collection('over').rename('under', { dropTarget: true });
  await sandbox.collection('under').updateOne({}, { $set: { v: 2 } });
  await sandbox.collection('b').insertOne(one('more'));
  await thereAndBack('names', both);
});

it('a collection written over by $out is compared by _id, and one that was converted to capped is replaced with what it holds', async () => {
  const { main, sandbox } = await sides('out', async (db) => {
    await db.collection('totals').insertMany([1, 2, 3].map((n) => ({ ...one(n), v: new Int32(n) })));
    await db.collection('ring').insertMany([3, 1, 2].map((n) => one(n)));
  });
  await sandbox
    .collection('totals')
    .aggregate([
      { $match: { _id: { $lt: 3 } } },
      { $set: { v: { $cond: [{ $eq: ['$_id', 1] }, new Double(1), '$v'] } } },
      { $out: 'totals' },
    ])
    .toArray();
  await sandbox.command({ convertToCapped: 'ring', size: 8_192 });
  const { summary } = await completeDiff(yard, { branch: 'out' });
  expect(summary.find(({ ns }) => ns === 'out.totals')).toMatchObject({ added: 0, modified: 1, removed: 1 });
  expect(await schemaRows('out')).toEqual(['collection added out.ring 3', 'collection removed out.ring 3']);
  const before = await stateOf(main);
  const { entry, leftOut } = await yard.call('plan.adopt', { branch: 'out' });
  expect(leftOut).toBeUndefined();
  expect((await stateOf(main))['hashes']).toEqual((await stateOf(sandbox))['hashes']);
  expect(await main.collection('ring').isCapped()).toBe(true);
  expect((await main.collection('ring').find().toArray()).map(({ _id }) => Number(_id))).toEqual([3, 1, 2]);
  expect(await completeDiff(yard, { branch: 'out' })).toMatchObject({ schema: [], summary: [] });
  await yard.call('log.undo', { entry: entry! });
  expect(await stateOf(main)).toEqual(before);
});

it('MG-13: a drop against an edit is a conflict that names the documents, decided like any other; one that moves after the plan makes it stale', async () => {
  const { main, sandbox } = await sides('edited', (db) =>
    db.collection('a').insertMany([{ ...one(1), v: 1 }, one(2), one(3)]),
  );
  await sandbox.collection('a').drop();
  const early = await yard.call('plan.create', { branch: 'edited' });
  await main.collection('a').updateOne(one(2), { $set: { v: 2 } });
  const stale = await yard.refusal('plan.apply', { plan: early.plan });
  expect(stale).toMatchObject({ code: 'plan_stale', details: { moved: [{ ns: 'edited.a', id: id('2') }] } });
  const refused = await yard.refusal('plan.adopt', { branch: 'edited' });
  expect(refused.code).toBe('conflicts');
  expect(refused.message).toContain('edited dropped edited.a, and main changed 2 of it since.');
  expect(await main.collection('a').countDocuments()).toBe(3);
  const take = (side: string) => [
    { target: { ns: 'edited.a', schema: { type: 'collection' as const, kind: 'removed' as const } }, take: { side } },
  ];
  const kept = await yard.call('plan.adopt', { branch: 'edited', take: take('main') });
  expect(await main.collection('a').countDocuments()).toBe(3);
  // Both have agreed that main keeps it.
  expect(kept.applied).toBe(0);
  const second = await sides('edited2', (db) => db.collection('a').insertMany([one(1), one(2)]));
  await second.sandbox.collection('a').drop();
  await second.main.collection('a').insertOne(one('later'));
  const before = await stateOf(second.main);
  const { entry } = await yard.call('plan.adopt', {
    branch: 'edited2',
    take: [{ target: { ns: 'edited2.a', schema: {} }, take: { side: 'edited2' } }],
  });
  expect(await second.main.listCollections().toArray()).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await stateOf(second.main)).toEqual(before);
});

it('schema items are chosen one by one, and a step that main refuses takes the others back, a drop too', async () => {
  const { main, sandbox } = await sides('picked', async (db) => {
    await db.collection('c').insertMany([
      { ...one(1), u: 1 },
      { ...one(2), u: 1 },
    ]);
    await db.collection('gone').insertMany([one(1), one(2)]);
  });
  await sandbox.collection('c').deleteOne(one(2));
  await sandbox.collection('c').createIndex({ u: 1 }, { unique: true });
  await sandbox.collection('c').createIndex({ w: 1 });
  await sandbox.collection('gone').drop();
  await sandbox.collection('c').insertOne({ ...one(3), u: 3 });
  const before = await stateOf(main);
  const index = (name: string) => ({ ns: 'picked.c', schema: { type: 'index' as const, name } });
  const picked = await yard.call('plan.adopt', { branch: 'picked', only: [index('w_1')] });
  expect(picked.applied).toBe(1);
  expect((await main.collection('c').indexes()).map(({ name }) => name)).toEqual(['_id_', 'w_1']);
  await yard.call('log.undo', { entry: picked.entry! });
  // What main got since is in the way of the unique index, which is built last: dropped, written, refused, and all back.
  const { plan } = await yard.call('plan.create', { branch: 'picked' });
  await main.collection('c').insertOne({ ...one('same'), u: 3 });
  const moved = await stateOf(main);
  expect((await yard.refusal('plan.apply', { plan })).code).toBe('write_refused');
  expect(await stateOf(main)).toEqual(moved);
  await main.collection('c').deleteOne(one('same'));
  expect(await stateOf(main)).toEqual(before);
  const { applied } = await yard.call('plan.adopt', { branch: 'picked' });
  expect(applied).toBe(5);
  expect((await stateOf(main))['hashes']).toEqual((await stateOf(sandbox))['hashes']);
});

it('what was adopted is the new base: main may drop it again, the branch may drop it again, and neither is mistaken', async () => {
  const { main, sandbox } = await sides('base', (db) => db.collection('any').insertOne(one(1)));
  for (const name of ['p', 'q']) await sandbox.collection(name).insertOne(one(1));
  await sandbox.collection('any').createIndex({ a: 1 });
  await yard.call('plan.adopt', { branch: 'base' });
  await main.collection('p').drop();
  await main.collection('any').dropIndex('a_1');
  await sandbox.collection('q').drop();
  const { schema, summary } = await completeDiff(yard, { branch: 'base' });
  expect(schema.map(({ type, kind, ns, conflict }) => [type, kind, ns, conflict])).toEqual([
    ['collection', 'removed', 'base.q', false],
  ]);
  expect(summary).toEqual([]);
});

it('CS-17: views are made after what they are made on, changed, dropped, and make room for a collection', async () => {
  const both = await sides('views', async (db) => {
    await db.collection('orders').insertOne({ ...one(1), open: true });
    await db.createCollection('old', { viewOn: 'orders', pipeline: [] });
    await db.createCollection('edited', { viewOn: 'orders', pipeline: [] });
    await db.createCollection('room', { viewOn: 'orders', pipeline: [] });
  });
  const { sandbox } = both;
  await sandbox.createCollection('made', { viewOn: 'orders', pipeline: [{ $match: { open: true } }] });
  await sandbox
    .createCollection('a on made', { viewOn: 'made', pipeline: [], collation: { locale: 'de' } })
    .catch(() => sandbox.createCollection('a on made', { viewOn: 'made', pipeline: [] }));
  await sandbox.command({ collMod: 'edited', viewOn: 'orders', pipeline: [{ $limit: 1 }] });
  await sandbox.collection('old').drop();
  await sandbox.collection('room').drop();
  await sandbox.collection('room').insertOne(one(1));
  await thereAndBack('views', both);
});

it('CS-18: a time-series collection is made with its indexes and its measurements', async () => {
  const { main, sandbox } = await sides('series', (db) => db.collection('any').insertOne(one(1)));
  await sandbox.createCollection('readings', {
    timeseries: { timeField: 't', metaField: 'm' },
    expireAfterSeconds: 3_600,
  });
  await sandbox.collection('readings').createIndex({ m: 1, t: 1 });
  await sandbox.collection('readings').insertOne({ t: new Date(), m: 1, x: 1 });
  const before = await stateOf(main);
  const { entry, leftOut } = await yard.call('plan.adopt', { branch: 'series' });
  expect(leftOut).toBeUndefined();
  expect(await main.collection('readings').find().toArray()).toEqual(
    await sandbox.collection('readings').find().toArray(),
  );
  const made = async (db: Db) => (await db.listCollections({ name: 'readings' }).toArray()) as Document[];
  expect((await made(main))[0]?.['options']).toEqual((await made(sandbox))[0]?.['options']);
  expect(await main.collection('readings').indexes()).toEqual(await sandbox.collection('readings').indexes());
  expect((await completeDiff(yard, { branch: 'series' })).schema).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  const after = await stateOf(main);
  expect(after['collections']).toEqual(before['collections']);
});
