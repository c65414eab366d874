import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { engineClient } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const ns = 'ttl.sessions';
const sessions = (client: MongoClient) =>
  client.db('ttl').collection<{ _id: number; at: Date; n?: number }>('sessions');
const days = (count: number) => new Date(Date.now() - count * 86_400_000);
const life = 30 * 86_400;

/** Whether the branch's server looks for expired documents, which it does once a minute. */
async function expires(branch: string): Promise<boolean> {
  const client = await engineClient(yard, branch);
  try {
    const parameter = await client.db('admin').command({ getParameter: 1, ttlMonitorEnabled: 1 });
    return Boolean(parameter['ttlMonitorEnabled']);
  } finally {
    await client.close();
  }
}

it('CS-24: no server but one that was forked to do so removes what a TTL index would; the index is kept, adopted and undone; no such delete is adopted', async () => {
  const main = await yard.client('main');
  await sessions(main).insertMany([1, 2, 3].map((_id) => ({ _id, at: days(_id * 365) })));
  await sessions(main).createIndex({ at: 1 }, { expireAfterSeconds: life });
  const before = await contents(main, ns);
  await yard.fork('kept', { ttlMs: null });
  await yard.fork('expiring', { ttlIndexes: true, ttlMs: null });
  await yard.fork('grandchild', { from: 'expiring', ttlMs: null });
  expect(await Promise.all(['main', 'kept', 'expiring', 'grandchild'].map(expires))).toEqual([
    false,
    false,
    true,
    false,
  ]);
  const kept = await yard.client('kept');
  expect(await contents(kept, ns)).toEqual(before);
  expect((await sessions(kept).indexes())[1]).toMatchObject({ expireAfterSeconds: life });
  expect(await yard.call('diff.get', { branch: 'kept' })).toMatchObject({ complete: true, summary: [], schema: [] });

  // Another life for the index, and a TTL index over documents that are long past their time: both are adopted as they are.
  await kept.db('ttl').command({ collMod: 'sessions', index: { name: 'at_1', expireAfterSeconds: 60 } });
  await kept
    .db('ttl')
    .collection('more')
    .insertOne({ at: days(700) });
  await kept.db('ttl').collection('more').createIndex({ at: 1 }, { expireAfterSeconds: 0 });
  await sessions(kept).updateOne({ _id: 1 }, { $set: { n: 1 } });
  const { applied, entry } = await yard.call('plan.adopt', { branch: 'kept' });
  expect(applied).toBe(5);
  const lifeOf = async (name: string) =>
    (await main.db('ttl').collection(name).indexes()).map(({ expireAfterSeconds }) => expireAfterSeconds as unknown);
  expect([await lifeOf('sessions'), await lifeOf('more')]).toEqual([
    [undefined, 60],
    [undefined, 0],
  ]);
  expect([await sessions(main).countDocuments(), await main.db('ttl').collection('more').countDocuments()]).toEqual([
    3, 1,
  ]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, ns)).toEqual(before);
  expect(await lifeOf('sessions')).toEqual([undefined, life]);
  // A sandbox that is put back to its parent's state, or woken, goes on as it was forked.
  await yard.call('branches.reset', { branch: 'kept' });
  await yard.call('branches.sleep', { branch: 'grandchild' });
  await yard.call('branches.wake', { branch: 'grandchild' });
  await yard.call('branches.discard', { branch: 'grandchild', now: true });
  await yard.call('branches.reset', { branch: 'expiring' });
  expect(await Promise.all(['main', 'kept', 'expiring'].map(expires))).toEqual([false, false, true]);
});
