import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GuardMessage } from '../../electron/engine/mongod/lock-guard.ts';
import { isAlive } from '../../electron/engine/mongod/identity.ts';
import { noneIsOpen, openTransactions } from '../../electron/engine/mongod/transactions.ts';
import { withWriterLock, type LockGuard } from '../../electron/engine/mongod/writer-lock.ts';
import { EngineProcess } from '../harness/engine-process.ts';
import { MainWatch } from '../harness/main-watch.ts';
import { until } from '../harness/until.ts';

/** The writer lock, and the small process that ends it when the engine cannot. */
let engine: EngineProcess;
let watch: MainWatch;
beforeAll(async () => {
  engine = await EngineProcess.open();
  watch = await MainWatch.start(engine);
});
afterAll(async () => {
  await watch.stop();
  await engine.close();
});
beforeEach(() => watch.forgetStalls());

const lock = () => watch.main.db('admin').command({ fsync: 1, lock: true });
/** From the last lock of main to its end, by main's own log, milliseconds. */
async function lastHeldMs(): Promise<number> {
  const last = (await watch.locks()).at(-1);
  return (last?.unlockedAt ?? Number.POSITIVE_INFINITY) - (last?.lockedAt ?? 0);
}

describe('the lock guard by itself', () => {
  const program = fileURLToPath(new URL('../../dist/engine/lock-guard.js', import.meta.url));

  async function startGuard() {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
    const tell = (message: GuardMessage) => child.stdin.write(`${JSON.stringify(message)}\n`);
    tell({ credentials: await engine.credentials() });
    await until('ready', () => said.includes('ready'));
    const arm = async (port: number) => {
      tell({ arm: port });
      await until('armed', () => said.includes(String(port)));
    };
    return { child, tell, arm };
  }

  /** What happens to the guard when the engine dies: nothing more comes in. Resolves when it has ended itself. */
  async function leave(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit');
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
  }

  it('unlocks when the engine has gone, within a tenth of a second', async () => {
    const { port } = await engine.server('main');
    const held: number[] = [];
    // A busy machine may be late at any one of them.
    for (let time = 0; time < 5 || (time < 25 && Math.min(...held) >= 100); time += 1) {
      const { child, arm } = await startGuard();
      await arm(port);
      await lock();
      await leave(child);
      held.push(await lastHeldMs());
    }
    expect(Math.min(...held)).toBeLessThan(100);
    expect(await watch.harm()).toEqual([]);
  });

  it('leaves alone what it was told to leave', async () => {
    const { port } = await engine.server('main');
    const { child, arm, tell } = await startGuard();
    await arm(port);
    tell({ disarm: port });
    await lock();
    await leave(child);
    expect(await watch.isLocked()).toBe(true);
    await watch.main.db('admin').command({ fsyncUnlock: 1 });
    watch.forgetStalls();
  });

  it('unlocks one server though another has gone', async () => {
    const { branch } = await engine.call('branches.fork', { name: 'going' });
    const [main, sandbox] = await Promise.all([engine.server('main'), engine.server(branch.id)]);
    const { child, arm } = await startGuard();
    await arm(sandbox.port);
    await arm(main.port);
    await engine.call('branches.discard', { branch: 'going', now: true });
    await lock();
    await leave(child);
    expect(await watch.harm({ killedAt: Date.now() })).toEqual([]);
  });

  it('ends a transaction behind which the lock of a dead engine still waits', async () => {
    const { port } = await engine.server('main');
    const { child, arm } = await startGuard();
    await arm(port);
    const other = await engine.outside('main');
    const session = other.startSession();
    session.startTransaction();
    await other.db('shop').collection('items').insertOne({}, { session });
    const locked = lock();
    const pending = { $currentOp: { allUsers: true } };
    const isWaiting = { $match: { 'command.fsync': 1, 'command.lock': true } };
    await until('a lock that waits', async () => {
      return (await watch.main.db('admin').aggregate([pending, isWaiting]).toArray()).length > 0;
    });
    await leave(child);
    await locked;
    await expect(session.commitTransaction()).rejects.toThrow(/transaction/i);
    await session.endSession();
    expect(await watch.harm()).toEqual([]);
  });
});

describe('the lock guard of an engine', () => {
  it('ends with its engine, killed or not', async () => {
    const first = await engine.guard();
    expect(first && (await isAlive(first))).toBe(true);
    await engine.kill();
    expect(await engine.oldGuardsGone()).toBe(true);
    await engine.start();
    expect(await watch.harm()).toEqual([]);
  });

  it('is not needed for a fork: killed, the fork goes on, and the next one has a guard again', async () => {
    const guard = await engine.guard();
    process.kill(guard!.pid, 'SIGKILL');
    await until('its end', async () => !(await isAlive(guard!)));
    await engine.call('branches.fork', { name: 'unguarded' });
    const next = await engine.guard();
    expect(next?.pid).not.toBe(guard!.pid);
    expect(next && (await isAlive(next))).toBe(true);
    await engine.call('branches.discard', { branch: 'unguarded', now: true });
    expect(await watch.harm()).toEqual([]);
  });

  it('that does not answer is not waited for', async () => {
    const guard = await engine.guard();
    process.kill(guard!.pid, 'SIGSTOP');
    try {
      await engine.call('branches.fork', { name: 'stuck' });
    } finally {
      process.kill(guard!.pid, 'SIGKILL');
    }
    await engine.call('branches.discard', { branch: 'stuck', now: true });
    expect(await watch.harm()).toEqual([]);
  });
});

describe('the writer lock', () => {
  const noGuard: LockGuard = { arm: () => Promise.resolve(), disarm: () => undefined };
  const options = { port: 0, endTransactions: () => false, guard: noGuard };

  it.each(['idle', 'writing'])(
    'ends a transaction that began after the look and before the lock (%s), and names it',
    async (kind) => {
      const other = await engine.outside('main', { appName: 'late program' });
      const session = other.startSession();
      const items = other.db('shop').collection('items');
      await items.insertOne({});
      let over = false;
      let writing: Promise<unknown> = Promise.resolve();
      /** The look at open transactions is over when its answer has come; the guard is waited for after that. */
      const looked = new MongoClient(await engine.insideUri('main'), { monitorCommands: true });
      const quiet = new Promise<void>((resolve) => {
        looked.on('commandSucceeded', ({ commandName }) => commandName === 'serverStatus' && resolve());
      });
      const begin = async () => {
        await quiet;
        session.startTransaction();
        await items.insertOne({}, { session });
        if (kind === 'idle') return;
        writing = (async () => {
          while (!over) await items.insertOne({}, { session });
        })().catch(() => undefined);
      };
      const guard: LockGuard = { arm: begin, disarm: () => undefined };
      const { ended, waitedMs } = await withWriterLock(looked, { ...options, guard }, () => Promise.resolve());
      over = true;
      await writing;
      expect(ended.map(({ client }) => client)).toEqual([expect.stringMatching(/^late program at 127\.0\.0\.1:\d+$/)]);
      expect(waitedMs).toBeGreaterThanOrEqual(240);
      await session.abortTransaction().catch(() => undefined);
      await session.endSession();
      await looked.close();
      expect(await openTransactions(watch.main)).toEqual([]);
      expect(await watch.harm()).toEqual([]);
    },
  );

  it('is not asked for while a transaction is open, however busy that is', async () => {
    const other = await engine.outside('main', { appName: 'busy program' });
    const items = other.db('shop').collection('items');
    const session = other.startSession();
    session.startTransaction();
    // It is open once its first write is answered, not before: a look that comes earlier is right to find none.
    await items.insertOne({}, { session });
    let over = false;
    const writing = (async () => {
      while (!over) await items.insertOne({}, { session });
    })();
    // A single look misses it now and then.
    const quiet = () => openTransactions(watch.main).then((open) => open.length === 0 && noneIsOpen(watch.main));
    try {
      for (let look = 0; look < 300; look += 1) expect(await quiet()).toBe(false);
    } finally {
      over = true;
      await writing;
      await session.abortTransaction();
      await session.endSession();
    }
    expect(await watch.harm()).toEqual([]);
  });

  it('is given back when what was done under it fails', async () => {
    const failing = withWriterLock(watch.main, options, () => Promise.reject(new Error('the copy failed')));
    await expect(failing).rejects.toThrow('the copy failed');
    expect(await watch.harm()).toEqual([]);
  });

  it('does not pass off a copy as good when somebody else unlocked meanwhile', async () => {
    const unlocked = withWriterLock(watch.main, options, () => watch.main.db('admin').command({ fsyncUnlock: 1 }));
    await expect(unlocked).rejects.toMatchObject({ code: 'mongod_failed', retry: true });
    expect(await watch.harm()).toEqual([]);
  });
});
