import { Double, Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, id } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  const main = await yard.client('main');
  await main.db('shop').collection('products').insertMany(seed());
  await main.db('shop').collection('products').createIndex({ price: 1 }, { name: 'price' });
});
afterAll(() => yard.close());

const seed = (): Document[] => [1, 2, 3, 4].map((n) => ({ _id: `p${n}`, price: new Int32(n * 10), a: 1, b: 1 }));
const products = async (branch: string, actor?: string) =>
  (await yard.client(branch, actor)).db('shop').collection<Document>('products');
const one = (key: string) => ({ _id: key as never });
const state = async (branch: string) => contents(await yard.client(branch), 'shop.products');
async function lastSeq(branch: string): Promise<number> {
  return (await yard.call('changes.page', { branch, settle: true })).last;
}
async function restoreTo(branch: string, seq: number) {
  const plan = await yard.call('restore.plan', { branch, to: { seq } });
  return { plan, ...(await yard.call('plan.apply', { plan: plan.plan })) };
}

it('restores a sandbox in place to a moment: edits, deletes and inserts since are taken back, as one entry that can be undone', async () => {
  await yard.fork('inplace', { ttlMs: null });
  const sandbox = await products('inplace');
  await sandbox.updateOne(one('p1'), { $set: { price: new Double(9.5) } });
  const then = await state('inplace');
  const moment = await lastSeq('inplace');
  await sandbox.updateOne(one('p1'), { $set: { price: 1 } });
  await sandbox.deleteOne(one('p2'));
  await sandbox.insertOne({ ...one('new'), n: 1 });
  await sandbox.insertOne({ ...one('gone'), n: 1 });
  await sandbox.deleteOne(one('gone'));
  const now = await state('inplace');
  const preview = await yard.call('restore.preview', { branch: 'inplace', to: { seq: moment } });
  expect(preview.summary).toEqual([{ ns: 'shop.products', added: 1, modified: 1, removed: 1 }]);
  expect(preview.documents).toHaveLength(3);
  const document = await yard.call('restore.document', {
    branch: 'inplace',
    ns: 'shop.products',
    id: id('p1'),
    to: { seq: moment },
  });
  expect(ejson(document.then)).toMatchObject({ price: { $numberDouble: '9.5' } });
  expect(ejson(document.now)).toMatchObject({ price: { $numberInt: '1' } });
  expect(await state('inplace')).toEqual(now);
  const { plan, applied, entry } = await restoreTo('inplace', moment);
  expect([plan.items, plan.leftOut, applied]).toEqual([3, undefined, 3]);
  expect(await state('inplace')).toEqual(then);
  const { changes } = await yard.call('changes.page', { branch: 'inplace', settle: true });
  expect(new Set(changes.slice(-3).map(({ actor }) => actor))).toEqual(new Set(['forkyard']));
  await yard.call('log.undo', { entry: entry! });
  expect(await state('inplace')).toEqual(now);
});

it('restores as a new branch and leaves the branch alone', async () => {
  await yard.fork('kept', { ttlMs: null });
  const sandbox = await products('kept');
  await sandbox.updateMany({}, { $set: { b: 2 } });
  const then = await state('kept');
  const moment = await lastSeq('kept');
  await sandbox.deleteMany({});
  const made = await yard.call('restore.branch', { branch: 'kept', to: { seq: moment }, as: 'again' });
  expect(made.branch).toMatchObject({ name: 'again', parent: 'kept' });
  expect(await state('again')).toEqual(then);
  expect(await sandbox.countDocuments()).toBe(0);
});

it('MG-14: undoing the first of two agents’ changes keeps the other’s field; where both changed the same it is a conflict', async () => {
  await yard.fork('agents', { ttlMs: null });
  const first = await products('agents', 'first');
  const second = await products('agents', 'second');
  await first.updateOne(one('p1'), { $set: { a: new Int32(2) } });
  await second.updateOne(one('p1'), { $set: { b: new Int32(3) } });
  await first.updateOne(one('p2'), { $set: { a: new Int32(2) } });
  await second.updateOne(one('p2'), { $set: { a: new Int32(4) } });
  await lastSeq('agents');
  const clean = await yard.call('changes.undo', { branch: 'agents', what: { seqs: [1] } });
  expect([clean.items, clean.conflicts]).toEqual([1, 0]);
  await yard.call('plan.apply', { plan: clean.plan });
  expect(await first.findOne(one('p1'))).toMatchObject({ a: 1, b: 3 });
  const clash = await yard.call('changes.undo', { branch: 'agents', what: { actor: 'first' } });
  expect(clash.conflicts).toBe(1);
  expect(clash.conflicting.map((each) => [ejson(each.id), each.fields.map(({ path }) => path)])).toEqual([
    ['p2', [['a']]],
  ]);
});
