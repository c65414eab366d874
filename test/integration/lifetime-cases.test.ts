import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { BranchRow } from '../../shared/api.ts';
import { one } from '../harness/bson.ts';
import { withWritesHeld } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

const wait = { timeout: 30_000, interval: 20 };
const products = (client: MongoClient) => client.db('shop').collection('products');

async function row(name: string): Promise<BranchRow | undefined> {
  return (await yard.call('branches.list', {})).find((each) => each.name === name);
}

async function reached(name: string, state: BranchRow['state'] | 'gone'): Promise<void> {
  await vi.waitFor(async () => expect((await row(name))?.state ?? 'gone').toBe(state), wait);
}

/** Its time is up. */
async function due(name: string): Promise<void> {
  const { expiresAt } = (await row(name))!;
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(expiresAt!)), wait);
}

it('MG-17: a sandbox that others came from is held past its time, says for whom, and goes when they have gone', async () => {
  await yard.fork('parent', { ttlMs: 3_000 });
  await products(await yard.client('parent')).updateOne(one('p1'), { $set: { price: 1 } });
  await yard.call('plan.adopt', { branch: 'parent' });
  await yard.fork('child', { from: 'parent', ttlMs: null });
  const agent = await yard.client('child');
  await products(agent).updateOne(one('p2'), { $set: { price: 2 } });
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
  await yard.fork('adopting', { ttlMs: 3_000 });
  await products(await yard.client('adopting')).updateMany({}, { $set: { seen: true } });
  const adopted = await withWritesHeld(yard, 'main', async () => {
    const answer = yard.call('plan.adopt', { branch: 'adopting' });
    await due('adopting');
    expect((await row('adopting'))?.state).toBe('live');
    return () => answer;
  });
  expect((await adopted()).applied).toBe(3);
  expect(await products(await yard.client('main')).countDocuments({ seen: true })).toBe(3);
  await reached('adopting', 'gone');

  await yard.fork('importing', { ttlMs: 3_000 });
  const source = join(yard.data, 'more.json');
  await writeFile(source, '{"_id":"p4"}\n{"_id":"p5"}\n');
  const imported = await withWritesHeld(yard, 'importing', async () => {
    const answer = yard.call('transfer.import', { source, into: 'importing', db: 'shop', collection: 'products' });
    await due('importing');
    expect((await row('importing'))?.state).toBe('live');
    return () => answer;
  });
  expect((await imported()).collections).toEqual([{ ns: 'shop.products', documents: 2 }]);
  // What it brought is not reviewed.
  await reached('importing', 'expired');
  await yard.call('branches.discard', { branch: 'importing', now: true });
});

it('MG-18: more time that is given while an overdue sandbox is held by a job counts: it does not end behind it', async () => {
  const { uri, branch } = await yard.fork('saved', { ttlMs: 3_000 });
  // Looked at behind it.
  await yard.fork('other', { ttlMs: 3_000 });
  const client = await yard.client('saved');
  await products(client).updateMany({}, { $set: { saved: true } });
  const adopted = await withWritesHeld(yard, 'main', async () => {
    const answer = yard.call('plan.adopt', { branch: 'saved' });
    await due('saved');
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
