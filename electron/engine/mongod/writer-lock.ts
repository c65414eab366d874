import type { MongoClient, Timestamp } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { lastWriteTime } from './replica.ts';
import { endTransactions, openTransactions, type OpenTransaction } from './transactions.ts';

export interface LockGuard {
  /** From here on the guard unlocks this server should the engine die. Resolves when the guard knows. */
  arm(port: number): Promise<void>;
  disarm(port: number): void;
}

export interface LockOptions {
  readonly port: number;
  /** End transactions that stay open instead of refusing. */
  readonly endTransactions: boolean;
  readonly guard: LockGuard;
}

export interface Locked<T> {
  readonly value: T;
  /** The state that the files hold: everything up to this cluster time, nothing after. */
  readonly clusterTime: Timestamp;
  readonly ended: readonly OpenTransaction[];
  /** From asking for the lock to having it, milliseconds. */
  readonly waitedMs: number;
  readonly heldMs: number;
}

const quietWaitMs = 2_000;
const lockPatienceMs = 250;

/**
 * Runs `work` while the server's files stand still: all writers wait, readers do not.
 *
 * The lock waits behind every open transaction and meanwhile holds up all writers; it ignores maxTimeMS and must never be
 * killed (the server aborts, seen on 6.0.5). So it is asked for only when no transaction is open; one that began in
 * between is ended after 250 ms and named in the answer.
 * Nothing else may be awaited on this server inside `work`: a commit in flight is acknowledged only after the unlock.
 * @throws ForkyardError `open_transactions`
 */
export async function withWriterLock<T>(
  client: MongoClient,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<Locked<T>> {
  const admin = client.db('admin');
  // Flush first, so that the lock finds little to do: the first lock of a dirty server took up to 9 s.
  await admin.command({ fsync: 1 });
  const ended: OpenTransaction[] = [];
  const open = await waitUntilQuiet(client);
  if (open.length > 0) {
    if (!options.endTransactions) throw stillOpen(open);
    await endTransactions(client, open);
    ended.push(...open);
  }
  await options.guard.arm(options.port);
  const asked = performance.now();
  let granted = false;
  const lock = admin.command({ fsync: 1, lock: true }).finally(() => (granted = true));
  const impatience = setInterval(() => {
    if (granted) return;
    void endLate(client, ended).catch(() => undefined);
  }, lockPatienceMs);
  try {
    await lock;
    clearInterval(impatience);
    const locked = performance.now();
    // Answered from memory: not held up by the lock.
    const clusterTime = await lastWriteTime(client);
    const value = await work();
    const done = performance.now();
    return {
      value,
      clusterTime,
      ended,
      waitedMs: locked - asked,
      heldMs: done - locked,
    };
  } finally {
    clearInterval(impatience);
    await unlock(client);
    options.guard.disarm(options.port);
  }
}

async function endLate(client: MongoClient, ended: OpenTransaction[]): Promise<void> {
  const late = await openTransactions(client);
  await endTransactions(client, late);
  ended.push(...late);
}

/** Unlocks however often the server was locked. Safe to call on an unlocked one: so every start does. */
export async function unlock(client: MongoClient): Promise<void> {
  for (;;) {
    const reply = await client
      .db('admin')
      .command({ fsyncUnlock: 1 })
      .catch((error: unknown) => {
        if (/not locked/i.test(String(error))) return undefined;
        throw error;
      });
    if (reply === undefined || Number(reply['lockCount']) === 0) return;
  }
}

async function waitUntilQuiet(client: MongoClient): Promise<OpenTransaction[]> {
  const deadline = performance.now() + quietWaitMs;
  for (;;) {
    const open = await openTransactions(client);
    if (open.length === 0 || performance.now() > deadline) return open;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function stillOpen(open: readonly OpenTransaction[]): ForkyardError {
  const [first] = open;
  const others = open.length > 1 ? ` and ${open.length - 1} more` : '';
  return new ForkyardError(
    'open_transactions',
    `The fork has to wait for open transactions, and they did not end within 2 s: ${first?.client ?? 'a client'}, open for ${((first?.ageMs ?? 0) / 1000).toFixed(1)} s${others}.`,
    {
      hint: 'Commit or abort them, or fork with --end-transactions; their owners then get an error that drivers retry.',
      retry: true,
      details: { transactions: open.map(({ client: name, ageMs }) => ({ client: name, ageMs })) },
    },
  );
}
