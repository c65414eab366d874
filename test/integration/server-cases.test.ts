import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { serverFolder, startServer } from '../../electron/engine/mongod/server.ts';
import { endTime } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

const patience = { timeout: 100_000, interval: 50 };

async function answers(uri: string, serverSelectionTimeoutMS = 30_000): Promise<boolean> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS });
  try {
    return (await client.db('shop').collection('products').countDocuments()) === 3;
  } finally {
    await client.close();
  }
}

it('PR-01: a sandbox stopped and started 20 times keeps its connection string', async () => {
  const { uri } = await yard.fork('again', { ttlMs: null });
  for (let turn = 0; turn < 20; turn += 1) {
    await yard.call('branches.discard', { branch: 'again' });
    await yard.call('branches.wake', { branch: 'again' });
    expect((await yard.call('branches.uri', { branch: 'again' })).uri).toBe(uri);
  }
  expect(await answers(uri)).toBe(true);
  await yard.call('branches.discard', { branch: 'again', now: true });
});

it('PR-01: ten sandboxes forked at once each have a port of their own', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `many-${index}`);
  const forks = await Promise.all(names.map((name) => yard.fork(name)));
  expect(new Set(forks.map(({ branch }) => branch.port)).size).toBe(10);
  expect(await Promise.all(forks.map(({ uri }) => answers(uri)))).toEqual(names.map(() => true));
  for (const branch of names) await yard.call('branches.discard', { branch, now: true });
});

it('PR-01: a port that another program took meanwhile is left to it, and the sandbox says where it is now', async () => {
  const { uri, branch } = await yard.fork('moved', { ttlMs: null });
  await yard.call('branches.discard', { branch: 'moved' });
  const stranger = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => stranger.listen(branch.port, '127.0.0.1', resolve));
  try {
    const woken = await yard.call('branches.wake', { branch: 'moved' });
    expect(woken.branch.port).not.toBe(branch.port);
    const now = (await yard.call('branches.uri', { branch: 'moved' })).uri;
    expect(now).not.toBe(uri);
    expect(await answers(now)).toBe(true);
  } finally {
    stranger.close();
  }
  await yard.call('branches.discard', { branch: 'moved', now: true });
});

it('PR-04: a server killed while 300 MB are written starts again by itself, and data and history agree', async () => {
  const { uri } = await yard.fork('heavy', { ttlMs: null });
  const client = await new MongoClient(uri, { w: 1, serverSelectionTimeoutMS: 30_000 }).connect();
  const heavy = client.db('shop').collection<{ _id: number; text: string }>('heavy');
  const text = 'x'.repeat(100_000);
  for (let batch = 0; batch < 30; batch += 1) {
    await heavy.insertMany(Array.from({ length: 100 }, (_, index) => ({ _id: batch * 100 + index, text })));
  }
  const killed = heavy.updateMany({}, { $set: { seen: true } }).catch(() => undefined);
  const branchId = (await yard.call('branches.list', {})).find(({ name }) => name === 'heavy')!.id;
  const [server] = (await serversUnder(yard.data)).filter(({ dbPath }) => dbPath.includes(branchId));
  process.kill(server!.pid, 'SIGKILL');
  await killed;
  // Its log of 600 MB is gone through first.
  await vi.waitFor(async () => expect(await heavy.countDocuments()).toBe(3_000), { ...patience, timeout: 120_000 });
  const seen = await heavy.countDocuments({ seen: true } as object);
  // Capture begins to catch up when the server answers, and images that a crash took are put together and verified: until
  // then a diff says that it is not complete.
  const diff = await vi.waitFor(
    async () => {
      const found = await yard.call('diff.get', { branch: 'heavy', summary: true });
      expect(found).toMatchObject({ complete: true });
      return found;
    },
    { ...patience, timeout: 100_000 },
  );
  expect(diff).toMatchObject({ complete: true, summary: [{ ns: 'shop.heavy', added: 3_000 }] });
  let updates = 0;
  for (let after = 0; ;) {
    const { changes } = await yard.call('changes.page', { branch: 'heavy', after, settle: true });
    if (changes.length === 0) break;
    updates += changes.filter(({ op }) => op === 'update').length;
    after = changes.at(-1)!.seq;
  }
  expect(updates).toBe(seen);
  await client.close();
  await yard.call('branches.discard', { branch: 'heavy', now: true });
}, 240_000);

it('a sandbox without changes goes when its time is up: files, process and row', async () => {
  const { uri } = await yard.fork('brief', { ttlMs: 1_500 });
  await vi.waitFor(async () => {
    expect((await yard.call('branches.list', { all: true })).map(({ name }) => name)).not.toContain('brief');
  }, patience);
  await expect(answers(uri, 500)).rejects.toThrow();
  expect((await yard.call('log.list', { branch: 'brief' })).map(({ kind }) => kind)).toContain('discard');
});

it('a sandbox with changes that nobody reviewed waits as expired, also over a restart, and comes back with its connection string', async () => {
  const { uri } = await yard.fork('unread');
  await (
    await yard.client('unread')
  )
    .db('shop')
    .collection('products')
    .deleteOne({ _id: 'p1' as never });
  await endTime(yard, 'unread', 1_000);
  const stateOf = async () =>
    (await yard.call('branches.list', { all: true })).find(({ name }) => name === 'unread')?.state;
  await vi.waitFor(async () => expect(await stateOf()).toBe('expired'), patience);
  await expect(answers(uri, 500)).rejects.toThrow();
  await yard.restart();
  expect(await stateOf()).toBe('expired');
  const { branch } = await yard.call('branches.extend', { branch: 'unread', ttlMs: 3_600_000 });
  expect(branch.state).toBe('live');
  expect((await yard.call('branches.uri', { branch: 'unread' })).uri).toBe(uri);
  expect((await yard.call('diff.get', { branch: 'unread' })).summary).toMatchObject([{ removed: 1 }]);
  const kept = await yard.call('branches.keep', { branch: 'unread' });
  expect(kept.branch.expiresAt).toBeUndefined();
});

it('a server that ends in a check of its own is started once more, and the log says so; twice is told', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fy-abort-'));
  const { path } = await resolveMongod({ dataDir: root });
  const binary = join(root, 'mongod');
  const aborts = join(root, 'aborts');
  // Ends by itself as often as the file has lines.
  await writeFile(
    binary,
    `#!/bin/sh\nif [ -s '${aborts}' ]; then sed -i 1d '${aborts}'; kill -ABRT $$; fi\nexec '${path}' "$@"\n`,
  );
  await chmod(binary, 0o700);
  const said: string[] = [];
  const folder = serverFolder(join(root, 'server'));
  const start = () => startServer({ binary, folder, log: (line) => said.push(line) });
  try {
    await writeFile(aborts, '1\n');
    await (await start()).stop();
    expect(said).toEqual(['The database server did not start: it was ended by SIGABRT. It is started once more.']);
    await writeFile(aborts, '1\n2\n');
    await expect(start()).rejects.toMatchObject({ code: 'mongod_failed' });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
