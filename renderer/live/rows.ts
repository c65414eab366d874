import type { Change, ChangeKind } from '../../shared/api.ts';
import { kindOf } from './kinds.ts';

/** One row of the feed, newest first. */
export type FeedRow =
  | {
      readonly kind: 'change';
      readonly key: string;
      readonly change: Change;
      readonly inGroup: boolean;
      readonly last: boolean;
    }
  | { readonly kind: 'group'; readonly key: string; readonly group: Group; readonly open: boolean }
  | { readonly kind: 'gap'; readonly key: string; readonly change: Change };

/** Writes that belong together: of one transaction, or many alike in a short time. */
export interface Group {
  readonly type: 'transaction' | 'burst';
  /** Oldest first. */
  readonly changes: readonly Change[];
}

/** Writes of one kind to one collection, each at most this long after the one before, make a burst. */
const burstGapMs = 250;
const burstLeast = 12;
/** A transaction of at most this many writes is open at first. */
const openAtMost = 6;

export interface FeedFilter {
  /** Kinds that are hidden. */
  readonly hidden: ReadonlySet<ChangeKind>;
  readonly collection: string | undefined;
  readonly actor: string | undefined;
  /** Lower case, as is the text of a change it is looked for in. */
  readonly text: string;
}

export const noFilter: FeedFilter = { hidden: new Set(), collection: undefined, actor: undefined, text: '' };

/** Whether a change is shown. Gaps always are: what is not known must not vanish behind a filter. */
export function passes(change: Change, filter: FeedFilter, textOf: (change: Change) => string): boolean {
  const kind = kindOf(change);
  if (kind === undefined) return true;
  if (filter.hidden.has(kind)) return false;
  if (filter.collection !== undefined && change.ns !== filter.collection) return false;
  if (filter.actor !== undefined && change.actor !== filter.actor && change.actors?.includes(filter.actor) !== true) {
    return false;
  }
  return filter.text === '' || textOf(change).includes(filter.text);
}

/**
 * The rows of a feed from its changes (ascending): newest first, grouped; `toggled` are the groups whose openness the user
 * turned over.
 */
export function feedRows(changes: readonly Change[], toggled: ReadonlySet<string>): FeedRow[] {
  const rows: FeedRow[] = [];
  for (const part of grouped(changes).reverse()) {
    const [first] = part.changes;
    if (first === undefined) continue;
    if (part.type === undefined) {
      rows.push(
        first.op === 'gap'
          ? { kind: 'gap', key: String(first.seq), change: first }
          : { kind: 'change', key: String(first.seq), change: first, inGroup: false, last: false },
      );
      continue;
    }
    const key = `group-${first.transaction ?? String(first.seq)}`;
    const opensItself = part.type === 'transaction' && part.changes.length <= openAtMost;
    const open = opensItself !== toggled.has(key);
    rows.push({ kind: 'group', key, group: { type: part.type, changes: part.changes }, open });
    if (!open) continue;
    part.changes.forEach((change, at) => {
      rows.push({
        kind: 'change',
        key: String(change.seq),
        change,
        inGroup: true,
        last: at === part.changes.length - 1,
      });
    });
  }
  return rows;
}

interface Part {
  readonly type: Group['type'] | undefined;
  readonly changes: Change[];
}

function grouped(changes: readonly Change[]): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < changes.length) {
    const end = transactionEnd(changes, at) ?? burstEnd(changes, at);
    const part = changes.slice(at, end ?? at + 1);
    const type = end === undefined ? undefined : part[0]?.transaction === undefined ? 'burst' : 'transaction';
    parts.push({ type, changes: part });
    at = end ?? at + 1;
  }
  return parts;
}

/** The end of the transaction that starts here, where it has more than one write. */
function transactionEnd(changes: readonly Change[], from: number): number | undefined {
  const transaction = changes[from]?.transaction;
  if (transaction === undefined) return undefined;
  let end = from + 1;
  while (changes[end]?.transaction === transaction) end += 1;
  return end - from > 1 ? end : undefined;
}

function burstEnd(changes: readonly Change[], from: number): number | undefined {
  let end = from + 1;
  for (;;) {
    const before = changes[end - 1];
    const next = changes[end];
    if (before === undefined || next === undefined || !alike(before, next)) break;
    end += 1;
  }
  return end - from >= burstLeast ? end : undefined;
}

function alike(a: Change, b: Change): boolean {
  return (
    a.op === b.op &&
    a.ns === b.ns &&
    a.op !== 'gap' &&
    a.op !== 'import' &&
    a.transaction === undefined &&
    b.transaction === undefined &&
    Date.parse(b.time) - Date.parse(a.time) <= burstGapMs
  );
}
