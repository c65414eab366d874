import { Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff } from '../harness/settled.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ _id: n, n: new Int32(n) }));

it('CS-11: capture goes on behind a drop, with every write before and after it, and inside the sandbox a restore brings all of it back', async () => {
  const { main, sandbox } = await databaseSides(yard, 'dropped', async (db) => {
    await db.createCollection('items', { validator: { n: { $type: 'int' } } });
    await insertExactly(db.client, 'dropped.items', numbered(1_000));
    await db.collection('items').createIndex({ n: -1 }, { unique: true });
    await db.collection('items').createIndex({ n: 1, _id: 1 }, { name: 'both', hidden: true });
    await db.collection('other').insertOne(one(1));
  });
  const [before, options] = [await contents(main.client, 'dropped.items'), await main.listCollections().toArray()];
  await sandbox.collection('items').updateOne(one(7), { $set: { n: new Int32(-7) } });
  await sandbox.collection('items').drop();
  await sandbox.collection('other').updateOne(one(1), { $set: { later: 1 } });
  await sandbox.collection<Document>('items').insertOne({ ...one('anew'), n: new Int32(1) });
  await sandbox.collection('items').drop();
  await sandbox.collection('other').insertOne(one(2));
  const changes = await allChanges(yard, 'dropped');
  expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, at) => at + 1));
  expect(changes.filter(({ op }) => op !== 'create').map(({ op, ns, id }) => [op, ns, ejson(id)])).toEqual([
    ['update', 'dropped.items', { $numberInt: '7' }],
    ['drop', 'dropped.items', undefined],
    ['update', 'dropped.other', { $numberInt: '1' }],
    ['insert', 'dropped.items', 'anew'],
    ['drop', 'dropped.items', undefined],
    ['insert', 'dropped.other', { $numberInt: '2' }],
  ]);
  const diff = await completeDiff(yard, { branch: 'dropped' });
  // The last image before a drop may have to be put together; a comparison has settled that.
  expect([diff.complete, diff.gaps.filter(({ settled }) => !settled)]).toEqual([true, []]);
  expect(diff.schema).toMatchObject([{ type: 'collection', kind: 'removed', ns: 'dropped.items', documents: 1_000 }]);
  const restore = await yard.call('restore.plan', { branch: 'dropped', to: { seq: 0 } });
  expect(restore.leftOut).toBeUndefined();
  await yard.call('plan.apply', { plan: restore.plan });
  expect(await contents(sandbox.client, 'dropped.items')).toEqual(before);
  expect(await sandbox.collection('items').indexes()).toEqual(await main.collection('items').indexes());
  const named = ({ name, options: given }: Document) => [name, (given as Document)['validator']];
  expect((await sandbox.listCollections().toArray()).map(named).sort()).toEqual(options.map(named).sort());
  expect(await completeDiff(yard, { branch: 'dropped' })).toMatchObject({ complete: true, summary: [], schema: [] });
});

it('CS-12: capture outlives dropDatabase, again and again, also of a database that comes back under the same name', async () => {
  const { sandbox } = await databaseSides(yard, 'again', async (db) => {
    await insertExactly(db.client, 'again.a', numbered(3));
    await insertExactly(db.client, 'again.b', numbered(2));
  });
  for (let turn = 1; turn <= 3; turn += 1) {
    await sandbox.dropDatabase();
    await sandbox.collection('a').insertMany([
      { ...one(1), n: new Int32(turn) },
      { ...one(`new ${turn}`), n: new Int32(turn) },
    ]);
  }
  await sandbox.client.db('elsewhere').collection('c').insertOne(one(1));
  const changes = await allChanges(yard, 'again');
  expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, at) => at + 1));
  expect(changes.filter(({ op }) => op === 'dropDatabase')).toHaveLength(3);
  expect(
    changes.filter(({ op }) => op === 'insert').map(({ after }) => (ejson(after) as Document)['n'] as unknown),
  ).toEqual([1, 1, 2, 2, 3, 3, undefined].map((n) => (n === undefined ? n : { $numberInt: String(n) })));
  const diff = await completeDiff(yard, { branch: 'again' });
  expect([diff.complete, diff.gaps.filter(({ settled }) => !settled)]).toEqual([true, []]);
  expect(diff.documents.filter(({ ns }) => ns === 'again.a').map(({ id, kind }) => [ejson(id), kind])).toEqual([
    ['new 3', 'added'],
    [{ $numberInt: '0' }, 'removed'],
    [{ $numberInt: '1' }, 'modified'],
    [{ $numberInt: '2' }, 'removed'],
  ]);
  expect(diff.schema.map(({ type, kind, ns }) => [type, kind, ns])).toEqual([
    ['collection', 'added', 'elsewhere.c'],
    ['collection', 'removed', 'again.b'],
  ]);
});
