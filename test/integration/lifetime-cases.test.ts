import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { BranchRow } from '../../shared/api.ts';
import { one } from '../harness/bson.ts';
import { endTime, withWritesHeld } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

const wait = { timeout: 100_000, interval: 20 };
const products = (client: MongoClient) => client.db('shop').collection('products');

async function row(name: string): Promise<BranchRow | undefined> {
  return (await yard.call('branches.list', {})).find((each) => each.name === name);
}

async function reached(name: string, state: BranchRow['state'] | 'gone'): Promise<void> {
  await vi.waitFor(async () => expect((await row(name))?.state ?? 'gone').toBe(state), wait);
}

it('MG-17: a sandbox that others came from is held past its time, says for whom, and goes when they have gone', async () => {
  await yard.fork('parent');
  await products(await yard.client('parent')).updateOne(one('p1'), { $set: { price: 1 } });
  await yard.call('plan.adopt', { branch: 'parent' });
  await yard.fork('child', { from: 'parent', ttlMs: null });
  const agent = await yard.client('child');
  await products(agent).updateOne(one('p2'), { $set: { price: 2 } });
  await endTime(yard, 'parent');
  await vi.waitFor(
    async () => expect((await row('parent'))?.note).toBe('Its time is up; it is held because child came from it.'),
    wait,
  );
  // Both go on: the agent's open connection, the review against the parent, and what is adopted into it.
  expect(await row('parent')).toMatchObject({ state: 'live' });
  await products(agent).updateOne(one('p3'), { $set: { price: 3 } });
  expect((await yard.call('diff.get', { branch: 'child' })).summary).toMatchObject([{ modified: 2, conflicts: 0 }]);
  expect((await yard.call('plan.adopt', { branch: 'child' })).applied).toBe(2);
  expect((await row('child'))?.parent).toBe('parent');
  // What came into it is nobody's review yet: it is kept for its time of grace, and nothing dangles.
  await yard.call('branches.discard', { branch: 'child', now: true });
  await reached('parent', 'expired');
  expect((await row('parent'))?.note).toBeUndefined();
  await yard.call('branches.discard', { branch: 'parent', now: true });
  expect((await yard.call('branches.list', { all: true })).map(({ name }) => name)).toEqual(['main']);
});

it('MG-18: a sandbox whose time is up in the middle of its adoption, or of an import into it, ends when that is done', async () => {
  await yard.fork('adopting');
  await products(await yard.client('adopting')).updateMany({}, { $set: { seen: true } });
  const adopted = await withWritesHeld(yard, 'main', async () => {
    const answer = yard.call('plan.adopt', { branch: 'adopting' });
    await endTime(yard, 'adopting');
    expect((await row('adopting'))?.state).toBe('live');
    return () => answer;
  });
  expect((await adopted()).applied).toBe(3);
  expect(await products(await yard.client('main')).countDocuments({ seen: true })).toBe(3);
  await reached('adopting', 'gone');

  await yard.fork('importing');
  const source = join(yard.data, 'more.json');
  await writeFile(source, '{"_id":"p4"}\n{"_id":"p5"}\n');
  const imported = await withWritesHeld(yard, 'importing', async () => {
    const answer = yard.call('transfer.import', { source, into: 'importing', db: 'shop', collection: 'products' });
    await endTime(yard, 'importing');
    expect((await row('importing'))?.state).toBe('live');
    return () => answer;
  });
  expect((await imported()).collections).toEqual([{ ns: 'shop.products', documents: 2 }]);
  // What it brought is not reviewed.
  await reached('importing', 'expired');
  await yard.call('branches.discard', { branch: 'importing', now: true });
});

it('MG-18: more time that is given while an overdue sandbox is held by a job counts: it does not end behind it', async () => {
  const { uri, branch } = await yard.fork('saved');
  // Looked at behind it.
  await yard.fork('other');
  const client = await yard.client('saved');
  await products(client).updateMany({}, { $set: { saved: true } });
  const adopted = await withWritesHeld(yard, 'main', async () => {
    const answer = yard.call('plan.adopt', { branch: 'saved' });
    await endTime(yard, 'saved');
    await endTime(yard, 'other');
    await yard.call('branches.extend', { branch: 'saved', ttlMs: 600_000 });
    return () => answer;
  });
  expect((await adopted()).applied).toBe(3);
  await reached('other', 'gone');
  expect(await row('saved')).toMatchObject({ id: branch.id, state: 'live', port: branch.port });
  expect((await yard.call('branches.uri', { branch: 'saved' })).uri).toBe(uri);
  expect(await products(client).countDocuments({ saved: true })).toBe(3);
});

it('MG-18: main has no time that could be up, and more time keeps URI, server and open connections', async () => {
  expect((await row('main'))?.expiresAt).toBeUndefined();
  for (const refused of [
    await yard.refusal('branches.extend', { branch: 'main', ttlMs: 1_000 }),
    await yard.refusal('branches.keep', { branch: 'main' }),
  ]) {
    expect(refused).toMatchObject({ code: 'main_protected', message: 'main never expires.' });
  }
  const { branch, uri } = await yard.fork('longer', { ttlMs: 60_000 });
  const client = await yard.client('longer');
  const connection = async () => (await client.db('admin').command({ hello: 1 }))['connectionId'] as unknown;
  const before = await connection();
  const { branch: extended } = await yard.call('branches.extend', { branch: 'longer', ttlMs: 60_000 });
  expect(Date.parse(extended.expiresAt!) - Date.parse(branch.expiresAt!)).toBe(60_000);
  expect((await yard.call('branches.uri', { branch: 'longer' })).uri).toBe(uri);
  expect(await connection()).toBe(before);
});

it('an expiry is taken back like a discard: the sandbox is there again under its URI with its history; each of them once', async () => {
  const { uri } = await yard.fork('over');
  await products(await yard.client('over')).updateOne(one('p1'), { $set: { price: 5 } });
  const before = await contents(await yard.client('over'), 'shop.products');
  await endTime(yard, 'over');
  await reached('over', 'expired');
  const expired = (await yard.call('log.list', { branch: 'over' })).find(({ kind }) => kind === 'expire')!;
  expect(expired.undoable).toBe(true);
  const back = await yard.call('log.undo', { entry: expired.entry });
  expect(back).toMatchObject({ applied: 1, branch: 'over' });
  expect(await row('over')).toMatchObject({ state: 'live' });
  expect((await yard.call('branches.uri', { branch: 'over' })).uri).toBe(uri);
  expect(await contents(await yard.client('over', undefined, { w: 1 }), 'shop.products')).toEqual(before);
  expect((await yard.call('diff.get', { branch: 'over' })).summary).toMatchObject([{ modified: 1 }]);
  expect(await yard.refusal('log.undo', { entry: expired.entry })).toMatchObject({ code: 'undo_refused' });

  const adoptions = await yard.call('plan.adopt', { branch: 'over' });
  await yard.call('branches.discard', { branch: 'over' });
  const discarded = (await yard.call('log.list', { branch: 'over' })).find(({ kind }) => kind === 'discard')!;
  // A name that is another's by then is not taken from it.
  await yard.fork('over', { ttlMs: null });
  expect(await yard.refusal('log.undo', { entry: discarded.entry })).toMatchObject({ code: 'name_taken' });
  await yard.call('branches.discard', { branch: 'over', now: true });
  const undone = await yard.call('log.undo', { entry: discarded.entry });
  expect(undone.branch).toBe('over');
  expect((await yard.call('branches.uri', { branch: 'over' })).uri).toBe(uri);
  expect(await contents(await yard.client('over', undefined, { w: 0 }), 'shop.products')).toEqual(before);
  const again = await yard.refusal('log.undo', { entry: discarded.entry });
  expect(again.message).toContain(`was taken back already, by ${undone.entry}`);
  // What was adopted from it before is taken back as if nothing had happened in between.
  expect((await yard.call('log.undo', { entry: adoptions.entry! })).applied).toBe(1);
  expect((await yard.call('diff.get', { branch: 'over' })).summary).toMatchObject([{ modified: 1, conflicts: 0 }]);
});

it('a sandbox that was discarded for good, or brought back by other means, is not brought back by the log, and says why', async () => {
  await yard.fork('away', { ttlMs: null });
  await yard.call('branches.discard', { branch: 'away', now: true });
  const gone = (await yard.call('log.list', { branch: 'away' })).at(-1)!;
  expect(gone).toMatchObject({ kind: 'discard', undoable: false });
  expect(await yard.refusal('log.undo', { entry: gone.entry })).toMatchObject({
    code: 'undo_refused',
    message: 'away cannot be brought back: its files are gone.',
    hint: expect.stringContaining('an hour'),
  });
  await yard.fork('woken');
  await products(await yard.client('woken')).deleteMany({});
  await endTime(yard, 'woken');
  await reached('woken', 'expired');
  await yard.call('branches.keep', { branch: 'woken' });
  const expired = (await yard.call('log.list', { branch: 'woken' })).find(({ kind }) => kind === 'expire')!;
  const again = await yard.refusal('log.undo', { entry: expired.entry });
  expect(again.code).toBe('undo_refused');
  expect(again.message).toMatch(/was taken back already, by restore-/);
});

it('a sandbox that sleeps keeps its time: it ends with work that nobody reviewed only after its grace, and wakes with its history', async () => {
  const { uri } = await yard.fork('asleep');
  await products(await yard.client('asleep')).deleteMany({});
  await yard.call('branches.sleep', { branch: 'asleep' });
  await endTime(yard, 'asleep');
  await reached('asleep', 'expired');
  await yard.call('branches.wake', { branch: 'asleep' });
  expect((await yard.call('branches.uri', { branch: 'asleep' })).uri).toBe(uri);
  expect((await yard.call('diff.get', { branch: 'asleep' })).summary).toMatchObject([{ removed: 3 }]);
});
