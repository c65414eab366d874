import { sequenceRuns } from './sequence-runs.ts';

/** A part of a line; marked where it differs from the other side. A `gap` stands for text that is not shown, a `word` is said about the value, not part of it. */
export interface Piece {
  readonly text: string;
  readonly mark?: 'ins' | 'del' | 'gap' | 'word';
}

/** What differs beyond this length is one change between common ends: words of more would take longer than a look. */
const longestByWords = 2_500_000;
const longestWord = 200;
/** Of what is alike around a mark in a long text, characters that stay. */
const aroundMark = 60;
const leastGap = 40;
const longestMark = 1_200;

/** Words, numbers, white space, pictures as a person sees them (with their joiners), and single signs. */
const tokens =
  /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*|\p{RI}\p{RI}|\p{Extended_Pictographic}(?:\p{EMod}|\uFE0F|\u200D\p{Extended_Pictographic})*|\r\n|\s+|./gsu;

/**
 * Old and new text with the words that differ marked, inside a single changed word the letters. Long stretches that are alike
 * become gaps, so that each mark is in sight however long the texts are. Where too little is common nothing is marked: the
 * whole line says it. The pieces are for display, as JSON writes them, with quotes around.
 */
export function markText(before: string, after: string): readonly [readonly Piece[], readonly Piece[]] {
  const [old, fresh] = piecesOf(before, after);
  return [quoted(old), quoted(fresh)];
}

/** A text on one side only. */
export function textPieces(text: string): Piece[] {
  return quoted([{ text }]);
}

function piecesOf(before: string, after: string): [Piece[], Piece[]] {
  const [head, tail] = sharedEnds(before, after);
  const [oldText, freshText] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const byWords = oldText.length + freshText.length <= longestByWords;
  const [old, fresh] = byWords ? [tokensOf(oldText), tokensOf(freshText)] : [[oldText], [freshText]];
  const sides: [Piece[], Piece[]] = [[{ text: before.slice(0, head) }], [{ text: before.slice(0, head) }]];
  let common = head + tail;
  for (const { same, before: left, after: right } of joinAcrossSigns(sequenceRuns(old, fresh), old)) {
    const [removed, added] = [old.slice(...left).join(''), fresh.slice(...right).join('')];
    if (same) {
      common += removed.length;
      for (const side of sides) side.push({ text: removed });
    } else if (byWords && left[1] - left[0] === 1 && right[1] - right[0] === 1) {
      common += markLetters(removed, added, sides);
    } else {
      sides[0].push({ text: removed, mark: 'del' });
      sides[1].push({ text: added, mark: 'ins' });
    }
  }
  for (const side of sides) side.push({ text: before.slice(before.length - tail) });
  if (common < Math.min(before.length, after.length) / 3 || common < 6) return [[{ text: before }], [{ text: after }]];
  return sides;
}

/** How many characters are alike at both ends, back to the nearest space: a word is compared as a whole. */
function sharedEnds(before: string, after: string): [number, number] {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  head -= charactersToSpace((back) => before[head - back - 1], head);
  let tail = 0;
  while (tail < shortest - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  tail -= charactersToSpace((back) => before[before.length - tail + back], tail);
  return [boundary(before, head), before.length - boundary(before, before.length - tail)];
}

/** How far the nearest space, or the text's end, is; none where that is further than any word is long. */
function charactersToSpace(at: (back: number) => string | undefined, most: number): number {
  for (let back = 0; back <= Math.min(most, longestWord); back += 1) if (back === most || at(back) === ' ') return back;
  return 0;
}

function tokensOf(text: string): string[] {
  return text.match(tokens) ?? [];
}

/** Two changes with nothing but a sign or a space between them read better as one. */
function joinAcrossSigns(runs: ReturnType<typeof sequenceRuns>, old: readonly string[]): typeof runs {
  const joined: typeof runs = [];
  runs.forEach((run, index) => {
    const last = joined.at(-1);
    const between = run.same && index < runs.length - 1 && last?.same === false;
    const slight = between && /^[^\p{L}\p{N}]{1,2}$/u.test(old.slice(...run.before).join(''));
    if (last !== undefined && !last.same && (slight || !run.same)) {
      joined.pop();
      joined.push({
        same: false,
        before: [last.before[0], run.before[1]],
        after: [last.after[0], run.after[1]],
      });
    } else joined.push(run);
  });
  return joined;
}

/** One word in place of another: its letters where at least half of them stayed. Answers how many characters are common. */
function markLetters(removed: string, added: string, sides: [Piece[], Piece[]]): number {
  const [old, fresh] = /^[\p{L}\p{N}]/u.test(removed) ? [[...removed], [...added]] : [[removed], [added]];
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  if (head + tail < Math.max(old.length, fresh.length) / 2 || shortest < 4) {
    sides[0].push({ text: removed, mark: 'del' });
    sides[1].push({ text: added, mark: 'ins' });
    return 0;
  }
  const cut = (letters: string[], mark: 'del' | 'ins'): Piece[] =>
    [
      { text: letters.slice(0, head).join('') },
      { text: letters.slice(head, letters.length - tail).join(''), mark },
      { text: letters.slice(letters.length - tail).join('') },
    ].filter((piece) => piece.text !== '');
  sides[0].push(...cut(old, 'del'));
  sides[1].push(...cut(fresh, 'ins'));
  return head + tail;
}

function quoted(pieces: readonly Piece[]): Piece[] {
  const joined = joinAlike(pieces);
  const shown = joined.flatMap((piece, index) => shortened(piece, index === 0, index === joined.length - 1));
  const escaped = shown.map((piece) => (piece.mark === 'gap' ? piece : { ...piece, text: escape(piece.text) }));
  return joinAlike([{ text: '"' }, ...escaped, { text: '"' }]);
}

function joinAlike(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (piece.text === '') continue;
    if (last !== undefined && last.mark === piece.mark && piece.mark !== 'gap') {
      joined[joined.length - 1] = { ...last, text: last.text + piece.text };
    } else joined.push(piece);
  }
  return joined;
}

/** A long stretch keeps what stands beside its neighbours. */
function shortened(piece: Piece, isFirst: boolean, isLast: boolean): Piece[] {
  const { text, mark } = piece;
  const whole = isFirst && isLast;
  const keep = mark !== undefined || whole ? longestMark / 2 : aroundMark;
  const [head, tail] =
    isFirst && !whole && mark === undefined ? [24, keep] : isLast && !whole ? [keep, 24] : [keep, keep];
  if (text.length <= head + tail + leastGap) return [piece];
  const [from, to] = [boundary(text, head), boundary(text, text.length - tail)];
  const left = to - from;
  return [
    { ...piece, text: text.slice(0, from) },
    { text: `${left.toLocaleString('en-US')} characters`, mark: 'gap' },
    { ...piece, text: text.slice(to) },
  ];
}

/** Never between the halves of a surrogate pair. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
