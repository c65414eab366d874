import { isDeepStrictEqual } from 'node:util';
import type { MongoClient, Timestamp } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { waitForSorts } from './index-builds.ts';
import { lastWriteTime } from './replica.ts';
import { endTransactions, noneIsOpen, openTransactions, type OpenTransaction } from './transactions.ts';

/** Lets go of what the engine holds in a server should the engine die: the writer lock, and its own transactions. */
export interface LockGuard {
  /** Watches over this server from here on. Resolves when the guard knows, or there is none. */
  arm(port: number): Promise<void>;
  disarm(port: number): void;
}

export interface LockOptions {
  readonly port: number;
  /** Whether to end transactions that stay open instead of refusing; asked when that is known. */
  readonly endTransactions: () => boolean;
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
/** One look may miss a transaction at work (see {@link noneIsOpen}): only so many that name no long one say there is none. */
const lastLooks = 6;
const lockPatienceMs = 250;
/** With the engine gone nobody has any use for the lock that it was waiting for. */
const orphanPatienceMs = 50;

/**
 * Runs `work` while the server's files stand still: all writers wait, readers do not.
 *
 * The lock waits behind every open transaction and meanwhile holds up all writers; it ignores maxTimeMS and must never be
 * killed (the server aborts, seen on 6.0.5). So it is asked for only when no transaction is open, or none for long; one
 * that keeps it waiting then is ended after 250 ms and named in the answer.
 * Nothing else may be awaited on this server inside `work`: a commit in flight is acknowledged only after the unlock.
 * @throws ForkyardError `open_transactions`; `mongod_failed` where the server was unlocked before `work` was done
 */
export async function withWriterLock<T>(
  client: MongoClient,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<Locked<T>> {
  const { guard, port } = options;
  const armed = guard.arm(port);
  try {
    const ended = await makeQuiet(client, options.endTransactions);
    await armed;
    await waitForSorts(client);
    return await locked(client, ended, work);
  } finally {
    await armed;
    guard.disarm(port);
  }
}

/** Afterwards no transaction is open for long, and the lock finds little to flush. */
async function makeQuiet(client: MongoClient, mayEnd: () => boolean): Promise<OpenTransaction[]> {
  const deadline = performance.now() + quietWaitMs;
  // The first lock of a dirty server took up to 9 s.
  await client.db('admin').command({ fsync: 1 });
  const open = await waitUntilQuiet(client, deadline);
  if (open.length > 0 && !mayEnd()) throw stillOpen(open);
  await endTransactions(client, open);
  return open;
}

async function locked<T>(
  client: MongoClient,
  endedBefore: readonly OpenTransaction[],
  work: () => Promise<T>,
): Promise<Locked<T>> {
  const ended = [...endedBefore];
  const asked = performance.now();
  let result: Locked<T>;
  let wasLocked: boolean;
  try {
    await impatiently(client, ended, client.db('admin').command({ fsync: 1, lock: true }));
    const from = performance.now();
    // Answered from memory: not held up by the lock.
    const clusterTime = await lastWriteTime(client);
    const value = await work();
    result = { value, clusterTime, ended, waitedMs: from - asked, heldMs: performance.now() - from };
  } finally {
    wasLocked = await unlock(client);
  }
  if (!wasLocked) {
    throw new ForkyardError('mongod_failed', 'The files did not stand still while they were copied.', { retry: true });
  }
  return result;
}

/** Waits for a lock that is being taken; transactions that keep it waiting are ended, and told in `ended`. */
async function impatiently<T>(
  client: MongoClient,
  ended: OpenTransaction[],
  taking: Promise<T>,
  patienceMs = lockPatienceMs,
): Promise<T> {
  const endLate = async () => {
    const late = await openTransactions(client);
    await endTransactions(client, late);
    // One that takes its time to end is seen again.
    ended.push(...late.filter(({ lsid }) => !ended.some((known) => isDeepStrictEqual(known.lsid, lsid))));
  };
  const timer = setInterval(() => void endLate().catch(() => undefined), patienceMs);
  try {
    return await taking;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Unlocks however often the server was locked, and waits for a lock that is just being taken. Safe to call on an
 * unlocked one: so every start does.
 * @returns whether it was locked
 */
async function unlock(client: MongoClient): Promise<boolean> {
  for (let wasLocked = false; ; wasLocked = true) {
    const reply = await client
      .db('admin')
      .command({ fsyncUnlock: 1 })
      .catch((error: unknown) => {
        if (/not locked/i.test(String(error))) return undefined;
        throw error;
      });
    if (reply === undefined) return wasLocked;
    if (Number(reply['lockCount']) === 0) return true;
  }
}

/**
 * Lets go of everything that an engine which is gone held in a server: writers would wait for its lock for ever, and for
 * a transaction that it had open a minute. Where it was still waiting for its lock, what keeps it waiting is ended.
 */
export async function letGo(client: MongoClient): Promise<void> {
  await impatiently(client, [], unlock(client), orphanPatienceMs);
  const open = await openTransactions(client);
  await endTransactions(
    client,
    open.filter(({ own }) => own),
  );
}

/**
 * The transactions that were open all the time until the deadline; none as soon as none is open. Short ones that follow
 * each other without a pause are no reason to refuse: the lock waits for the one of that moment.
 */
async function waitUntilQuiet(client: MongoClient, deadline: number): Promise<OpenTransaction[]> {
  for (let looksLeft = lastLooks; ;) {
    const open = await openTransactions(client);
    if (open.length === 0 && (await noneIsOpen(client))) return [];
    if (performance.now() > deadline) {
      const long = open.filter(({ ageMs }) => ageMs >= quietWaitMs);
      looksLeft -= 1;
      if (long.length > 0 || looksLeft === 0) return long;
    }
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
      hint: 'Commit or abort them, or fork with --end-transactions; their owners then get an error, in most cases one that drivers retry.',
      retry: true,
      details: { transactions: open.map(({ client: name, ageMs }) => ({ client: name, ageMs })) },
    },
  );
}
