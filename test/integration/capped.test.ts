import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson } from '../harness/bson.ts';
import { databaseSides } from '../harness/sides.ts';
import { TestYard } from '../harness/in-process.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;

beforeAll(async () => {
  yard = await TestYard.open();
});

afterAll(async () => {
  await yard.close();
});

interface Entry {
  _id: number;
  v: number;
}

it('what a capped collection lost to make room is removed, what it got is added, and none of it is carried over in silence', async () => {
  const { main, sandbox } = await databaseSides(yard, 'cap', async (db) => {
    await db.createCollection('ring', { capped: true, size: 100_000, max: 3 });
    await db.collection<Entry>('ring').insertMany([1, 2, 3].map((_id) => ({ _id, v: 0 })));
  });
  const ring = sandbox.collection<Entry>('ring');
  await ring.insertMany([4, 5].map((_id) => ({ _id, v: 0 })));
  await ring.updateOne({ _id: 3 }, { $set: { v: 9 } });
  const { complete, summary, documents } = await completeDiff(yard, { branch: 'cap' });
  expect({ complete, summary }).toEqual({
    complete: true,
    summary: [{ ns: 'cap.ring', added: 2, modified: 1, removed: 2, conflicts: 0 }],
  });
  expect(documents.map(({ id, kind }) => [ejson(id), kind])).toEqual([
    [{ $numberInt: '1' }, 'removed'],
    [{ $numberInt: '2' }, 'removed'],
    [{ $numberInt: '3' }, 'modified'],
    [{ $numberInt: '4' }, 'added'],
    [{ $numberInt: '5' }, 'added'],
  ]);
  const { items, checks } = await yard.call('plan.create', { branch: 'cap' });
  expect(items).toBe(0);
  expect(checks.find(({ ok }) => !ok)?.detail).toContain('5 documents of cap.ring are shown but not carried over');
  // Main makes room too: neither is mistaken for a write that nobody recorded.
  await main.collection<Entry>('ring').insertMany([7, 8].map((_id) => ({ _id, v: 0 })));
  const verified = await yard.call('branches.verify', { branch: 'cap' });
  expect(verified).toMatchObject({ exact: true, parentExact: true, differences: { count: 0 } });
});
