import { decodeExact } from '../../shared/bson/text.ts';
import { Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { count, plural } from '../shell/numbers.ts';
import { foldLine } from './line.ts';
import type { ChangePlace, Line, LinesOptions, Place } from './line.ts';
import { sequenceRuns } from './sequence-runs.ts';
import { markText, textPieces } from './text-marks.ts';
import type { Piece } from './text-marks.ts';

/** Texts beyond this length go on below instead of being cut at the edge. */
const oneRow = 60;
/** Of lines that are alike, this many stay beside a changed one. */
const context = 2;
/** A whole long text is shown in pieces of this length. */
const chunk = 160;

/** The text of a string; undefined for other values, and for bytes that are no text. */
export function stringOf(value: BsonValue | undefined): string | undefined {
  return value?.[0] === Type.String ? decodeExact(value, 5, value.length - 1) : undefined;
}

/** A string on one side: its beginning and end where it is long, the whole of it below on demand. */
export function textValueLines(text: string, place: Place, options: LinesOptions): Line[] {
  const { name, depth, key, tone, changes, box, note } = place;
  const pieces = textPieces(text);
  const line = { depth, tone, name, changes, box, key, pieces, note, ...wrapped(pieces) };
  return [line, ...wholeText([{ text, tone }], pieces, place, options)];
}

/** Old and new text: the changed words in one line each, or line by line where they have lines. */
export function textChangeLines(before: string, after: string, place: ChangePlace, options: LinesOptions): Line[] {
  if (linesOf(before).length + linesOf(after).length > 3) return blockLines(before, after, place, options);
  const { name, depth, key, changes } = place;
  const [old, fresh] = markText(before, after);
  const common = { depth, name, changes };
  return [
    { ...common, key: `${key}-`, tone: 'rem', pieces: old, box: true, ...wrapped(old) },
    { ...common, key: `${key}+`, tone: 'add', pieces: fresh, box: false, ...wrapped(fresh) },
    ...wholeText(
      [
        { text: before, tone: 'rem' },
        { text: after, tone: 'add' },
      ],
      [...old, ...fresh],
      place,
      options,
    ),
  ];
}

function wrapped(pieces: readonly Piece[]): { wrap: true } | object {
  return pieces.reduce((sum, piece) => sum + piece.text.length, 0) > oneRow ? { wrap: true } : {};
}

/** Behind a text of which only a part is shown: the fold that opens the whole of it. */
function wholeText(
  sides: readonly { readonly text: string; readonly tone: Line['tone'] }[],
  shown: readonly Piece[],
  { depth, key, changes }: ChangePlace,
  options: LinesOptions,
): Line[] {
  if (!shown.some((piece) => piece.mark === 'gap')) return [];
  const fold = `${key}text`;
  const lengths = sides.map(({ text }) => count(text.length)).join(' → ');
  if (!options.opened.has(fold)) return [foldLine(fold, depth + 1, `Show the whole text, ${lengths} characters`)];
  return sides.flatMap(({ text, tone }, side) =>
    chunks(text).map((part, index) => ({
      key: `${fold}${String(side)}/${String(index)}`,
      depth: depth + 1,
      tone,
      changes,
      box: false,
      pieces: [{ text: JSON.stringify(part).slice(1, -1) }],
      wrap: true,
    })),
  );
}

function chunks(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    let to = Math.min(text.length, at + chunk);
    const code = text.charCodeAt(to);
    if (code >= 0xdc00 && code <= 0xdfff) to += 1;
    parts.push(text.slice(at, to));
    at = to;
  }
  return parts;
}

/** Lines with their ends, which are part of what is compared. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function blockLines(before: string, after: string, place: ChangePlace, options: LinesOptions): Line[] {
  const { name, depth, key, changes } = place;
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const size =
    old.length === fresh.length ? plural(old.length, 'line') : `${count(old.length)} → ${plural(fresh.length, 'line')}`;
  const lines: Line[] = [
    { key: `${key}~text`, depth, tone: 'mod', name, changes, box: true, pieces: [{ text: `text of ${size}` }] },
  ];
  const push = (text: readonly Piece[], tone: Line['tone'], at: number): void => {
    const about = tone === 'plain' ? [] : changes;
    lines.push({
      key: `${key}${tone}${String(at)}`,
      depth: depth + 1,
      tone,
      changes: about,
      box: false,
      pieces: text,
      wrap: true,
    });
  };
  for (const { same, before: left, after: right } of sequenceRuns(old, fresh)) {
    if (same) {
      plainRun(left, old.length).forEach((part) => {
        const [from, to] = part;
        const fold = `${key}fold${String(from)}`;
        if (part[2] && !options.opened.has(fold))
          lines.push(foldLine(fold, depth + 1, plural(to - from, 'unchanged line')));
        else for (let at = from; at < to; at += 1) push(bare(old[at] ?? ''), 'plain', at);
      });
      continue;
    }
    const [removed, added] = [old.slice(...left), fresh.slice(...right)];
    const marked = removed.map((text, at) => (added[at] === undefined ? undefined : markText(text, added[at])));
    removed.forEach((text, at) => push(unquoted(marked[at]?.[0] ?? bareQuoted(text)), 'rem', left[0] + at));
    added.forEach((text, at) => push(unquoted(marked[at]?.[1] ?? bareQuoted(text)), 'add', right[0] + at));
  }
  return lines;
}

/** A run of lines that are alike, as parts of which the middle one may be folded. */
function plainRun([from, to]: readonly [number, number], length: number): [number, number, boolean][] {
  const head = from === 0 ? from : from + context;
  const tail = to === length ? to : to - context;
  if (tail - head < 2) return [[from, to, false]];
  const parts: [number, number, boolean][] = [
    [from, head, false],
    [head, tail, true],
    [tail, to, false],
  ];
  return parts.filter(([start, end]) => end > start);
}

function bareQuoted(text: string): Piece[] {
  return textPieces(text);
}

function bare(text: string): Piece[] {
  return unquoted(textPieces(text));
}

/** Without the quotes around, and without the line feed that each line but the last ends with. */
function unquoted(pieces: readonly Piece[]): Piece[] {
  const last = pieces.length - 1;
  return pieces
    .map((piece, index) => ({
      ...piece,
      text: piece.text.slice(index === 0 ? 1 : 0, index === last ? -1 : undefined),
    }))
    .map((piece, index, all) =>
      index === all.length - 1 || all.slice(index + 1).every(({ text }) => text === '')
        ? { ...piece, text: piece.text.replace(/\\n$/, '') }
        : piece,
    )
    .filter((piece) => piece.text !== '');
}
