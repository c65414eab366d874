import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { serversIn } from '../harness/killable.ts';
import { contents } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';

let yard: TestYard;
let main: MongoClient;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
  main = await yard.client('main');
});
afterAll(() => yard.close());

const ns = 'shop.products';
const products = (client: MongoClient) => client.db('shop').collection('products');

/** What a branch holds, asked over a connection of its own: after a reset the old ones come back by themselves, later. */
async function held(branch: string): Promise<Map<string, string>> {
  return contents(await yard.client(branch, undefined, { w: 1 }), ns);
}
const row = async (name: string) => (await yard.call('branches.list', {})).find((each) => each.name === name);

it('a reset gives a sandbox its parent’s present state under the same URI; an open client goes on; the undo brings the old one back', async () => {
  const { branch, uri } = await yard.fork('again', { ttlMs: 3_600_000 });
  const second = await yard.call('branches.uri', { branch: 'again', actor: 'second' });
  const client = await yard.client('again');
  await products(client).updateOne(one('p1'), { $set: { price: 1 } });
  await products(client).deleteOne(one('p3'));
  const worked = await held('again');
  await products(main).updateOne(one('p2'), { $set: { price: 77 } });
  const mains = await contents(main, ns);

  const answer = await yard.call('branches.reset', { branch: 'again' });
  expect(answer.branch).toMatchObject({
    name: 'again',
    parent: 'main',
    state: 'live',
    port: branch.port,
    expiresAt: branch.expiresAt,
  });
  expect(answer.backup).toMatch(/^again-before-reset-/);
  expect((await yard.call('branches.uri', { branch: 'again' })).uri).toBe(uri);
  expect(await yard.call('branches.uri', { branch: 'again', actor: 'second' })).toEqual(second);
  // The very client that was open: its driver connects again, with the same credentials.
  await vi.waitFor(async () => expect(await contents(client, ns)).toEqual(mains), { timeout: 100_000 });
  expect(await contents(await yard.client('again', 'second'), ns)).toEqual(mains);
  // Capture starts anew; what was before stays with the backup.
  expect(await yard.call('diff.get', { branch: 'again' })).toMatchObject({ complete: true, summary: [], schema: [] });
  expect(await allChanges(yard, 'again')).toEqual([]);
  expect(await row('again')).toMatchObject({ ahead: 0, behind: 0, actors: ['agent', 'second'] });
  const backup = await row(answer.backup);
  expect(backup).toMatchObject({ state: 'asleep', parent: 'main', seq: 2 });
  expect(Date.parse(backup!.expiresAt!) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect(await serversIn(`${yard.data}/branches/${branch.id}`)).toEqual(new Map());

  await products(client).insertOne({ _id: 'new' as never });
  await yard.call('actors.renew', { branch: 'again', actor: 'second' });
  const undone = await yard.call('log.undo', { entry: answer.entry });
  expect(undone).toMatchObject({ applied: 1, branch: 'again' });
  expect(await row('again')).toMatchObject({
    id: branch.id,
    port: branch.port,
    state: 'live',
    expiresAt: branch.expiresAt,
  });
  await vi.waitFor(async () => expect(await contents(client, ns)).toEqual(worked), { timeout: 100_000 });
  // A password that was renewed in between is the one that counts.
  expect(await contents(await yard.client('again', 'second', { w: 1 }), ns)).toEqual(worked);
  expect(await allChanges(yard, 'again')).toHaveLength(2);
  expect((await yard.call('diff.get', { branch: 'again' })).summary).toEqual([
    { ns, added: 0, modified: 1, removed: 1, conflicts: 0 },
  ]);
  // Not twice; and the undo itself can be taken back: the state with `new` is there again.
  expect((await yard.refusal('log.undo', { entry: answer.entry })).code).toBe('undo_refused');
  const log = await yard.call('log.list', { branch: 'again' });
  expect(log.find(({ entry }) => entry === answer.entry)).toMatchObject({ undoneBy: undone.entry, undoable: false });
  await yard.call('log.undo', { entry: undone.entry! });
  await vi.waitFor(async () => expect((await contents(client, ns)).has('"new"')).toBe(true), { timeout: 100_000 });
});

it('what was forked from a sandbox before its reset stays with the state that it came from', async () => {
  await yard.fork('old', { ttlMs: null });
  await products(await yard.client('old')).updateOne(one('p1'), { $set: { price: 5 } });
  await yard.fork('child', { from: 'old', ttlMs: null });
  await products(await yard.client('child')).updateOne(one('p1'), { $set: { price: 6 } });
  const { backup } = await yard.call('branches.reset', { branch: 'old' });
  expect((await row('child'))?.parent).toBe(backup);
  expect((await yard.refusal('diff.get', { branch: 'child' })).hint).toContain(`forkyard wake ${backup}`);
  await yard.call('branches.wake', { branch: backup });
  const diff = await yard.call('diff.get', { branch: 'child' });
  expect(diff).toMatchObject({ parent: backup, complete: true, summary: [{ modified: 1, conflicts: 0 }] });
  expect(await yard.refusal('branches.discard', { branch: backup })).toMatchObject({ code: 'has_children' });
});

it('an empty sandbox becomes empty again; a sleeping one wakes with its parent’s state', async () => {
  await yard.fork('blank', { empty: true, ttlMs: null });
  await (await yard.client('blank')).db('x').collection('y').insertOne({});
  await yard.call('branches.reset', { branch: 'blank' });
  expect((await yard.call('data.collections', { branch: 'blank' })).databases).toEqual([]);
  const { branch } = await yard.fork('dozing', { ttlMs: null });
  await yard.call('branches.sleep', { branch: 'dozing' });
  const { branch: fresh } = await yard.call('branches.reset', { branch: 'dozing' });
  expect(fresh).toMatchObject({ state: 'live', port: branch.port });
  expect(await held('dozing')).toEqual(await contents(main, ns));
});

it('what cannot be reset is refused before anything happens', async () => {
  expect((await yard.refusal('branches.reset', { branch: 'main' })).code).toBe('main_protected');
  expect((await yard.refusal('branches.reset', { branch: 'nobody' })).code).toBe('unknown_branch');
  await yard.fork('twice', { ttlMs: null });
  const { entry, backup } = await yard.call('branches.reset', { branch: 'twice' });
  await yard.call('branches.discard', { branch: backup, now: true });
  const gone = await yard.refusal('log.undo', { entry });
  expect([gone.code, gone.message]).toEqual(['undo_refused', expect.stringContaining('is gone')]);
  expect(await held('twice')).toEqual(await contents(main, ns));
});
