/** A part of a line; marked where it differs from the other side. */
export interface Piece {
  readonly text: string;
  readonly mark?: 'ins' | 'del';
}

/**
 * Old and new text with what differs marked: the middle between a common beginning and end, at word bounds. Where too little
 * is common, or the texts are not `prose`, nothing is marked: the whole line says it.
 */
export function markBetween(
  before: string,
  after: string,
  prose: boolean,
): readonly [readonly Piece[], readonly Piece[]] {
  if (!prose) return [[{ text: before }], [{ text: after }]];
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  start = wordStart(before, start);
  end = before.length - wordEnd(before, before.length - end);
  end = Math.min(end, before.length - start, after.length - start);
  // A common quote at each end is not worth a mark.
  if (start + end < shortest / 3 || start + end < 8) return [[{ text: before }], [{ text: after }]];
  return [cut(before, start, end, 'del'), cut(after, start, end, 'ins')];
}

function cut(text: string, start: number, end: number, mark: 'ins' | 'del'): Piece[] {
  const pieces: Piece[] = [
    { text: text.slice(0, start) },
    { text: text.slice(start, text.length - end), mark },
    { text: text.slice(text.length - end) },
  ];
  return pieces.filter((piece) => piece.text !== '');
}

function wordStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && /[\p{L}\p{N}]/u.test(text[start - 1] ?? '')) start -= 1;
  return start;
}

function wordEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && /[\p{L}\p{N}]/u.test(text[end] ?? '')) end += 1;
  return end;
}
