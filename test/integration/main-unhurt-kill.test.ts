import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineProcess, stillRuns } from '../harness/engine-process.ts';
import { MainWatch } from '../harness/main-watch.ts';
import { timed } from '../harness/own-time.ts';
import { until } from '../harness/until.ts';

/** The engine is killed at every step of what touches main, while a program writes to main without pause. */
const documents = 1_000;
/** Something to copy, so that there is time between lock and unlock. Not data of the server's: it does not mind. */
const ballastBytes = 64 * 1024 * 1024;

let engine: EngineProcess;
let watch: MainWatch;
beforeAll(async () => {
  engine = await EngineProcess.open();
  const main = await engine.outside('main');
  const items = Array.from({ length: documents }, (_, _id) => ({ _id, state: 'old', text: 'x'.repeat(300) }));
  await main.db('shop').collection<{ _id: number }>('items').insertMany(items);
  await ballast();
  watch = await MainWatch.start(engine);
});
afterAll(async () => {
  await watch.stop();
  await engine.close();
});

async function ballast(): Promise<void> {
  const folder = join(engine.data, 'branches', 'main', 'db', 'ballast');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'file'), 'x');
  await truncate(join(folder, 'file'), ballastBytes);
}

/** Begins something, kills the engine once `reached` is true of it, starts it again, and looks at main. */
async function killWhen(begin: () => Promise<unknown>, reached: () => Promise<boolean> | boolean): Promise<void> {
  let over = false;
  const begun = begin()
    .catch(() => undefined)
    .finally(() => (over = true));
  await until('the step', async () => over || (await reached()));
  const killedAt = Date.now();
  await engine.kill();
  await begun;
  // Without any engine: main does not wait for one to come back.
  await until('the end of the lock', async () => !(await watch.isLocked()));
  await watch.writer.writes(3);
  await engine.start();
  expect(await watch.harm({ killedAt })).toEqual([]);
}

/** True from `ms` after the first look on. */
function after(ms: number): () => boolean {
  let from: number | undefined;
  return () => performance.now() - (from ??= performance.now()) >= ms;
}

async function branchNamed(name: string) {
  return (await watch.branches()).find((each) => each.name === name && each.active);
}

let forks = 0;
const nextName = () => `kill-${(forks += 1)}`;

describe('a fork of main', () => {
  const isStarting = async () => (await watch.branches()).some(({ state }) => state === 'starting');
  const steps: [string, (before: readonly string[]) => Promise<boolean>][] = [
    ['its row appears', isStarting],
    ['main is locked', () => watch.isLocked()],
    [
      'its files appear',
      async (before) => (await readdir(join(engine.data, 'branches'))).some((name) => !before.includes(name)),
    ],
    ['main is unlocked again', async () => (await watch.locks()).length > locksBefore && !(await watch.isLocked())],
    ['its server runs', async () => (await engine.servers()).length > serversBefore],
  ];
  let locksBefore = 0;
  let serversBefore = 0;

  it.each(steps)('leaves nothing when the engine is killed as soon as %s', async (_step, reached) => {
    const name = nextName();
    locksBefore = (await watch.locks()).length;
    serversBefore = (await engine.servers()).length;
    const before = await readdir(join(engine.data, 'branches'));
    await killWhen(
      () => engine.call('branches.fork', { name }),
      () => reached(before),
    );
    expect(await branchNamed(name)).toBe(undefined);
    expect(await readdir(join(engine.data, 'branches'))).toEqual(before);
  });

  it.each([0.1, 0.3, 0.5, 0.7, 0.9])('is whole or not there when the engine is killed at %f of it', async (share) => {
    const name = nextName();
    const { timings } = await engine.call('branches.fork', { name: `${name}-whole` });
    await engine.call('branches.discard', { branch: `${name}-whole`, now: true });
    await killWhen(() => engine.call('branches.fork', { name }), after(share * timings.total_ms));
    if (!(await branchNamed(name))) return;
    const sandbox = await engine.outside(name);
    expect(await sandbox.db('shop').collection('items').countDocuments()).toBe(documents);
    await engine.call('branches.discard', { branch: name, now: true });
  });
});

describe('an adoption and its undo', () => {
  /** How many documents of main are as the sandbox has them: all or none. */
  const adopted = () => watch.main.db('shop').collection('items').countDocuments({ state: 'new' });
  const plans = () =>
    watch.home.db('forkyard').collection<{ _id: string; state: string; transactions?: unknown[] }>('plans');
  const applying = async () => (await plans().countDocuments({ state: 'applying' })) > 0;
  const committing = async () =>
    (await plans().countDocuments({ state: 'applying', 'transactions.0': { $exists: true } })) > 0;
  const written = async () => (await adopted()) === documents;
  const takenBack = async () => (await adopted()) === 0;
  const sandbox = 'adopted';
  const log = async () => (await engine.call('log.list', {})).filter(({ kind }) => kind === 'adopt' || kind === 'undo');

  beforeAll(async () => {
    await engine.call('branches.fork', { name: sandbox, ttlMs: null });
    const client = await engine.outside(sandbox);
    await client
      .db('shop')
      .collection('items')
      .updateMany({}, { $set: { state: 'new' } });
  });

  /** What the log says last is what main holds. */
  async function expectWhole(): Promise<void> {
    const [last] = (await log()).sort((a, b) => b.time.localeCompare(a.time));
    expect(await adopted()).toBe(last?.kind === 'adopt' ? documents : 0);
    expect(await plans().countDocuments({ state: 'applying' })).toBe(0);
  }

  it.each([
    ['when it begins', applying],
    ['before it commits', committing],
    ['when it is written', written],
  ])('an adoption is whole or not there when the engine is killed %s', async (_step, reached) => {
    await killWhen(() => engine.call('plan.adopt', { branch: sandbox }), reached);
    await expectWhole();
    if (!(await written())) await engine.call('plan.adopt', { branch: sandbox });
    expect(await adopted()).toBe(documents);
    await undoLast();
  });

  it.each([
    ['when it begins', applying],
    ['before it commits', committing],
    ['when it is written', takenBack],
  ])('an undo is whole or not there when the engine is killed %s', async (_step, reached) => {
    const { entry } = await engine.call('plan.adopt', { branch: sandbox });
    await killWhen(() => engine.call('log.undo', { entry: entry! }), reached);
    await expectWhole();
    if (!(await takenBack())) await engine.call('log.undo', { entry: entry! });
    expect(await adopted()).toBe(0);
  });

  async function undoLast(): Promise<void> {
    const last = (await log()).filter(({ kind, undoneBy }) => kind === 'adopt' && undoneBy === undefined).at(-1);
    await engine.call('log.undo', { entry: last!.entry });
    expect(await adopted()).toBe(0);
  }

  it('what the engine was just writing in main is free at once when it is killed, and main can be forked', async () => {
    const items = watch.main.db('shop').collection<{ _id: number }>('items');
    const open = () =>
      watch.main
        .db('admin')
        .aggregate([
          { $currentOp: { allUsers: true, idleSessions: true } },
          { $match: { 'transaction.parameters.autocommit': false, appName: 'forkyard-engine' } },
        ])
        .toArray();
    let work: Promise<unknown> = Promise.resolve();
    let over = true;
    // An adoption that no look met is no case: again.
    for (let attempt = 0; over && attempt < 20; attempt += 1) {
      over = false;
      work = engine
        .call('plan.adopt', { branch: sandbox })
        .catch(() => undefined)
        .finally(() => (over = true));
      await until('a transaction', async () => over || (await open()).length > 0);
      if (over) await undoLast();
    }
    expect(over).toBe(false);
    await engine.kill();
    const ms = await timed(async () => {
      await items.updateMany({ _id: { $lt: documents } }, { $set: { touched: 1 } });
      await until('the end of the transaction', async () => (await open()).length === 0);
    });
    // The server itself would end it after a minute.
    expect(ms).toBeLessThan(5_000);
    await work;
    await engine.start();
    await items.updateMany({}, { $unset: { touched: 1 } });
    await expectWhole();
    await engine.call('branches.fork', { name: 'free' });
    await engine.call('branches.discard', { branch: 'free', now: true });
    expect(await watch.harm()).toEqual([]);
  });
});

describe('a discard', () => {
  it.each([
    ['its server has gone', false, (id: string) => async () => !(await runs(id))],
    ['its files are moved', false, (id: string) => async () => !(await hasFolder(id))],
    ['its server has gone, for good', true, (id: string) => async () => !(await runs(id))],
    ['its files are removed', true, (id: string) => async () => !(await hasFolder(id))],
  ] as const)('is done or not begun when the engine is killed as soon as %s', async (_step, now, reached) => {
    const name = nextName();
    const { branch } = await engine.call('branches.fork', { name });
    await killWhen(() => engine.call('branches.discard', { branch: name, now }), reached(branch.id));
    if (await branchNamed(name)) {
      const sandbox = await engine.outside(name);
      expect(await sandbox.db('shop').collection('items').countDocuments()).toBe(documents);
      await engine.call('branches.discard', { branch: name, now: true });
    }
    expect(await runs(branch.id)).toBe(false);
  });

  const runs = async (id: string) =>
    engine.server(id).then(
      (server) => stillRuns(server),
      () => false,
    );
  const hasFolder = async (id: string) => (await readdir(join(engine.data, 'branches'))).includes(id);
});
