import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { serverFolder, startServer } from '../../electron/engine/mongod/server.ts';
import { TestYard } from '../harness/in-process.ts';
import { serversIn } from '../harness/killable.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const wait = { timeout: 100_000, interval: 20 };
const portOf = (uri: string) => Number(/:(\d+)\//.exec(uri)![1]);

/** Another program that listens on a port and hangs up on whoever comes. */
async function occupy(port: number): Promise<NetServer> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return server;
}
const free = (server: NetServer) => new Promise((resolve) => server.close(resolve));

it('PR-01: a port that another program took while no engine ran is left to it: a new URI, the same data, and a note of why', async () => {
  const kept = await yard.fork('kept-port', { ttlMs: null });
  const moved = await yard.fork('moved-port', { ttlMs: null });
  const held = await (
    await yard.client('moved-port')
  )
    .db('d')
    .collection<{ _id: string }>('c')
    .insertOne({ _id: 'mine' });
  expect(held.acknowledged).toBe(true);
  let other: NetServer | undefined;
  await yard.restart(async () => {
    other = await occupy(portOf(moved.uri));
  });
  const { uri } = await yard.call('branches.uri', { branch: 'moved-port' });
  expect(portOf(uri)).not.toBe(portOf(moved.uri));
  expect(uri.replace(/:\d+\//, '/')).toBe(moved.uri.replace(/:\d+\//, '/'));
  expect(await (await yard.client('moved-port')).db('d').collection('c').countDocuments()).toBe(1);
  expect((await yard.call('branches.uri', { branch: 'kept-port' })).uri).toBe(kept.uri);
  const row = (await yard.call('branches.list', {})).find(({ name }) => name === 'moved-port');
  expect(row?.note).toContain(String(portOf(moved.uri)));
  expect(yard.log.some((line) => line.includes('moved-port') && line.includes(String(portOf(moved.uri))))).toBe(true);
  await free(other!);
  // It stays on the new port: that is what its users have by now.
  await yard.restart();
  expect((await yard.call('branches.uri', { branch: 'moved-port' })).uri).toBe(uri);
  expect((await yard.call('branches.list', {})).filter(({ note }) => note !== undefined)).toEqual([]);
  for (const branch of ['kept-port', 'moved-port']) await yard.call('branches.discard', { branch, now: true });
});

it('PR-01: a server of somebody else’s that takes the port while ours is starting is never taken for ours', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fy-race-'));
  const { path: binary } = await resolveMongod({ dataDir: root });
  const gate = join(root, 'go');
  const slow = join(root, 'mongod');
  // Starts the server only once the port is taken.
  await writeFile(slow, `#!/bin/sh\nwhile [ ! -e '${gate}' ]; do sleep 0.01; done\nexec '${binary}' "$@"\n`);
  await chmod(slow, 0o700);
  const folder = serverFolder(join(root, 'server'));
  const starting = startServer({ binary: slow, folder, log: () => undefined });
  const port = await vi.waitFor(async () => {
    const [pid] = [...(await serversIn(folder.root)).keys()];
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    return Number(args[args.indexOf('--port') + 1]);
  }, wait);
  const other = await occupy(port);
  await writeFile(gate, '');
  const server = await starting;
  expect(server.port).not.toBe(port);
  expect([...(await serversIn(folder.root)).keys()]).toEqual([server.pid]);
  await server.stop();
  await free(other);
  await rm(root, { recursive: true, force: true });
});
