import type { LogEntry } from '../../shared/api.ts';

/** A sandbox beside the rail of the branch it was forked from. Times in milliseconds since the epoch. */
export interface Lane {
  readonly name: string;
  readonly from: number;
  /** When it was discarded or expired; undefined while it lives. */
  readonly to: number | undefined;
  /** When the branch adopted from it. */
  readonly adoptions: readonly number[];
  /** 0 is next to the rail. */
  readonly row: number;
}

/** More sandboxes at the same time than this are in the log alone. */
export const mostRows = 3;

const ends: ReadonlySet<string> = new Set(['discard', 'expire', 'expired', 'gone']);

/**
 * The sandboxes that were forked from a branch, as the log tells of them, each in a row where it meets no other.
 * @param spaceMs how much time a lane needs for itself at least, so that its name can be read
 */
export function lanesOf(
  log: readonly LogEntry[],
  branch: string,
  shown: { readonly from: number; readonly to: number },
  spaceMs: number,
): Lane[] {
  const entries = [...log].sort((a, b) => a.time.localeCompare(b.time));
  const free = Array.from({ length: mostRows }, () => -Infinity);
  const lanes: Lane[] = [];
  for (const [at, entry] of entries.entries()) {
    if (entry.kind !== 'fork' || !isForkFrom(entry, branch)) continue;
    const life = lifeOf(entries.slice(at + 1), entry.branch);
    const from = Date.parse(entry.time);
    const to = endOf(life);
    if ((to ?? Infinity) <= shown.from || from >= shown.to) continue;
    const row = free.findIndex((until) => until <= from);
    if (row < 0) continue;
    free[row] = to === undefined ? Infinity : Math.max(to, from + spaceMs);
    const adoptions = life.filter(({ kind }) => kind === 'adopt').map(({ time }) => Date.parse(time));
    lanes.push({ name: entry.branch, from, to, adoptions, row });
  }
  return lanes;
}

function isForkFrom(entry: LogEntry, branch: string): boolean {
  const start = `Forked ${entry.branch} from ${branch}`;
  return entry.text === start || entry.text.startsWith(`${start},`);
}

/** What is told of a sandbox until another one gets its name. */
function lifeOf(later: readonly LogEntry[], name: string): LogEntry[] {
  const own = later.filter((entry) => entry.branch === name);
  const next = own.findIndex(({ kind }) => kind === 'fork');
  return next < 0 ? own : own.slice(0, next);
}

function endOf(life: readonly LogEntry[]): number | undefined {
  // Put back to a moment has items, brought back from its end has none.
  const back = life.findLastIndex(({ kind, items }) => kind === 'restore' && items === undefined);
  const end = life.slice(back + 1).find(({ kind }) => ends.has(kind));
  return end === undefined ? undefined : Date.parse(end.time);
}
