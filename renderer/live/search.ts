import { useEffect, useMemo, useState } from 'react';
import type { Change } from '../../shared/api.ts';
import { noFilter, passes } from './rows.ts';
import type { FeedFilter } from './rows.ts';
import { searchText } from './summary.ts';

/** Reading the texts of changes stops for keys and frames after so long, milliseconds. */
const sliceMs = 8;
/** While texts are being read, what was found so far is shown this often. */
const tellMs = 100;

/** What the text filter looks at, lower case. Reading it compares the two documents of a change: done once for each. */
const texts = new WeakMap<Change, string>();

function textOf(change: Change): string {
  const known = texts.get(change);
  if (known !== undefined) return known;
  const text = searchText(change).toLowerCase();
  texts.set(change, text);
  return text;
}

interface Found {
  /** Ascending, as they came. */
  readonly changes: readonly Change[];
  /** Not looked at yet, the newest last. */
  readonly unread: readonly Change[];
}

/**
 * The changes that pass a filter. With a text that is looked for in many changes that were never searched, the newest come
 * at once and the others follow, so that typing never waits for them.
 */
export function useFiltered(changes: readonly Change[], filter: FeedFilter): readonly Change[] {
  const [round, setRound] = useState(0);
  const found = useMemo(
    () => find(changes, filter),
    // Each round has read more of the texts.
    [changes, filter, round],
  );
  const { unread } = found;
  useEffect(() => {
    if (unread.length === 0) return;
    return readOn(unread, () => setRound((now) => now + 1));
  }, [unread]);
  return found.changes;
}

function find(changes: readonly Change[], filter: FeedFilter): Found {
  if (filter === noFilter) return { changes, unread: [] };
  if (filter.text === '') return { changes: changes.filter((change) => passes(change, filter, textOf)), unread: [] };
  const deadline = performance.now() + sliceMs;
  const found: Change[] = [];
  const unread: Change[] = [];
  let late = false;
  for (const change of changes.toReversed()) {
    if (late && !texts.has(change)) unread.push(change);
    else if (passes(change, filter, textOf)) found.push(change);
    late ||= performance.now() > deadline;
  }
  return { changes: found.reverse(), unread: unread.reverse() };
}

/** Reads texts a slice at a time, the newest first; `tell` now and then, and at the end. Returns stop. */
function readOn(unread: readonly Change[], tell: () => void): () => void {
  let left = unread.length;
  let toldAt = performance.now();
  const slice = (): void => {
    const deadline = performance.now() + sliceMs;
    while (left > 0 && performance.now() < deadline) {
      left -= 1;
      textOf(unread[left]!);
    }
    if (left > 0) timer = setTimeout(slice);
    if (left === 0 || performance.now() - toldAt > tellMs) {
      toldAt = performance.now();
      tell();
    }
  };
  let timer = setTimeout(slice);
  return () => clearTimeout(timer);
}
