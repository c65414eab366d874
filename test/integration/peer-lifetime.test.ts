import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { BranchRow } from '../../shared/api.ts';
import { endTime, setDeadline } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';
import { serversIn } from '../harness/killable.ts';
import { contents } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

const wait = { timeout: 100_000, interval: 20 };
const folderOf = (id: string) => join(yard.data, 'branches', id);
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function row(name: string): Promise<BranchRow | undefined> {
  return (await yard.call('branches.list', {})).find((each) => each.name === name);
}

async function refusesConnections(uri: string): Promise<void> {
  await expect(new MongoClient(uri, { serverSelectionTimeoutMS: 300 }).connect()).rejects.toThrow();
}

async function reached(name: string, state: BranchRow['state'] | 'gone'): Promise<void> {
  await vi.waitFor(async () => expect((await row(name))?.state ?? 'gone').toBe(state), wait);
}

describe('time to live', () => {
  it('a sandbox with unreviewed work is stopped and kept for a day of grace; extend brings it back under its URI, keep for good', async () => {
    const { branch, uri } = await yard.fork('worked');
    const products = (await yard.client('worked')).db('shop').collection('products');
    await products.updateMany({}, { $set: { price: 1 } });
    await endTime(yard, 'worked');
    await reached('worked', 'expired');
    expect(await exists(folderOf(branch.id))).toBe(true);
    expect(await serversIn(folderOf(branch.id))).toEqual(new Map());
    await refusesConnections(uri);
    const expired = await row('worked');
    const grace = Date.parse(expired!.goneAt!) - Date.now();
    expect(grace).toBeGreaterThan(23 * 3_600_000);
    expect(grace).toBeLessThanOrEqual(24 * 3_600_000);
    const refused = await yard.refusal('diff.get', { branch: 'worked' });
    expect(refused.code).toBe('branch_not_live');
    expect(refused.hint).toContain('forkyard extend worked');

    const { branch: back } = await yard.call('branches.extend', { branch: 'worked', ttlMs: 600_000 });
    expect(back).toMatchObject({ state: 'live', port: branch.port });
    expect(await allChanges(yard, 'worked')).toHaveLength(3);
    const client = await new MongoClient(uri).connect();
    await client
      .db('shop')
      .collection('products')
      .deleteOne({ _id: 'p3' as never });
    await client.close();
    expect((await yard.call('diff.get', { branch: 'worked' })).summary).toMatchObject([{ modified: 2, removed: 1 }]);
    await endTime(yard, 'worked');
    await reached('worked', 'expired');
    const { branch: kept } = await yard.call('branches.keep', { branch: 'worked' });
    expect(kept).toMatchObject({ state: 'live' });
    expect(kept.expiresAt).toBeUndefined();
    expect(await allChanges(yard, 'worked')).toHaveLength(4);
    await yard.call('branches.discard', { branch: 'worked', now: true });
  });

  it('what was adopted is reviewed: such a sandbox goes without a grace period', async () => {
    await yard.fork('adopted');
    const products = (await yard.client('adopted')).db('shop').collection('products');
    await products.updateOne({ _id: 'p1' as never }, { $set: { price: 2 } });
    await yard.call('plan.adopt', { branch: 'adopted' });
    // Noticed by itself.
    await endTime(yard, 'adopted', 1_000);
    await reached('adopted', 'gone');
  });
});

it('a deadline that passed while no engine ran is kept after the start, with and without unreviewed work', async () => {
  const { branch: idle } = await yard.fork('slept-idle');
  const { branch: busy } = await yard.fork('slept-busy');
  await (await yard.client('slept-busy')).db('shop').collection('products').deleteMany({});
  const deadline = new Date(Date.now() + 2_000);
  for (const name of ['slept-idle', 'slept-busy']) await setDeadline(yard, name, deadline);
  await yard.restart(async () => {
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(deadline.getTime()), wait);
  });
  await reached('slept-idle', 'gone');
  await reached('slept-busy', 'expired');
  await vi.waitFor(async () => expect(await exists(folderOf(idle.id))).toBe(false), wait);
  expect(await serversIn(folderOf(busy.id))).toEqual(new Map());
  await yard.call('branches.extend', { branch: 'slept-busy', ttlMs: 600_000 });
  expect((await yard.call('diff.get', { branch: 'slept-busy' })).summary[0]).toMatchObject({ removed: 3 });
  await yard.call('branches.discard', { branch: 'slept-busy', now: true });
});

it('discarding main, or a sandbox that others came from, is refused before anything happens', async () => {
  const main = await yard.client('main');
  const before = await contents(main, 'shop.products');
  expect(await yard.refusal('branches.discard', { branch: 'main' })).toMatchObject({ code: 'main_protected' });
  await yard.fork('parent', { ttlMs: null });
  await yard.fork('child', { from: 'parent', ttlMs: null });
  const refused = await yard.refusal('branches.discard', { branch: 'parent', now: true });
  expect(refused).toMatchObject({ code: 'has_children', details: { children: ['child'] } });
  expect(refused.hint).toContain('child');
  for (const name of ['main', 'parent', 'child']) {
    expect(await contents(await yard.client(name), 'shop.products')).toEqual(before);
  }
  await yard.call('branches.discard', { branch: 'child', now: true });
  await yard.call('branches.discard', { branch: 'parent', now: true });
});

it('the old URI is refused at once after a discard, no write through it makes anything, and the name is free', async () => {
  const { branch, uri } = await yard.fork('ended', { ttlMs: null });
  const open = await new MongoClient(uri, { serverSelectionTimeoutMS: 300 }).connect();
  const { trashedUntil } = await yard.call('branches.discard', { branch: 'ended' });
  expect(Date.parse(trashedUntil!)).toBeGreaterThan(Date.now());
  await expect(open.db('shop').collection('products').insertOne({})).rejects.toThrow();
  await open.close();
  await refusesConnections(uri);
  expect(await serversIn(folderOf(branch.id))).toEqual(new Map());
  const { branch: again, uri: fresh } = await yard.fork('ended', { ttlMs: null });
  expect(again.id).not.toBe(branch.id);
  // Should the new one have the old one's port, it does not have its password.
  expect(fresh).not.toBe(uri);
  await refusesConnections(uri);
  await yard.call('branches.discard', { branch: 'ended', now: true });
});

it('a name taken in another case, with dots or dashes is a name of its own: none wipes another', async () => {
  for (const name of ['a--b', 'a.b', 'A--b']) await yard.fork(name, { ttlMs: null });
  await yard.call('branches.discard', { branch: 'a--b', now: true });
  for (const name of ['a.b', 'A--b']) {
    expect(await (await yard.client(name)).db('shop').collection('products').countDocuments()).toBe(3);
    await yard.call('branches.discard', { branch: name, now: true });
  }
});
