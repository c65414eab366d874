import type { Line } from '../bson/line.ts';
import type { Source } from './merged-document.ts';

/** A line of a document as it would be, with where its value comes from where that is said. */
export interface ResultLine extends Line {
  readonly source?: Source;
}

/**
 * The lines of a change as those of its result: of an old and a new value the new one stays, of a place that is not decided
 * one line. Each change says its source on its first line.
 */
export function resultLines(lines: readonly Line[], sources: readonly Source[]): ResultLine[] {
  const tones = new Map<number, Set<Line['tone']>>();
  for (const line of lines) {
    for (const change of line.changes) tones.set(change, (tones.get(change) ?? new Set()).add(line.tone));
  }
  const has = (line: Line, tone: Line['tone']): boolean =>
    line.changes.some((change) => tones.get(change)?.has(tone) === true);
  const told = new Set<number>();
  return lines.flatMap((line): ResultLine[] => {
    const kept = resultLine(line, (tone) => has(line, tone));
    if (kept === undefined) return [];
    const source = sourceOf(kept, sources);
    if (source === undefined || line.changes.every((change) => told.has(change))) return [kept];
    for (const change of line.changes) told.add(change);
    return [{ ...kept, ...(source === 'open' ? { tone: 'con' as const } : {}), source }];
  });
}

function resultLine(line: Line, has: (tone: Line['tone']) => boolean): Line | undefined {
  if (line.tone === 'con') {
    const { side: _, ...rest } = line;
    // Base and both sides have a line each: the first stands for all.
    return line.box ? { ...rest, pieces: [{ text: 'not decided', mark: 'word' }], note: undefined } : undefined;
  }
  // An array that is told by its differing elements has its own head: nothing in it stands twice.
  if (has('mod')) return line;
  if (line.tone === 'rem' && has('add')) return undefined;
  if (line.tone !== 'add' || !has('rem')) return line;
  return {
    ...line,
    tone: 'mod',
    pieces: line.pieces.map((piece) => (piece.mark === 'ins' ? { text: piece.text } : piece)),
  };
}

function sourceOf(line: Line, sources: readonly Source[]): Source | undefined {
  const [first, ...others] = line.changes.flatMap((change) => sources[change] ?? []);
  return others.every((other) => other === first) ? first : 'mixed';
}
