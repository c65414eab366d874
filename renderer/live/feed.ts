import { create } from 'zustand';
import type { BranchRow, Change } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { announce } from '../store/app.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { count } from '../shell/numbers.ts';
import { Activity } from './activity.ts';

/** The newest rows kept in memory; older ones are paged in when scrolled to. 5,000 took 130 MB at 2,000 writes a second. */
const keptRows = 2_000;
/** Rows at most while older ones are being read; beyond them the newest go, and come back with "Jump to newest". */
const mostRows = 5_000;
/** Images kept in memory, characters of base64; rows beyond it are paged in again when needed. */
const keptImageChars = 64_000_000;
const pageRows = 500;
/** Followed in pieces: a page's text, its changes and their images are in memory at once, several times over. */
const followedRows = 500;
const paintMs = 100;
const longPollMs = 25_000;

export interface Feed {
  /** Id of the branch. */
  readonly branch: string;
  readonly name: string;
  /** Shown rows, ascending and without holes between them. */
  readonly changes: readonly Change[];
  /** The newest sequence the engine has told of; above the last shown one while the view is held. */
  readonly head: number;
  /** Counts what came, shown or not; filled in place, whenever `head` or the first row changes. */
  readonly activity: Activity;
  /** Paused by the user, and when. */
  readonly pausedAt: number | undefined;
  /** Scrolled away from the newest row: the view stays still. */
  readonly away: boolean;
  readonly loaded: boolean;
  readonly loadingOlder: boolean;
  /** The first row ever is among the shown ones. */
  readonly reachedStart: boolean;
  readonly error: ErrorBody | undefined;
}

/** The feed of one branch, the one last watched. Its window of rows is bounded; the history itself stays with the engine. */
export const useFeed = create<{ readonly feed: Feed | undefined }>()(() => ({ feed: undefined }));

/** What arrived while the view is held, or since the last paint. */
let held: Change[] = [];
/** Set when more arrived than is kept in `held`, or the newest shown rows were cut off: the head is read again when let go. */
let stale = false;
let reloading = false;
/** The newest sequence that has arrived; told as the feed's head with the next paint. */
let arrived = 0;
let paint: ReturnType<typeof setTimeout> | undefined;

/** Follows a branch until the returned function is called. */
export function followBranch(branch: BranchRow): () => void {
  const stop = new AbortController();
  if (useFeed.getState().feed?.branch !== branch.id) {
    held = [];
    stale = false;
    useFeed.setState({ feed: emptyFeed(branch) });
  }
  void follow(branch, stop.signal);
  return () => {
    stop.abort();
    clearTimeout(paint);
    paint = undefined;
  };
}

/** Rows that have come since the view was held. */
export function newRows(feed: Feed): number {
  return Math.max(0, feed.head - (feed.changes.at(-1)?.seq ?? feed.head));
}

export function isHeld(feed: Feed): boolean {
  return feed.pausedAt !== undefined || feed.away;
}

export function togglePause(branch: string): void {
  const { feed } = useFeed.getState();
  if (feed?.branch !== branch) return;
  if (feed.pausedAt === undefined) {
    update({ pausedAt: Date.now() });
    announce('Paused. New writes are kept.');
  } else {
    announce(`Resumed, ${count(newRows(feed))} new`);
    jumpToNewest();
  }
}

export function setAway(away: boolean): void {
  const { feed } = useFeed.getState();
  if (feed === undefined || feed.away === away) return;
  update({ away });
  if (!away && feed.pausedAt === undefined) flush();
}

/** Shows the newest rows and follows again. */
export function jumpToNewest(): void {
  update({ pausedAt: undefined, away: false });
  flush();
}

/** Whether older rows are to be read when the end of the shown ones comes into view. */
export function wantsOlder(feed: Feed): boolean {
  // Beyond the kept rows only for a reader who went there: the next write would drop them again.
  return !feed.reachedStart && !feed.loadingOlder && (feed.away || feed.changes.length < keptRows);
}

/** Pages older rows in, in front of the shown ones. */
export async function loadOlder(): Promise<void> {
  const { feed } = useFeed.getState();
  const first = feed?.changes[0];
  if (feed === undefined || first === undefined || feed.loadingOlder || feed.reachedStart) return;
  update({ loadingOlder: true });
  try {
    const page = await call('changes.page', { branch: feed.name, before: first.seq, limit: pageRows });
    const now = useFeed.getState().feed;
    if (now?.branch !== feed.branch || now.changes[0]?.seq !== first.seq) return;
    now.activity.take(page.changes);
    const changes = [...page.changes, ...now.changes];
    // Cut off at the newest end: that is the way back up, and it is read again from the engine.
    const kept = changes.length > mostRows ? changes.slice(0, mostRows) : changes;
    if (kept.length < changes.length) markStale();
    update({ changes: kept, reachedStart: isStart(page.changes), loadingOlder: false });
  } catch (error) {
    update({ loadingOlder: false, ...(isConnectionLoss(error) ? {} : { error: errorBody(error) }) });
  }
}

/** The import that was running when its row was read, if one is shown: its row is told anew when it ends. */
export function runningImport(feed: Feed): Change | undefined {
  return feed.changes.findLast((change) => change.op === 'import' && change.detail?.['state'] === 'running');
}

export async function rereadChange({ name, branch }: Feed, seq: number): Promise<void> {
  const page = await call('changes.page', { branch: name, after: seq - 1, limit: 1 });
  const [fresh] = page.changes;
  const { feed } = useFeed.getState();
  if (fresh?.seq !== seq || feed?.branch !== branch) return;
  update({ changes: feed.changes.map((change) => (change.seq === seq ? fresh : change)) });
}

/** Sequences begin at 1. A page of large documents may be shorter than asked for without being the first. */
function isStart(page: readonly Change[]): boolean {
  return (page[0]?.seq ?? 1) <= 1;
}

function emptyFeed({ id, name }: BranchRow): Feed {
  return {
    branch: id,
    name,
    changes: [],
    head: 0,
    activity: new Activity(),
    pausedAt: undefined,
    away: false,
    loaded: false,
    loadingOlder: false,
    reachedStart: false,
    error: undefined,
  };
}

function update(change: Partial<Feed>): void {
  useFeed.setState(({ feed }) => (feed === undefined ? {} : { feed: { ...feed, ...change } }));
}

async function follow(branch: BranchRow, signal: AbortSignal): Promise<void> {
  let cursor: number | undefined;
  while (!signal.aborted) {
    try {
      cursor ??= await start(branch, signal);
      const input = { branch: branch.name, after: cursor, limit: followedRows, waitMs: longPollMs };
      const page = await call('changes.page', input, { signal });
      if (isAborted(signal)) return;
      cursor = page.changes.at(-1)?.seq ?? cursor;
      receive(page.changes);
    } catch (error) {
      if (isAborted(signal)) return;
      if (isConnectionLoss(error)) continue;
      update({ error: errorBody(error), loaded: true });
      return;
    }
  }
}

/** Read again after an await: the narrowing of the loop's condition does not hold any more. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Loads the newest rows, or goes on behind those of an earlier visit. Answers the sequence to follow from. */
async function start(branch: BranchRow, signal: AbortSignal): Promise<number> {
  const { feed } = useFeed.getState();
  if (feed?.loaded === true && feed.error === undefined) return stale ? feed.head : (held.at(-1)?.seq ?? lastShown());
  return loadHead(branch, signal);
}

/** Replaces what is shown by the newest rows. Answers the last sequence. */
async function loadHead({ id, name }: Pick<BranchRow, 'id' | 'name'>, signal?: AbortSignal): Promise<number> {
  const options = signal === undefined ? {} : { signal };
  const probe = await call('changes.page', { branch: name, after: 0, limit: 1 }, options);
  const page = await call('changes.page', { branch: name, before: probe.last + 1, limit: pageRows }, options);
  const last = page.changes.at(-1)?.seq ?? probe.last;
  const reachedStart = isStart(page.changes);
  const { feed } = useFeed.getState();
  if (feed?.branch === id) {
    // What was followed is counted as it comes; this is where following begins.
    if (!feed.loaded) feed.activity.take(page.changes);
    const head = Math.max(feed.head, last);
    update({ changes: page.changes, head, loaded: true, reachedStart, error: undefined });
  }
  return last;
}

function receive(changes: readonly Change[]): void {
  const last = changes.at(-1);
  const { feed } = useFeed.getState();
  if (last === undefined || feed === undefined) return;
  feed.activity.take(changes);
  arrived = last.seq;
  if (!stale) held.push(...changes);
  if (isHeld(feed) && held.length > keptRows) markStale();
  paint ??= setTimeout(() => {
    paint = undefined;
    const now = useFeed.getState().feed;
    if (now === undefined) return;
    if (isHeld(now)) update({ head: Math.max(now.head, arrived) });
    else flush();
  }, paintMs);
}

/** Moves what has arrived into view. */
function flush(): void {
  const { feed } = useFeed.getState();
  if (feed === undefined || reloading) return;
  if (stale) {
    void reload(feed);
    return;
  }
  if (held.length === 0) return;
  const shown = lastShown();
  const all = [...feed.changes, ...held.filter((change) => change.seq > shown)];
  const changes = bounded(all);
  held = [];
  const head = Math.max(feed.head, changes.at(-1)?.seq ?? 0);
  update({ changes, head, reachedStart: feed.reachedStart && changes.length === all.length });
}

async function reload({ branch, name }: Feed): Promise<void> {
  reloading = true;
  stale = false;
  held = [];
  try {
    await loadHead({ id: branch, name });
  } catch (error) {
    stale = true;
    if (!isConnectionLoss(error)) update({ error: errorBody(error) });
  } finally {
    reloading = false;
  }
  if (!stale) flush();
}

function markStale(): void {
  held = [];
  stale = true;
}

function lastShown(): number {
  return useFeed.getState().feed?.changes.at(-1)?.seq ?? 0;
}

/** The newest rows that fit the bounds of rows and of image bytes. */
function bounded(changes: readonly Change[]): readonly Change[] {
  let chars = 0;
  let from = changes.length;
  while (from > 0 && changes.length - from < keptRows) {
    const change = changes[from - 1];
    chars += (change?.before?.length ?? 0) + (change?.after?.length ?? 0);
    if (chars > keptImageChars && from < changes.length) break;
    from -= 1;
  }
  return from === 0 ? changes : changes.slice(from);
}
