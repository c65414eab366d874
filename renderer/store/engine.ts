import type { BranchRow, Event, Input, Method, Output } from '../../shared/api.ts';
import { errorBody, ForkyardError } from '../../shared/errors.ts';
import { useApp } from './app.ts';
import type { AppState } from './app.ts';
import { keepConnected } from './connection.ts';
import type { Connection } from './connection.ts';
import type { OpenTransport } from './transport.ts';

const statusEveryMs = 5_000;
const pinEntries: ReadonlySet<string> = new Set(['pin', 'unpin']);

let connection: Connection | undefined;
const eventListeners = new Set<(event: Event) => void>();
const callListeners = new Set<(method: Method, answer: Promise<unknown>) => void>();

/** Tells each event of the engine, after the window's state has taken it in. Returns unsubscribe. */
export function onEngineEvent(listener: (event: Event) => void): () => void {
  eventListeners.add(listener);
  return () => eventListeners.delete(listener);
}

/** Tells each call as it begins, with what it will answer. Returns unsubscribe. */
export function onCall(listener: (method: Method, answer: Promise<unknown>) => void): () => void {
  callListeners.add(listener);
  return () => callListeners.delete(listener);
}

/** Connects the window's state to the engine: a snapshot after each opening, numbered events from then on. */
export function startEngine(open: OpenTransport): () => void {
  const live = keepConnected(open, {
    onState: (state) => useApp.setState({ connection: state }),
    onEvent: (event) => {
      useApp.setState((app) => withEvent(app, event));
      // Pins come and go elsewhere too; the log tells of both.
      if (event.type === 'log' && pinEntries.has(event.entry.kind)) void refreshPins();
      for (const listener of eventListeners) listener(event);
    },
    onOpen: () => void refreshAll(),
  });
  connection = live;
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') void refreshStatus();
  }, statusEveryMs);
  return () => {
    clearInterval(timer);
    live.close();
  };
}

/** Calls the engine; waits while it is being restarted. */
export function call<M extends Method>(
  method: M,
  input: Input<M>,
  options?: { readonly signal?: AbortSignal },
): Promise<Output<M>> {
  if (connection === undefined)
    return Promise.reject(new ForkyardError('engine_unreachable', 'No engine was started.'));
  const answer = connection.call(method, input, options);
  for (const listener of callListeners) listener(method, answer);
  return answer;
}

/** Tries again after a refused connection. */
export function retryConnection(): void {
  connection?.retry();
}

/** Everything the window shows, asked for again. A connection that ends meanwhile asks again when it is back. */
async function refreshAll(): Promise<void> {
  try {
    await readBranches();
    await Promise.all([refreshStatus(), loadPins()]);
    if (useApp.getState().log !== undefined) await loadLog();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
  }
}

/** Asks for the branch list again, for numbers that no event tells. */
export async function refreshBranches(): Promise<void> {
  try {
    await readBranches();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
  }
}

async function readBranches(): Promise<void> {
  const branches = await call('branches.list', { all: true });
  useApp.setState((app) => ({ ...withBranches(app, branches), loaded: true }));
}

async function loadPins(): Promise<void> {
  const pins = await call('pins.list', {});
  useApp.setState({ pins });
}

async function refreshPins(): Promise<void> {
  try {
    await loadPins();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
  }
}

async function refreshStatus(): Promise<void> {
  if (useApp.getState().connection.kind !== 'open') return;
  try {
    const status = await call('engine.status', {});
    useApp.setState({ status });
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
  }
}

/** Loads the log of all branches, newest first. */
export async function loadLog(): Promise<void> {
  const entries = await call('log.list', {});
  useApp.setState({ log: [...entries].sort((a, b) => b.time.localeCompare(a.time)) });
}

export function isConnectionLoss(error: unknown): boolean {
  const { code } = errorBody(error);
  return code === 'engine_unreachable' || code === 'aborted' || code === 'web_refused';
}

function withEvent(app: AppState, event: Event): Partial<AppState> {
  switch (event.type) {
    case 'branches':
      return withBranches(app, event.branches);
    case 'log':
      return withLogEntry(app, event.entry);
    case 'progress': {
      const { job, text, done, total } = event;
      return { progress: { ...app.progress, [job]: { text, done, total } } };
    }
    case 'expiry':
      return { announcement: expirySentence(event) };
  }
}

function withBranches(app: AppState, branches: AppState['branches']): Partial<AppState> {
  const activeAt: Record<string, number> = {};
  for (const branch of branches) {
    const before = app.branches.find((known) => known.id === branch.id);
    const moved = before !== undefined && branch.seq > before.seq;
    const last = moved ? Date.now() : app.activeAt[branch.id];
    if (last !== undefined) activeAt[branch.id] = last;
  }
  return { branches: branches.map((branch) => withKnownCounts(app, branch)), activeAt };
}

/** The engine leaves counts out while a branch moves: the last known ones stay until they are counted anew. */
function withKnownCounts(app: AppState, branch: BranchRow): BranchRow {
  if (branch.counts !== undefined || branch.ahead === 0) return branch;
  const known = app.branches.find((other) => other.id === branch.id)?.counts;
  return known === undefined ? branch : { ...branch, counts: known };
}

function withLogEntry(app: AppState, entry: NonNullable<AppState['log']>[number]): Partial<AppState> {
  if (app.log === undefined) return {};
  const others = app.log.filter((known) => known.entry !== entry.entry);
  return { log: [entry, ...others] };
}

function expirySentence(event: Extract<Event, { type: 'expiry' }>): string {
  if (event.state === 'soon') return `${event.branch} expires soon.`;
  return event.state === 'expired'
    ? `${event.branch} has expired. It can be brought back.`
    : `${event.branch} is gone.`;
}
