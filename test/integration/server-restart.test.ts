import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

async function serverPid(id: string): Promise<number> {
  return Number(await readFile(join(yard.data, 'branches', id, 'db', 'mongod.lock'), 'utf8'));
}

/** Kills a branch's server and waits until the engine has seen it. */
async function killServer(branch: string, id: string): Promise<void> {
  const from = yard.log.length;
  process.kill(await serverPid(id), 'SIGKILL');
  const noticed = `the server of ${branch} ended`;
  await vi.waitFor(() => expect(yard.log.slice(from).some((line) => line.includes(noticed))).toBe(true), {
    timeout: 60_000,
    interval: 2,
  });
}

it('what is asked while a killed server starts again waits for it, and finds everything that was acknowledged', async () => {
  const main = await yard.client('main');
  await main
    .db('shop')
    .collection('products')
    .insertOne({ _id: 'p1' as never }, { writeConcern: { w: 1, j: true } });
  const { branch } = await yard.fork('sandbox', { ttlMs: null });
  const sandbox = (await yard.client('sandbox')).db('shop').collection('products');
  await sandbox.insertOne({ _id: 'p2' as never }, { writeConcern: { w: 1, j: true } });

  await killServer('main', 'main');
  expect((await yard.call('diff.get', { branch: 'sandbox' })).summary).toMatchObject([{ added: 1 }]);
  await killServer('main', 'main');
  await yard.fork('late', { ttlMs: null });
  expect(await (await yard.client('late')).db('shop').collection('products').countDocuments()).toBe(1);
  await killServer('sandbox', branch.id);
  expect((await yard.call('plan.adopt', { branch: 'sandbox' })).applied).toBe(1);
});

it('from the moment a server is killed on, what is asked is answered or can be asked again', async () => {
  const { branch } = await yard.fork('asked', { ttlMs: null });
  const codes = new Set<unknown>();
  const ask = () =>
    yard.call('diff.get', { branch: 'asked' }).then(
      () => true,
      (error: unknown) => void codes.add((error as { code: unknown }).code),
    );
  process.kill(await serverPid(branch.id), 'SIGKILL');
  const ended = yard.log.length;
  const isStarting = () => yard.log.slice(ended).some((line) => line.includes('the server of asked ended'));
  while (!(isStarting() && (await ask()))) await Promise.race([ask(), setImmediate()]);
  expect([...codes].filter((code) => code !== 'mongod_failed')).toEqual([]);
});

it('a server that is killed again while it starts is started once more, and what was asked waits for that', async () => {
  const { branch } = await yard.fork('twice', { ttlMs: null });
  const before = yard.log.length;
  const first = await serverPid(branch.id);
  await killServer('twice', branch.id);
  const started = async () => expect([0, first]).not.toContain(await serverPid(branch.id));
  await vi.waitFor(started, { timeout: 20_000, interval: 1 });
  process.kill(await serverPid(branch.id), 'SIGKILL');
  expect((await yard.call('diff.get', { branch: 'twice' })).summary).toEqual([]);
  const failed = yard.log.slice(before).filter((line) => line.includes('the server of twice did not come up'));
  expect(failed).toHaveLength(1);
});

it('a sandbox whose server is just being started again can be discarded, and no server of it is left', async () => {
  const { branch } = await yard.fork('ended', { ttlMs: null });
  await killServer('ended', branch.id);
  await yard.call('branches.discard', { branch: 'ended' });
  const folders = (await serversUnder(yard.data)).map(({ dbPath }) => dbPath);
  expect(folders.filter((path) => path.includes(branch.id))).toEqual([]);
  expect(await readdir(join(yard.data, 'branches'))).not.toContain(branch.id);
});

it('a place in a review that is none is a mistake of the caller', async () => {
  await yard.fork('paged', { ttlMs: null });
  expect(await yard.refusal('diff.get', { branch: 'paged', after: 'garbage' })).toMatchObject({ code: 'usage' });
});
