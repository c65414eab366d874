import type { LogEntry } from '../../shared/api.ts';
import { count } from '../shell/numbers.ts';

/** What a node of the rail is called, and where the word stands. */
export interface NodeLabel {
  readonly key: string;
  readonly text: string;
  readonly x: number;
  readonly anchor: 'start' | 'middle' | 'end';
}

/** About how wide a letter of a label is drawn, in the widest of the fonts. */
export const letterPx = 6.5;
const gapPx = 10;
/** How far a label that stands beside its node begins before it. */
const overhangPx = 6;
const markPx = 6;

/** These tell most of what became of the data: they get their room first. */
const first: ReadonlySet<string> = new Set(['adopt', 'undo', 'restore', 'undo-changes', 'reset', 'import']);

/**
 * A label for each entry for which there is room: over its node or else beside it, never over another label and never where
 * the mark (at `markX`) would run through it.
 */
export function placeLabels(
  nodes: readonly { readonly entry: LogEntry; readonly x: number }[],
  markX: number,
  width: number,
): NodeLabel[] {
  const taken: [number, number][] = [[markX - markPx, markX + markPx]];
  const ranked = [...nodes].sort((a, b) => Number(first.has(b.entry.kind)) - Number(first.has(a.entry.kind)));
  return ranked.flatMap(({ entry, x }) => {
    const text = labelOf(entry);
    const size = text.length * letterPx;
    const places = [
      { anchor: 'middle' as const, x, from: x - size / 2 },
      { anchor: 'start' as const, x: x - overhangPx, from: x - overhangPx },
      { anchor: 'end' as const, x: x + overhangPx, from: x + overhangPx - size },
      // Beside the mark, where that stands on the node or next to it.
      { anchor: 'start' as const, x: markX + markPx, from: markX + markPx },
      { anchor: 'end' as const, x: markX - markPx, from: markX - markPx - size },
    ];
    const place = places.find(
      ({ from }) =>
        from >= 0 &&
        from + size <= width &&
        from <= x + overhangPx + markPx &&
        from + size >= x - overhangPx - markPx &&
        taken.every(([start, end], at) => {
          const clear = at === 0 ? 0 : gapPx;
          return from + size + clear <= start || from >= end + clear;
        }),
    );
    if (place === undefined) return [];
    taken.push([place.from, place.from + size]);
    return [{ key: entry.entry, text, x: place.x, anchor: place.anchor }];
  });
}

const labels: Readonly<Record<string, string>> = {
  fork: 'forked',
  import: 'imported',
  adopt: 'adopted',
  undo: 'undone',
  restore: 'put back',
  'undo-changes': 'taken back',
  reset: 'reset',
  discard: 'discarded',
  expire: 'expired',
  pin: 'pinned',
  unpin: 'pin removed',
};

function labelOf({ kind, items }: LogEntry): string {
  // A branch that came back from the trash; what was put back to a moment has items.
  if (kind === 'restore' && items === undefined) return 'brought back';
  const word = labels[kind] ?? kind;
  return items === undefined || kind === 'undo' ? word : `${word} ${count(items)}`;
}
