import type { MongoClient, Timestamp } from 'mongodb';
import { cloneFiles, dataFiles, sharesBlocks, type CloneResult } from '../mongod/clone.ts';
import { requireSpace } from '../mongod/disk-space.ts';
import type { OpenTransaction } from '../mongod/transactions.ts';
import { withWriterLock, type LockGuard } from '../mongod/writer-lock.ts';

export interface GateResult extends CloneResult {
  /** Undefined for cold files: the parent was not running. */
  readonly clusterTime: Timestamp | undefined;
  readonly ended: readonly OpenTransaction[];
  readonly lockMs: number;
  readonly copyMs: number;
}

interface Job {
  readonly to: string;
  readonly endTransactions: boolean;
  readonly resolve: (result: GateResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface GateOptions {
  readonly client: MongoClient;
  readonly port: number;
  /** The data folder to clone. */
  readonly files: string;
  /** A path on the same file system to try block sharing at. */
  readonly scratch: string;
  readonly guard: LockGuard;
  /** Tells capture that the branch is being forked, and then when; undefined where it came to nothing. */
  readonly beginFork: () => (at: Timestamp | undefined) => void;
  /** Runs a lock and its copies when nothing else that must not meet them runs on the branch; throws where it ended. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Clones one running server's files. Forks asked for while a lock is being waited for share it. */
export class ForkGate {
  private readonly options: GateOptions;
  private waiting: Job[] = [];
  private running = false;

  constructor(options: GateOptions) {
    this.options = options;
  }

  clone(to: string, endTransactions: boolean): Promise<GateResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ to, endTransactions, resolve, reject });
      if (!this.running) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.running = true;
    // A turn of the event loop, so that forks asked for at once come together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.round();
    this.running = false;
  }

  private async round(): Promise<void> {
    const jobs: Job[] = [];
    try {
      await this.options.inTurn(() => this.lockAndClone(jobs));
    } catch (error) {
      if (jobs.length === 0) jobs.push(...this.waiting.splice(0));
      for (const job of jobs) job.reject(error);
    }
  }

  /** Whoever waits when the lock is had is cloned under it, and told in `jobs`. */
  private async lockAndClone(jobs: Job[]): Promise<void> {
    const { client, port, files, scratch, guard, beginFork } = this.options;
    const endTransactions = () => this.waiting.some((job) => job.endTransactions);
    const share = await sharesBlocks(`${files}/WiredTiger`, scratch);
    const started = performance.now();
    const forked = beginFork();
    const locked = await withWriterLock(client, { port, endTransactions, guard }, async () => {
      jobs.push(...this.waiting.splice(0));
      return cloneAll(files, jobs, share);
    }).catch((error: unknown) => {
      forked(undefined);
      throw error;
    });
    const { clusterTime, ended, heldMs } = locked;
    forked(clusterTime);
    const lockMs = performance.now() - started - heldMs;
    jobs.forEach((job, index) => {
      const outcome = locked.value[index]!;
      if (outcome.status === 'rejected') job.reject(outcome.reason);
      else job.resolve({ ...outcome.value, clusterTime, ended, lockMs, copyMs: heldMs });
    });
  }
}

async function cloneAll(
  files: string,
  jobs: readonly Job[],
  share: boolean,
): Promise<PromiseSettledResult<CloneResult>[]> {
  // Listed once, under the lock, for all.
  const list = await dataFiles(files);
  if (!share) await requireSpace(files, jobs.length * list.reduce((sum, file) => sum + file.bytes, 0));
  return Promise.allSettled(jobs.map((job) => cloneFiles(files, list, job.to, share)));
}

/** Clones the files of a server that is not running: no lock, and the parent is not started. */
export async function cloneCold(files: string, to: string, scratch: string): Promise<GateResult> {
  const started = performance.now();
  const share = await sharesBlocks(`${files}/WiredTiger`, scratch);
  const list = await dataFiles(files);
  if (!share)
    await requireSpace(
      files,
      list.reduce((sum, file) => sum + file.bytes, 0),
    );
  const result = await cloneFiles(files, list, to, share);
  return { ...result, clusterTime: undefined, ended: [], lockMs: 0, copyMs: performance.now() - started };
}
