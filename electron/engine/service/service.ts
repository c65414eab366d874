import { setTimeout as passed } from 'node:timers/promises';
import type { Event, Method, Output, Parsed } from '../../../shared/api.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { resolveMongod, type Mongod } from '../mongod/binary/resolve.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import { ExpirySweep } from '../branches/expiry.ts';
import { BranchRows } from '../branches/rows.ts';
import { Workspace } from '../branches/workspace.ts';
import { emptyTrash } from '../branches/discard.ts';
import { settleGaps, type GapSettling } from '../branches/settle-gaps.ts';
import type { CallContext, Engine, EngineOptions } from './contract.ts';
import { SettingsFile } from '../home/settings.ts';
import { Uploads } from '../transfer/uploads.ts';
import { actorMethods } from './actor-methods.ts';
import { backMethods } from './back-methods.ts';
import { branchMethods } from './branch-methods.ts';
import { changeMethods } from './change-methods.ts';
import { dataMethods } from './data-methods.ts';
import { demoMethods } from './demo-methods.ts';
import { pinMethods } from './pin-methods.ts';
import { engineMethods } from './engine-methods.ts';
import { presentLog } from './present.ts';
import { settingsMethods } from './settings-methods.ts';
import { verifyMethods } from './verify-methods.ts';

/** What the methods work with. */
export interface Context {
  readonly workspace: Workspace;
  readonly rows: BranchRows;
  readonly sweep: ExpirySweep;
  readonly mongod: Mongod;
  readonly settings: SettingsFile;
  readonly uploads: Uploads;
  readonly options: EngineOptions;
  readonly waiters: ChangeWaiters;
  readonly gaps: GapSettling;
  readonly emit: (event: Event) => void;
  readonly stop: () => Promise<void>;
}

/** One function per method of the API. */
export type Methods<M extends Method = Method> = {
  readonly [K in M]: (context: Context, input: Parsed<K>, call: CallContext) => Promise<Output<K>>;
};

/** Wakes those who wait for a branch's next change. */
export class ChangeWaiters {
  private readonly waiting = new Map<string, Set<() => void>>();

  notify(branchId: string): void {
    for (const wake of this.waiting.get(branchId) ?? []) wake();
  }

  /** Resolves at the next change of the branch, after `ms`, or when the caller gives up. */
  wait(branchId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.waiting.get(branchId) ?? new Set();
      this.waiting.set(branchId, waiting);
      const done = () => {
        clearTimeout(timer);
        waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      waiting.add(done);
    });
  }
}

/** How often the branch list is told while changes pour in, milliseconds. */
const branchesEveryMs = 1_000;

/** Opens the data folder's workspace and answers the API. @throws ForkyardError where there is no usable mongod */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const settings = await SettingsFile.open(options.data, options.log);
  const uploads = new Uploads(options.data);
  await uploads.clear();
  const named = settings.current.mongod;
  const mongod = await resolveMongod({
    dataDir: options.data,
    ...(named === undefined ? {} : { explicit: named }),
    onProgress: ({ text }) => options.log(text),
  });
  const listeners = new Set<(event: Event) => void>();
  const emit = (event: Event) => {
    for (const listener of listeners) listener(event);
  };
  const waiters = new ChangeWaiters();
  const parts: { rows?: BranchRows; sweep?: ExpirySweep } = {};
  const tellBranches = throttled(branchesEveryMs, async () => {
    if (parts.rows && listeners.size > 0) emit({ type: 'branches', branches: await parts.rows.list(true, false) });
  });
  const workspace = await Workspace.open({
    data: options.data,
    binary: mongod.path,
    cacheMB: () => settings.current.cacheMB,
    diskReserveMB: () => settings.current.diskReserveMB,
    log: options.log,
    onChanges: (branchId) => {
      waiters.notify(branchId);
      tellBranches();
    },
    onBranches: () => {
      parts.sweep?.wake();
      tellBranches();
    },
    onLog: (entry) => emit({ type: 'log', entry: presentLog(entry) }),
  });
  const rows = (parts.rows = new BranchRows(workspace));
  const sweep = (parts.sweep = new ExpirySweep(workspace, (branch, state, at) =>
    emit({ type: 'expiry', branch, state, at: at.toISOString() }),
  ));
  sweep.wake();
  workspace.disk.watch({ makeRoom: () => emptyTrash(workspace), onChange: tellBranches });
  const gaps = settleGaps(workspace, tellBranches);
  let stopping: Promise<void> | undefined;
  const stop = () =>
    (stopping ??= (async () => {
      await sweep.stop();
      await gaps.stop();
      await workspace.close();
    })());
  const context: Context = { workspace, rows, sweep, mongod, settings, uploads, options, waiters, gaps, emit, stop };
  const methods: Methods = {
    ...engineMethods,
    ...settingsMethods,
    ...actorMethods,
    ...branchMethods,
    ...changeMethods,
    ...backMethods,
    ...dataMethods,
    ...demoMethods,
    ...pinMethods,
    ...verifyMethods,
  };
  return {
    call: (method, input, call) =>
      (methods[method](context, input as never, call) as Promise<never>).catch((error: unknown) => {
        throw isUnreachable(error) ? serverEnded(error) : error;
      }),
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop,
  };
}

/** A server of ours ended while it was asked: it is started again by itself. */
function serverEnded(cause: unknown): ForkyardError {
  return new ForkyardError('mongod_failed', 'A database server ended while it was asked for this.', {
    hint: 'It is started again: try once more in a moment.',
    retry: true,
    cause,
  });
}

/**
 * Runs at once and then at most every `ms`, the last time after the last call; what takes long less often, so that at most
 * a third of the time goes into it. Failures are of no consequence.
 */
function throttled(ms: number, run: () => Promise<void>): () => void {
  let due = false;
  let busy = false;
  const fire = async () => {
    busy = true;
    due = false;
    const from = performance.now();
    await run().catch(() => undefined);
    const took = performance.now() - from;
    await passed(Math.max(ms - took, 2 * took), undefined, { ref: false });
    busy = false;
    if (due) void fire();
  };
  return () => {
    due = true;
    if (!busy) void fire();
  };
}
