import { Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { insertExactly } from '../harness/round.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const things = async (branch: string) => (await yard.client(branch)).db('d').collection<Document>('things');
const set = async (branch: string, key: string, v: number) =>
  (await things(branch)).updateOne(one(key), { $set: { v: new Int32(v) } });

/** `_id conflict base→branch, other's` of each document. */
async function told(branch: string, against: string): Promise<string[]> {
  const diff = await completeDiff(yard, { branch, against });
  expect(diff).toMatchObject({ complete: true, gaps: [] });
  const number = (value: string | undefined) => (ejson(value) as { $numberInt: string } | undefined)?.$numberInt;
  return diff.documents
    .map(({ id, conflict, fields: [v] }) =>
      [ejson(id), conflict ? 'conflict' : 'clean', number(v?.base), number(v?.branch), number(v?.parent)].join(' '),
    )
    .sort();
}

it('diff --against: what an adoption carried over before the branches below began is what both come from; what it carried over later is not', async () => {
  const main = await yard.client('main');
  const keys = ['early', 'late', 'none', 'undone'];
  await insertExactly(
    main,
    'd.things',
    keys.map((_id) => ({ _id, v: new Int32(0) })),
  );
  await yard.fork('left', { ttlMs: null });
  for (const key of ['early', 'undone']) await set('left', key, 1);
  const early = { ns: 'd.things' };
  const undone = await yard.call('plan.adopt', { branch: 'left', only: [early] });
  await yard.call('log.undo', { entry: undone.entry! });
  await set('left', 'undone', 0);
  await yard.call('plan.adopt', { branch: 'left', only: [early] });
  await yard.fork('leaf', { from: 'left', ttlMs: null });
  await yard.fork('right', { ttlMs: null });
  for (const branch of ['leaf', 'right']) for (const key of keys) await set(branch, key, 5);
  // Adopted when both were there already: neither comes from it.
  await set('left', 'late', 2);
  await yard.call('plan.adopt', { branch: 'left', only: [early] });

  // Only of "late" has main something that the grandchild does not come from.
  expect(await told('leaf', 'main')).toEqual([
    'early clean 1 5 1',
    'late conflict 0 5 2',
    'none clean 0 5 0',
    'undone clean 0 5 0',
  ]);
  expect(await told('right', 'left')).toEqual([
    'early clean 1 5 1',
    'late conflict 0 5 2',
    'none clean 0 5 0',
    'undone clean 0 5 0',
  ]);
  expect(await told('leaf', 'right')).toEqual([]);
  await set('right', 'early', 6);
  expect(await told('leaf', 'right')).toEqual(['early conflict 1 5 6']);
  // The branch in between asleep, and gone to the trash, the histories still tell it.
  await yard.call('branches.sleep', { branch: 'left' });
  expect(await told('leaf', 'main')).toEqual([
    'early clean 1 5 1',
    'late conflict 0 5 2',
    'none clean 0 5 0',
    'undone clean 0 5 0',
  ]);
  expect(await yard.refusal('branches.discard', { branch: 'left' })).toMatchObject({ code: 'has_children' });
});
