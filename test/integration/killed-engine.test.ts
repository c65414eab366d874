import { spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int32, type MongoClient, type Timestamp } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { branchFolder } from '../../electron/engine/branches/folders.ts';
import { engineCredentials } from '../../electron/engine/branches/secret.ts';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { isAlive } from '../../electron/engine/mongod/identity.ts';
import { connectTo, lastWriteTime } from '../../electron/engine/mongod/replica.ts';
import { serverFolder, startServer } from '../../electron/engine/mongod/server.ts';
import { ejson, one } from '../harness/bson.ts';
import { KillableYard, otherProgram, serversIn } from '../harness/killable.ts';
import { contents, insertExactly } from '../harness/round.ts';

let yard: KillableYard;
beforeAll(async () => {
  yard = await KillableYard.open();
});
afterAll(() => yard.close());

async function wholeHistory(branch: string) {
  const { changes, complete } = await yard.call('changes.page', { branch, settle: true, limit: 5_000 });
  expect(complete).toBe(true);
  return changes;
}

it('CS-23: an engine killed in a burst of 1,000 updates has exactly 1,000 entries after its restart, and undo counts right', async () => {
  const main = await yard.client('main');
  const documents = Array.from({ length: 100 }, (_, _id) => ({ _id, n: new Int32(0) }));
  await insertExactly(main, 'cs23.burst', documents);
  const before = await contents(main, 'cs23.burst');
  await yard.call('branches.fork', { name: 'burst', ttlMs: null });
  const burst = (await yard.client('burst', undefined, { w: 1 })).db('cs23').collection('burst');
  let killed: Promise<void> | undefined;
  for (let turn = 0; turn < 1_000; turn += 1) {
    await burst.updateOne(one(turn % 100), { $inc: { n: new Int32(1) } });
    // Killed and started again while the updates go on.
    if (turn === 250) killed = yard.kill().then(() => yard.start());
  }
  await killed;
  const changes = await wholeHistory('burst');
  expect(changes.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  const n = (image: string | undefined) => Number((ejson(image) as { n: { $numberInt: string } }).n.$numberInt);
  expect(changes.map(({ op, before: from, after }) => [op, n(from), n(after)])).toEqual(
    Array.from({ length: 1_000 }, (_, turn) => ['update', Math.floor(turn / 100), Math.floor(turn / 100) + 1]),
  );
  const adopted = await yard.call('plan.adopt', { branch: 'burst' });
  expect(adopted.applied).toBe(100);
  expect((await yard.call('log.undo', { entry: adopted.entry! })).applied).toBe(100);
  expect(await contents(main, 'cs23.burst')).toEqual(before);
  await yard.call('branches.discard', { branch: 'burst', now: true });
});

it('CS-04: an oplog that rolled over while no engine ran is one gap in the history, and an exact comparison settles what changed', async () => {
  const main = await yard.client('main');
  await insertExactly(
    main,
    'cs04.data',
    ['same', 'changed', 'gone', 'both'].map((_id) => ({ _id, n: new Int32(1) })),
  );
  const { branch } = await yard.call('branches.fork', { name: 'rolled', ttlMs: null });
  const sandbox = await yard.client('rolled');
  const data = sandbox.db('cs04').collection<{ _id: string; n: Int32 }>('data');
  await data.updateOne({ _id: 'both' }, { $set: { n: new Int32(2) } });
  expect(await wholeHistory('rolled')).toHaveLength(1);
  await yard.kill();

  await data.updateOne({ _id: 'changed' }, { $set: { n: new Int32(3) } });
  await data.deleteOne({ _id: 'gone' });
  await data.updateOne({ _id: 'both' }, { $set: { n: new Int32(4) } });
  await data.insertOne({ _id: 'new', n: new Int32(5) });
  await sandbox.db('cs04').collection<{ _id: string }>('fresh').insertOne({ _id: 'made in the gap' });
  await overflowOplog(branch.id, sandbox);
  // Main went on too: what the sandbox started from is not what main has now.
  await main
    .db('cs04')
    .collection('data')
    .updateOne(one('same'), { $set: { n: new Int32(9) } });

  await yard.start();
  const wanted = {
    'cs04.data': { added: 1, modified: 2, removed: 1, conflicts: 0 },
    'cs04.fresh': { added: 1, modified: 0, removed: 0, conflicts: 0 },
  };
  const diff = await vi.waitFor(
    async () => {
      const found = await yard.call('diff.get', { branch: 'rolled' });
      // Until it is settled it is never a claim that there is nothing.
      if (!found.complete) expect(found.gaps.some(({ settled }) => !settled)).toBe(true);
      expect(found.complete).toBe(true);
      return found;
    },
    { timeout: 100_000, interval: 50 },
  );
  expect(diff.gaps).toMatchObject([{ settled: true }]);
  expect(Object.fromEntries(diff.summary.map(({ ns, ...counts }) => [ns, counts]))).toEqual(wanted);
  const values = diff.documents
    .filter(({ ns }) => ns === 'cs04.data')
    .map(({ id, fields }) => [ejson(id), ...fields.map(({ base, branch: now }) => [ejson(base), ejson(now)])])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const whole = (_id: string, n: number) => ({ _id, n: { $numberInt: String(n) } });
  expect(values).toEqual([
    ['both', [{ $numberInt: '1' }, { $numberInt: '4' }]],
    ['changed', [{ $numberInt: '1' }, { $numberInt: '3' }]],
    ['gone', [whole('gone', 1), undefined]],
    ['new', [undefined, whole('new', 5)]],
  ]);
  const gaps = (await wholeHistory('rolled')).filter(({ op, id }) => op === 'gap' && id === undefined);
  expect(gaps).toHaveLength(1);
  // It goes on as if nothing had been: no loop.
  await data.updateOne({ _id: 'changed' }, { $set: { n: new Int32(6) } });
  expect((await wholeHistory('rolled')).at(-1)).toMatchObject({ op: 'update', ns: 'cs04.data' });
  // What the branch was when another one left it is not told by what it is now.
  await yard.call('branches.fork', { name: 'tip', from: 'rolled' });
  const tip = await yard.call('diff.get', { branch: 'tip', against: 'main' });
  expect(tip).toMatchObject({ complete: false, gaps: [{ reason: expect.stringMatching(/^In rolled: /) }] });
  await yard.call('plan.adopt', { branch: 'rolled' });
  const merged = await main.db('cs04').collection('data').find().sort({ _id: 1 }).toArray();
  expect(merged).toEqual([
    { _id: 'both', n: 4 },
    { _id: 'changed', n: 6 },
    { _id: 'new', n: 5 },
    { _id: 'same', n: 9 },
  ]);
  for (const branch of ['tip', 'rolled']) await yard.call('branches.discard', { branch, now: true });
});

/**
 * Writes more than a sandbox's oplog holds. Its oldest part goes only after a checkpoint, which a server makes once a
 * minute: restarted as a reboot would, this one makes them every second.
 */
async function overflowOplog(branchId: string, client: MongoClient): Promise<void> {
  const folder = branchFolder(yard.data, branchId);
  const pid = [...(await serversIn(folder.root)).keys()][0]!;
  const [program, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
  process.kill(pid, 'SIGTERM');
  await vi.waitFor(async () => expect((await serversIn(folder.root)).size).toBe(0), { timeout: 100_000, interval: 20 });
  const server = spawn(program!, [...args, '--syncdelay', '1'], { stdio: 'ignore', detached: true });
  server.unref();

  const filler = client.db('filler').collection('filler', { writeConcern: { w: 1 } });
  const text = 'x'.repeat(1_000_000);
  const fill = () => filler.insertMany(Array.from({ length: 10 }, () => ({ text })));
  await vi.waitFor(fill, { timeout: 100_000, interval: 20 });
  const port = client.options.hosts[0]!.port!;
  const admin = await connectTo(port, await engineCredentials(yard.data)).connect();
  const marked = await lastWriteTime(admin);
  for (let written = 0; written < 300; written += 10) await fill();
  const oplog = admin.db('local').collection<{ ts: Timestamp }>('oplog.rs');
  await vi.waitFor(
    async () => {
      // A write makes the server look at how large the oplog is.
      await fill();
      const oldest = await oplog.findOne({}, { sort: { $natural: 1 } });
      expect(oldest!.ts.compare(marked)).toBe(1);
    },
    { timeout: 100_000, interval: 200 },
  );
  await filler.drop();
  await admin.close();
}

const binary = async () => (await resolveMongod({ dataDir: yard.data })).path;

it('PR-02: after a clean stop no server is left, and the next start brings every sandbox back under its URI', async () => {
  const names = ['stop-1', 'stop-2', 'stop-3'];
  const uris = await Promise.all(
    names.map(async (name) => (await yard.call('branches.fork', { name, ttlMs: null })).uri),
  );
  await yard.stop();
  expect(await serversIn(yard.data)).toEqual(new Map());
  await yard.start();
  for (const [index, name] of names.entries()) {
    expect((await yard.call('branches.uri', { branch: name })).uri).toBe(uris[index]);
    await yard.call('branches.discard', { branch: name, now: true });
  }
});

it('PR-02: after kill -9 the next start takes its own servers over while their clients work on, stops its strays, and leaves others alone', async () => {
  const names = ['left-1', 'left-2', 'left-3'];
  for (const name of names) await yard.call('branches.fork', { name, ttlMs: null });
  const clients = await Promise.all(names.map((name) => yard.client(name)));
  const before = await serversIn(yard.data);
  await yard.kill();

  // A server of somebody else's, started just like ours but elsewhere.
  const elsewhere = await mkdtemp(join(tmpdir(), 'fy-other-'));
  const foreign = await startServer({ binary: await binary(), folder: serverFolder(elsewhere), log: () => undefined });
  // A server of a sandbox that the catalog does not know: cut off in the middle of its fork.
  const stray = await startServer({
    binary: await binary(),
    folder: branchFolder(yard.data, 'abcdefabcdef'),
    log: () => undefined,
  });
  // A program that only names that folder.
  const bystander = otherProgram('--dbpath', branchFolder(yard.data, 'abcdefabcdef').db, '--port', '1');
  try {
    await yard.start();
    const after = await serversIn(yard.data);
    after.delete(bystander.pid);
    expect(after).toEqual(before);
    expect(await isAlive(foreign.identity)).toBe(true);
    expect(await isAlive(stray.identity)).toBe(false);
    expect(bystander.running()).toBe(true);
    expect(await readdir(join(yard.data, 'branches'))).not.toContain('abcdefabcdef');
    for (const client of clients) await client.db('left').collection('l').insertOne({});
    const rows = await yard.call('branches.list', {});
    expect(rows.filter(({ name }) => names.includes(name)).map(({ state }) => state)).toEqual(['live', 'live', 'live']);
  } finally {
    await bystander.end();
    await foreign.kill();
    await rm(elsewhere, { recursive: true, force: true });
  }
  for (const name of names) await yard.call('branches.discard', { branch: name, now: true });
});

it('PR-02: servers that died together with a killed engine are started again on their data', async () => {
  await yard.call('branches.fork', { name: 'both-killed', ttlMs: null });
  const client = await yard.client('both-killed');
  await client
    .db('left')
    .collection('l')
    .insertOne({ _id: 'kept' as never });
  const before = await serversIn(yard.data);
  await yard.kill();
  for (const pid of before.keys()) process.kill(pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await serversIn(yard.data)).toEqual(new Map()), {
    timeout: 30_000,
    interval: 20,
  });
  await yard.start();
  expect([...(await serversIn(yard.data)).values()].sort()).toEqual([...before.values()].sort());
  expect(await (await yard.client('both-killed')).db('left').collection('l').countDocuments()).toBe(1);
  expect((await wholeHistory('both-killed')).filter(({ op }) => op === 'insert')).toHaveLength(1);
  await yard.call('branches.discard', { branch: 'both-killed', now: true });
});
