import type { Db, Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const sides = (name: string, prepare: (db: Db) => Promise<unknown>) => databaseSides(yard, name, prepare);
const names = async (db: Db) => (await db.listCollections().toArray()).map(({ name }) => name).sort();
const indexNames = async (db: Db, name: string) => (await db.collection(name).indexes()).map((index) => index.name);
/** What the history of main holds by now: nothing may be written by what is refused. */
const written = async () => (await yard.call('changes.page', { branch: 'main', settle: true, limit: 1_000 })).changes;

async function refusedUndo(entry: string) {
  const before = await written();
  const refused = await yard.refusal('log.undo', { entry });
  expect(refused).toMatchObject({ code: 'undo_refused', hint: expect.any(String) });
  expect(await written()).toEqual(before);
  return refused;
}

it('an undo whose former names are taken says which, before anything is written, and works once they are free', async () => {
  const { main, sandbox } = await sides('names', async (db) => {
    await insertExactly(db.client, 'names.a', [{ _id: 1, n: 1 }]);
    await insertExactly(db.client, 'names.c', [{ _id: 1, n: 1 }]);
    await db.createCollection('v', { viewOn: 'a', pipeline: [] });
  });
  await sandbox.collection('a').rename('b');
  await sandbox.collection('b').updateOne(one(1), { $set: { n: 2 } });
  await sandbox.collection('c').drop();
  await sandbox.collection('v').drop();
  const { entry } = await yard.call('plan.adopt', { branch: 'names' });
  for (const name of ['a', 'c', 'v']) await main.collection(name).insertOne(one('main’s own'));
  const sentences = [
    'names.b cannot be called names.a again: main has something else of that name by now.',
    'names.c cannot come back: main has something else of that name by now.',
    'names.v cannot come back: main has something else of that name by now.',
  ];
  const refused = await refusedUndo(entry!);
  for (const sentence of sentences) expect(refused.message).toContain(sentence);
  expect(await main.collection('b').findOne()).toEqual({ _id: 1, n: 2 });
  for (const name of ['a', 'c', 'v']) await main.collection(name).drop();
  await yard.call('log.undo', { entry: entry! });
  expect(await names(main)).toEqual(['a', 'c', 'system.views', 'v']);
  expect(await main.collection('a').findOne()).toEqual({ _id: 1, n: 1 });
});

it('an undo that renames is held against the unique indexes that it has and that come back, also where values swap places', async () => {
  const { main, sandbox } = await sides('swapped', async (db) => {
    await insertExactly(
      db.client,
      'swapped.users',
      [1, 2, 3].map((n) => ({ _id: n, rank: n, mail: `m${n}` })),
    );
    await db.collection('users').createIndex({ rank: 1 }, { unique: true });
    await db.collection('users').createIndex({ mail: 1 }, { unique: true });
  });
  await sandbox.collection('users').dropIndex('mail_1');
  await sandbox.collection('users').rename('people');
  const people = sandbox.collection<Document>('people');
  await people.updateOne(one(1), { $set: { rank: -1 } });
  await people.updateOne(one(2), { $set: { rank: 1, mail: 'free' } });
  await people.updateOne(one(1), { $set: { rank: 2 } });
  await people.updateOne(one(3), { $set: { rank: 9 } });
  const before = await contents(main.client, 'swapped.users');
  const { entry } = await yard.call('plan.adopt', { branch: 'swapped' });
  expect(await contents(main.client, 'swapped.people')).toEqual(await contents(sandbox.client, 'swapped.people'));

  // One has a value that comes back, two share one that the index which comes back would not take.
  await main.collection<Document>('people').insertMany([
    { ...one(7), rank: 3, mail: 'm2' },
    { ...one(8), rank: 70, mail: 'twice' },
    { ...one(9), rank: 80, mail: 'twice' },
  ]);
  const { message } = await refusedUndo(entry!);
  expect(message).toContain(
    '3 of swapped.people and 7 of swapped.people would share a key of the unique index rank_1.',
  );
  expect(message).toContain(
    '2 of swapped.people and 7 of swapped.people would share a key of the unique index mail_1.',
  );
  await main.collection('people').deleteOne(one(7));
  const twice = await refusedUndo(entry!);
  expect(twice.message).toContain(
    'The new unique index mail_1 of swapped.people cannot be built: in main 8 and 9 would share a key of it.',
  );
  await main.collection('people').deleteMany({ mail: 'twice' });
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main.client, 'swapped.users')).toEqual(before);
  expect(await indexNames(main, 'users')).toEqual(['_id_', 'rank_1', 'mail_1']);
});

it('inside a sandbox a unique index comes back only where what stays can bear it, and that is told', async () => {
  const { sandbox } = await sides('inner', async (db) => {
    await insertExactly(db.client, 'inner.users', [{ _id: 1, mail: 'a' }]);
    await db.collection('users').createIndex({ mail: 1 }, { unique: true });
  });
  const users = sandbox.collection<Document>('users');
  await users.dropIndex('mail_1');
  await users.insertOne({ ...one(2), mail: 'b' });
  await users.insertOne({ ...one(3), mail: 'a' });
  const { changes } = await yard.call('changes.page', { branch: 'inner', settle: true });
  const [drop, ...inserts] = changes.map(({ seq }) => seq);
  const undo = (...seqs: number[]) => yard.call('changes.undo', { branch: 'inner', what: { seqs } });
  const partly = await undo(drop!, inserts[0]!);
  expect([partly.items, partly.conflicts]).toEqual([1, 1]);
  expect(partly.checks.filter(({ ok }) => !ok).map(({ detail }) => detail)).toEqual([
    'The new unique index mail_1 of inner.users cannot be built: in inner 1 and 3 would share a key of it.',
  ]);
  const whole = await undo(drop!, inserts[1]!);
  expect([whole.items, whole.conflicts]).toEqual([2, 0]);
  await yard.call('plan.apply', { plan: whole.plan });
  expect(await indexNames(sandbox, 'users')).toEqual(['_id_', 'mail_1']);
  expect((await users.find().toArray()).map(({ _id }) => _id as unknown)).toEqual([1, 2]);
});
