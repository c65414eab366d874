import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MongoServerError, type ClientSession, type MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ForkyardError } from '../../shared/errors.ts';
import { CommandYard } from '../harness/command.ts';
import { EngineProcess } from '../harness/engine-process.ts';
import { MainWatch } from '../harness/main-watch.ts';
import { Stalls, timed } from '../harness/own-time.ts';
import { until } from '../harness/until.ts';

/** Forks of all kinds, and forks that fail, beside a program that writes to main without pause. */
let engine: EngineProcess;
let watch: MainWatch;
let main: MongoClient;
beforeAll(async () => {
  engine = await EngineProcess.open();
  main = await engine.outside('main');
  const items = Array.from({ length: 500 }, (_, _id) => ({ _id, text: 'x'.repeat(200) }));
  await main.db('shop').collection<{ _id: number }>('items').insertMany(items);
  watch = await MainWatch.start(engine);
});
afterAll(async () => {
  await watch.stop();
  await engine.close();
});
beforeEach(() => watch.forgetStalls());
afterEach(async () => {
  for (const end of programs.splice(0)) await end();
  await until('every fork', async () => (await watch.branches()).every(({ state }) => state !== 'starting'));
  // The newest first: a branch with children is kept.
  const sandboxes = (await watch.branches()).filter(({ parent, active }) => active && parent !== undefined);
  for (const { name } of sandboxes.reverse()) await discard(name);
});

/** Programs of a test that may still have a transaction open. */
const programs: (() => Promise<unknown>)[] = [];

const fork = (
  name: string,
  options: { from?: string; ttlMs?: number; empty?: boolean; endTransactions?: boolean } = {},
) => engine.call('branches.fork', { name, ...options });
const discard = (branch: string) => engine.call('branches.discard', { branch, now: true });
const folders = () => readdir(join(engine.data, 'branches'));
/** How often main was asked to flush, without a lock. */
const flushes = async () =>
  (await readText(join(engine.data, 'branches', 'main', 'mongod.log'))).split('"attr":{"lock":false}').length;
const lockCount = async () => (await watch.locks()).length;

describe('with a transaction open on main', () => {
  type Kind = 'idle' | 'reading' | 'writing';
  const kinds: Kind[] = ['idle', 'reading', 'writing'];

  /** A program with a transaction open, until `end` is called; tells what its commit came to. */
  async function busy(kind: Kind) {
    const client = await engine.outside('main', { appName: `${kind} program` });
    const session = client.startSession();
    session.startTransaction();
    let over = false;
    let failed: unknown;
    await step(client, session, kind);
    const running = (async () => {
      while (!over && kind !== 'idle') await step(client, session, kind);
    })().catch((error: unknown) => (failed = error));
    const finish = async (): Promise<unknown> => {
      over = true;
      await running;
      failed ??= await session.commitTransaction().catch((error: unknown) => error);
      await session.endSession();
      return failed;
    };
    let finished: Promise<unknown> | undefined;
    const end = () => (finished ??= finish());
    programs.push(end);
    return { end };
  }

  async function step(client: MongoClient, session: ClientSession, kind: Kind): Promise<void> {
    const items = client.db('shop').collection('items');
    if (kind === 'writing') await items.insertOne({}, { session });
    else await items.find({}, { session }).limit(5).toArray();
  }

  const isInterrupted = (error: unknown) => error instanceof MongoServerError && error.code === 11601;

  /** Two seconds of waiting, and a second for the rest, unless what needs no waiting takes longer on this machine now. */
  const limitMs = async () => 2_000 + Math.max(1_000, 3 * (await timed(() => refusedForSpace())));

  it.each(kinds)('(%s) a fork is refused within three seconds and names who holds it up', async (kind) => {
    const program = await busy(kind);
    const before = await folders();
    const refused = engine.refusal('branches.fork', { name: 'held-up' });
    const ms = await timed(() => refused);
    const refusal = await refused;
    expect(refusal).toMatchObject({ code: 'open_transactions', retry: true });
    expect(refusal.message).toMatch(new RegExp(`${kind} program at 127\\.0\\.0\\.1:\\d+, open for \\d+\\.\\d s`));
    expect(refusal.details).toMatchObject({
      transactions: [{ client: expect.stringContaining(`${kind} program`), ageMs: expect.any(Number) }],
    });
    expect(await program.end()).toBe(undefined);
    expect(ms).toBeLessThan(await limitMs());
    expect(await folders()).toEqual(before);
    expect(await watch.harm()).toEqual([]);
  });

  it.each(kinds)('(%s) a fork that may end it is done, names it, and its owner is told to try again', async (kind) => {
    const program = await busy(kind);
    const stalls = new Stalls();
    const { endedTransactions, timings, branch } = await fork('ending', { endTransactions: true });
    const stalledMs = stalls.ms;
    stalls.stop();
    expect(endedTransactions?.map(({ client }) => client)).toEqual([expect.stringContaining(`${kind} program`)]);
    expect(endedTransactions?.[0]?.ageMs).toBeGreaterThanOrEqual(1_950);
    expect(branch.state).toBe('live');
    const told = await program.end();
    expect(timings.lock_ms - stalledMs).toBeLessThan(await limitMs());
    // A command that was just being carried out is interrupted; drivers do not retry that by themselves.
    if (kind === 'idle' || !isInterrupted(told))
      expect(told).toMatchObject({ errorLabels: expect.arrayContaining(['TransientTransactionError']) });
    expect(await watch.harm()).toEqual([]);
  });

  it('the command exits 1 and says so as JSON', async () => {
    const program = await busy('idle');
    const { code, out, err } = await CommandYard.on(engine.data).run('fork', 'held-up', '--json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'open_transactions', retry: true } });
    expect(await program.end()).toBe(undefined);
    expect(await watch.harm()).toEqual([]);
  });

  it('one who may end transactions is not refused with one who may not', async () => {
    const program = await busy('idle');
    const flushed = await flushes();
    const polite = fork('polite').catch((error: unknown) => error);
    // It is at work on main by now, and waits.
    await until('its flush', async () => (await flushes()) > flushed);
    const { endedTransactions } = await fork('impolite', { endTransactions: true });
    expect(endedTransactions).toHaveLength(1);
    await program.end();
    await polite;
    expect(await watch.harm()).toEqual([]);
  });
});

describe('a fork', () => {
  it('leaves main alone together with others that are asked for at once', async () => {
    const forks = await Promise.all(['one', 'two', 'three', 'four'].map((name) => fork(name)));
    expect(forks.map(({ branch }) => branch.state)).toEqual(['live', 'live', 'live', 'live']);
    expect(await watch.harm()).toEqual([]);
  });

  it('works while an index is being built, and the clone finishes the build', async () => {
    const big = main.db('shop').collection('big');
    const words = (n: number) => Array.from({ length: 60 }, (_, i) => `${n * 31 + i * 7919}`);
    const names = Array.from({ length: 6 }, (_, i) => `words_${i}`);
    const specs = names.map((name) => ({ name, key: { words: 1, [name]: 1 } }));
    const builds = { $match: { 'command.createIndexes': 'big' } };
    let built = true;
    // A build that ended before the lock is no case: again with more of it.
    for (let documents = 6_000; built && documents < 100_000; documents *= 2) {
      await discard('building').catch(() => undefined);
      await big.drop();
      await big.insertMany(Array.from({ length: documents }, (_, n) => ({ n, words: words(n) })));
      built = false;
      const building = big.createIndexes(specs).finally(() => (built = true));
      await until('a running build', async () => {
        const running = await watch.main
          .db('admin')
          .aggregate([{ $currentOp: { allUsers: true } }, builds])
          .toArray();
        return built || running.length > 0;
      });
      const forked = fork('building');
      await until('the lock', async () => built || (await watch.isLocked()));
      const endedBefore = built;
      await forked;
      await building;
      built = endedBefore;
    }
    expect(built).toBe(false);
    const clone = (await engine.outside('building')).db('shop').collection('big');
    await until('the indexes in the clone', async () => {
      const found = await clone
        .find({ words: words(5)[0]! })
        .hint('words_5')
        .toArray()
        .catch(() => []);
      return found.length > 0;
    });
    expect((await clone.indexes()).map(({ name }) => name).sort()).toEqual(['_id_', ...names]);
    const inside = (await engine.inside((await row('building'))._id)).db('shop');
    expect(await inside.command({ validate: 'big', full: true })).toMatchObject({ valid: true });
    await big.drop();
    // Whoever writes waits for the end of a sort, too, where it began just before the lock was asked for.
    expect(await watch.harm({ beyondMs: 2_000 })).toEqual([]);
  });

  it('of a sandbox locks the sandbox and not main', async () => {
    await fork('parent');
    const parent = (await engine.outside('parent')).db('shop').collection('items');
    await parent.updateOne({}, { $set: { by: 'parent' } });
    const before = await lockCount();
    const { branch } = await fork('child', { from: 'parent' });
    expect(branch.parent).toBe('parent');
    expect((await lockCount()) - before).toBe(0);
    const child = (await engine.outside('child')).db('shop').collection('items');
    expect(await child.countDocuments({ by: 'parent' })).toBe(1);
    expect((await engine.call('diff.get', { branch: 'child' })).summary).toEqual([]);
    expect(await engine.refusal('branches.discard', { branch: 'parent' })).toMatchObject({ code: 'has_children' });
    expect(await watch.harm()).toEqual([]);
  });

  it('that is empty holds nothing and does not lock main', async () => {
    const before = await lockCount();
    await fork('blank', { empty: true });
    const blank = await engine.outside('blank');
    expect((await blank.db('admin').admin().listDatabases()).databases.map(({ name }) => name)).not.toContain('shop');
    await blank.db('new').collection('things').insertOne({ a: 1 });
    expect((await lockCount()) - before).toBe(0);
    expect(await watch.harm()).toEqual([]);
  });

  it('of an expired sandbox copies its files, and starts no server of it', async () => {
    const { branch } = await fork('short', { ttlMs: 60_000 });
    await (
      await engine.outside('short')
    )
      .db('shop')
      .collection('items')
      .updateOne({}, { $set: { by: 'short' } });
    await watch.home
      .db('forkyard')
      .collection<{ _id: string }>('branches')
      .updateOne({ _id: branch.id }, { $set: { expiresAt: new Date() } });
    // Whatever changes the list wakes the sweep.
    await fork('waking');
    await until('its end', async () => (await row('short')).state === 'expired');
    const before = await lockCount();
    await fork('from-expired', { from: 'short' });
    const items = (await engine.outside('from-expired')).db('shop').collection('items');
    expect(await items.countDocuments({ by: 'short' })).toBe(1);
    expect((await lockCount()) - before).toBe(0);
    expect((await row('short')).state).toBe('expired');
    await expect(engine.server(branch.id)).rejects.toThrow('no server runs');
    expect(await watch.harm()).toEqual([]);
  });
});

/** A file's text so far; empty where it does not exist yet. */
const readText = (path: string) => readFile(path, 'utf8').catch(() => '');

/** A fork of main while a file lies there that is larger than any disk to who asks, and empty on this one. */
async function refusedForSpace(): Promise<ForkyardError> {
  const file = join(engine.data, 'branches', 'main', 'db', 'ballast');
  await writeFile(file, '');
  await truncate(file, 8e12);
  const refusal = await engine.refusal('branches.fork', { name: 'too-large' });
  await rm(file);
  return refusal;
}

async function row(name: string) {
  const found = (await watch.branches()).find((each) => each.name === name && each.active);
  if (!found) throw new Error(`no branch ${name}`);
  return found;
}

describe('a fork that fails', () => {
  const longestPath = 4_094;

  it('for want of space is refused with both numbers, and leaves nothing', async () => {
    const before = await folders();
    const refusal = await refusedForSpace();
    expect(refusal).toMatchObject({ code: 'no_space', details: { neededBytes: expect.any(Number) } });
    expect(refusal.message).toMatch(/needs [\d,]+ MB, and [\d,]+ MB are free/);
    expect(await folders()).toEqual(before);
    expect(await watch.harm()).toEqual([]);
  });

  it('in the middle of its copy leaves nothing', async () => {
    const before = await folders();
    // As long as a path can be: in the clone's folder, whose name is longer, it is too long.
    const root = join(engine.data, 'branches', 'main', 'db');
    const parts: string[] = [];
    let left = longestPath - root.length;
    for (; left > 202; left -= 201) parts.push('d'.repeat(200));
    const folder = join(root, ...parts);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'f'.repeat(left - 1)), '');
    const outcome = await engine.refusal('branches.fork', { name: 'too-deep' });
    await rm(join(root, parts[0]!), { recursive: true });
    expect(outcome.message).toContain('ENAMETOOLONG');
    expect(await folders()).toEqual(before);
    expect(await watch.harm()).toEqual([]);
  });

  /** Messages of a server: it waits for connections; it has become primary. */
  const signs = [
    ['as soon as it runs', undefined],
    ['when it answers', 23016],
    ['when it is primary', 21331],
  ] as const;

  it.each(signs)('because its server was killed %s leaves nothing, and says so soon', async (_when, sign) => {
    const before = await folders();
    let outcome: unknown;
    // A fork that was faster than the kill is no case: again.
    for (let attempt = 0; attempt < 20 && !(outcome instanceof Error); attempt += 1) {
      const known = (await engine.servers()).map(({ pid }) => pid);
      const forked = fork('killed').catch((error: unknown) => error);
      const fresh = async () => (await engine.servers()).find(({ pid }) => !known.includes(pid));
      await until('its server', async () => (await fresh()) !== undefined);
      const server = (await fresh())!;
      const log = join(dirname(server.dbPath), 'mongod.log');
      if (sign) await until('its log', async () => (await readText(log)).includes(`"id":${sign},`));
      process.kill(server.pid, 'SIGKILL');
      expect(await timed(() => forked)).toBeLessThan(5_000);
      outcome = await forked;
      if (!(outcome instanceof Error)) await discard('killed');
    }
    expect(outcome).toMatchObject({ code: 'mongod_failed', retry: true });
    expect(await folders()).toEqual(before);
    expect(await watch.harm()).toEqual([]);
  });

  it('because its name was taken in a race leaves the other alone', async () => {
    const outcomes = await Promise.allSettled([fork('race'), fork('race'), fork('race')]);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(['name_taken', 'name_taken']);
    expect((await folders()).length).toBe(2);
    expect(await watch.harm()).toEqual([]);
  });

  it('while a sandbox is in the making, that cannot be discarded', async () => {
    let refusal: unknown;
    // One that was made before it could be discarded is no case: again.
    for (let attempt = 0; attempt < 20 && refusal === undefined; attempt += 1) {
      const making = fork('making');
      await until('its row', async () =>
        (await watch.branches()).some(({ name, active }) => active && name === 'making'),
      );
      refusal = await discard('making').then(
        () => undefined,
        (error: unknown) => error,
      );
      await making;
    }
    expect(refusal).toMatchObject({ code: 'branch_not_live', retry: true });
    expect(await watch.harm()).toEqual([]);
  });
});
