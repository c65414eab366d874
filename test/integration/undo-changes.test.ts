import type { Db, Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const three: Document[] = [1, 2, 3].map((n) => ({ _id: n, n }));
const ofBoth = (db: Db) => Promise.all(['a', 'b'].map((name) => db.collection(name).insertMany(three)));
const undo = (branch: string, what: Parameters<typeof yard.call<'changes.undo'>>[1]['what']) =>
  yard.call('changes.undo', { branch, what });

it('what one of several wrote is nobody’s: it stays with an undo by actor, and that is said', async () => {
  const { sandbox } = await databaseSides(yard, 'several', ofBoth);
  const other = (await yard.client('several', 'other')).db('several');
  await other.collection('a').updateOne(one(1), { $set: { n: 10 } });
  // A command of many writes, which the server logs without a session.
  await sandbox.collection('b').updateMany({}, { $inc: { n: 100 } });
  await yard.call('changes.page', { branch: 'several', settle: true });
  const plan = await undo('several', { actor: 'other' });
  expect([plan.items, plan.conflicts]).toEqual([1, 0]);
  expect(plan.leftOut).toEqual([
    '3 changes were made by one of several, and the server does not tell by whom; they stay unless chosen by number.',
  ]);
  await yard.call('plan.apply', { plan: plan.plan });
  expect(await sandbox.collection('a').find().sort({ _id: 1 }).toArray()).toEqual(three);
  expect(await sandbox.collection('b').distinct('n')).toEqual([101, 102, 103]);
});

it('an actor of whom no change is certain is told so', async () => {
  const { sandbox } = await databaseSides(yard, 'unsure', ofBoth);
  const other = (await yard.client('unsure', 'other')).db('unsure');
  await other.command({ ping: 1 });
  await sandbox.collection('b').updateMany({}, { $inc: { n: 100 } });
  const refused = await yard.refusal('changes.undo', { branch: 'unsure', what: { actor: 'other' } });
  expect(refused).toMatchObject({
    code: 'usage',
    message: 'Of no change in unsure is it certain that other made it: each is by one of several.',
  });
});

it('a change in a collection that went since is in conflict, not passed over in silence', async () => {
  const { sandbox } = await databaseSides(yard, 'went', ofBoth);
  const session = sandbox.client.startSession();
  await session.withTransaction(async () => {
    await sandbox.collection('a').updateOne(one(1), { $inc: { n: 10 } }, { session });
    await sandbox.collection('b').updateOne(one(1), { $inc: { n: -10 } }, { session });
    await sandbox.collection('b').insertOne({ ...one(9), n: 9 }, { session });
  });
  await session.endSession();
  const [change] = (await yard.call('changes.page', { branch: 'went', settle: true })).changes;
  await sandbox.collection('b').drop();
  const plan = await undo('went', { transaction: change!.transaction! });
  expect(plan.conflicts).toBe(1);
  expect(plan.checks.flatMap(({ ok, detail }) => (ok ? [] : [detail]))).toEqual([
    '1 of went.b went later with its collection; it stays gone.',
  ]);
  expect(plan.conflicting).toMatchObject([{ ns: 'went.b', kind: 'modified' }]);
});

it('what was put into a collection that went since needs no taking back', async () => {
  const { sandbox } = await databaseSides(yard, 'needless', ofBoth);
  await sandbox.collection('a').updateOne(one(1), { $inc: { n: 10 } });
  await sandbox.collection('b').insertOne({ ...one(9), n: 9 });
  await sandbox.collection('b').drop();
  await yard.call('changes.page', { branch: 'needless', settle: true });
  const plan = await undo('needless', { from: 1, to: 2 });
  expect([plan.items, plan.conflicts, plan.leftOut]).toEqual([1, 0, undefined]);
});
