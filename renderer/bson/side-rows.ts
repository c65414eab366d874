import type { Line } from './line.ts';

/** What stands at the left and at the right of one row; a fold, a note or a conflict's side may have the row alone. */
export interface SideRow {
  readonly key: string;
  readonly left: Line | undefined;
  readonly right: Line | undefined;
}

/**
 * The lines of a change as two columns: removed at the left, added at the right, each beside what took its place. Every line
 * is in one row, unchanged ones at both sides.
 */
export function sideRows(lines: readonly Line[]): SideRow[] {
  const rows: SideRow[] = [];
  let [old, fresh]: [Line[], Line[]] = [[], []];
  const flush = (): void => {
    const height = Math.max(old.length, fresh.length);
    for (let at = 0; at < height; at += 1) {
      const [left, right] = [old[at], fresh[at]];
      rows.push({ key: (left ?? right)?.key ?? '', left, right });
    }
    [old, fresh] = [[], []];
  };
  for (const line of lines) {
    if (line.tone === 'rem') {
      // What is removed after something was added begins the next change.
      if (fresh.length > 0) flush();
      old.push(line);
    } else if (line.tone === 'add') {
      const belongs =
        old.length === 0 || old.some((one) => one.changes.some((change) => line.changes.includes(change)));
      if (!belongs) flush();
      fresh.push(line);
    } else if (line.tone === 'con') {
      if (line.side === undefined) {
        flush();
        old.push(line);
      } else fresh.push(line);
    } else {
      flush();
      rows.push({ key: line.key, left: line, right: line });
    }
  }
  flush();
  return rows;
}
