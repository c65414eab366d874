import { Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import type { ElementSlice } from '../../shared/bson/walk.ts';
import { count, plural } from '../shell/numbers.ts';
import { arrayMarks } from './array-marks.ts';
import { foldLine, moreKey, pathKey, shownMembers } from './line.ts';
import type { ChangePlace, Line, LinesOptions, Place, PlaceChange } from './line.ts';
import { movedAt } from './moves.ts';
import { plainText } from './plain.ts';
import { sequenceRuns } from './sequence-runs.ts';
import type { Piece } from './text-marks.ts';

const inlineChars = 64;
/** Moves told one by one; more are told by their number. */
const movesTold = 8;
/** An array with more changed elements than this is told by numbers and its first differences. */
const mostInPlace = 400;

type ValueLines = (value: BsonValue, place: Place, options: LinesOptions) => Line[];

/** Fields or elements that only changed places: one choice, told by what must be moved at least. */
export function orderLines(change: PlaceChange, index: number, depth: number): Line[] {
  const [old, fresh] = [labelsOf(change.base), labelsOf(change.branch)];
  const rank = new Map(old.map((label, at) => [label, at]));
  const common = fresh.filter((label) => rank.has(label));
  const moved = movedAt(common.map((label) => rank.get(label) ?? 0));
  const texts = moved.slice(0, movesTold).map((at) => {
    const behind = common[at - 1];
    const where = behind === undefined ? 'moved to the front' : `moved behind ${behind}`;
    return { label: common[at] ?? '', where };
  });
  const key = `${pathKey(change.path)}~order`;
  const line = { depth, tone: 'mod' as const, changes: [index] };
  const lines: Line[] = texts.map(({ label, where }, at) => ({
    ...line,
    key: at === 0 ? key : `${key}${String(at)}`,
    pieces: [{ text: `${label} ` }, { text: where, mark: 'word' }],
    box: at === 0,
    note: at === 0 ? 'only the order' : undefined,
  }));
  if (lines.length === 0) lines.push({ ...line, key, pieces: [{ text: 'order changed' }], box: true });
  const more = moved.length - texts.length;
  if (more > 0) {
    const text = `and ${count(more)} more of ${count(common.length)} in another place`;
    lines.push({ ...line, key: `${key}more`, pieces: [{ text, mark: 'word' }], box: false });
  }
  return lines;
}

/** Names of fields, or ids of elements, as a person reads them. */
function labelsOf(value: BsonValue | undefined): string[] {
  const label = (text: string): string => text.replace(/^"([\w.$-]+)"$/, '$1');
  return value === undefined ? [] : elementsOf(valueSlice(value)).map((element) => label(plainText(element.value, 60)));
}

/** A short array of simple values, old and new on one line each, its changed elements marked: one choice. */
export function inlineArrayLines(before: ElementSlice, after: ElementSlice, place: ChangePlace): Line[] | undefined {
  const { name, depth, key, changes } = place;
  const [old, fresh] = [elementsOf(before), elementsOf(after)];
  if (old.length + fresh.length > 2 * inlineChars) return undefined;
  if (![...old, ...fresh].every(({ type }) => type !== Type.Object && type !== Type.Array)) return undefined;
  if (plainText(after.value, 200).length + plainText(before.value, 200).length > 2 * inlineChars) return undefined;
  const marks = arrayMarks(old, fresh);
  const side = (elements: readonly ElementSlice[], marked: ReadonlySet<number>, mark: 'del' | 'ins'): Piece[] => {
    const pieces: Piece[] = [{ text: '[' }];
    elements.forEach((element, index) => {
      if (index > 0) pieces.push({ text: ', ' });
      pieces.push({ text: plainText(element.value), ...(marked.has(index) ? { mark } : {}) });
    });
    return [...pieces, { text: ']' }];
  };
  const note = marks.moved === 0 ? undefined : `${plural(marks.moved, 'element')} moved`;
  return [
    { key: `${key}-`, depth, tone: 'rem', name, pieces: side(old, marks.before, 'del'), changes, box: true },
    { key: `${key}+`, depth, tone: 'add', name, pieces: side(fresh, marks.after, 'ins'), changes, box: false, note },
  ];
}

/**
 * An array that is one value to the compare: its differing elements in place, the moved ones said so; where they are very many,
 * their numbers and the first of them. Linear in the array but for the search of what moved.
 */
export function wholeArrayLines(
  before: BsonValue,
  after: BsonValue,
  place: ChangePlace,
  options: LinesOptions,
  valueLines: ValueLines,
): Line[] {
  const { name, depth, key, changes } = place;
  const [old, fresh] = [elementsOf(valueSlice(before)), elementsOf(valueSlice(after))];
  const [oldKeys, freshKeys] = [old.map(bytesKey), fresh.map(bytesKey)];
  const pairing = pairUp(oldKeys, freshKeys);
  const runs = sequenceRuns(oldKeys, freshKeys, mostInPlace);
  const changed = runs.reduce(
    (sum, { same, before: left, after: right }) => sum + (same ? 0 : left[1] - left[0] + right[1] - right[0]),
    0,
  );
  const element = (slice: ElementSlice, at: number, tone: 'rem' | 'add', note?: string): Line[] =>
    valueLines(
      slice.value,
      { name: undefined, depth: depth + 1, key: `${key}${tone}${String(at)}`, tone, changes, box: false, note },
      options,
    );
  const size = old.length === fresh.length ? count(old.length) : `${count(old.length)} → ${count(fresh.length)}`;
  const head: Line = {
    key: `${key}~[`,
    depth,
    tone: 'mod',
    name,
    changes,
    box: true,
    pieces: [{ text: '[' }],
    note: `${size} elements, one value`,
  };
  const end: Line = { key: `${key}~]`, depth, tone: 'mod', changes, box: false, pieces: [{ text: ']' }] };
  const body: Line[] = [];
  if (changed > mostInPlace) {
    body.push(...summaryLines(pairing, fresh.length, place));
    const gone = [...pairing.removed].map((at) => ({ slice: old[at]!, at, tone: 'rem' as const }));
    const came = [...pairing.added].map((at) => ({ slice: fresh[at]!, at, tone: 'add' as const }));
    const all = [...gone, ...came].sort((a, b) => a.at - b.at);
    const shown = shownMembers(all.length, key, options.opened);
    for (const { slice, at, tone } of all.slice(0, shown))
      body.push(...element(slice, at, tone, `place ${count(at + 1)}`));
    if (shown < all.length)
      body.push(foldLine(moreKey(key, shown), depth + 1, `${count(all.length - shown)} more differences`));
    return [head, ...body, end];
  }
  for (const { same, before: left, after: right } of runs) {
    if (same) {
      body.push(foldLine(`${key}same${String(left[0])}`, depth + 1, plural(left[1] - left[0], 'unchanged element')));
      if (options.opened.has(`${key}same${String(left[0])}`)) {
        body.pop();
        const unchanged = { name: undefined, depth: depth + 1, tone: 'plain' as const, changes: [], box: false };
        for (let at = left[0]; at < left[1]; at += 1) {
          body.push(...valueLines(old[at]!.value, { ...unchanged, key: `${key}=${String(at)}` }, options));
        }
      }
      continue;
    }
    for (let at = left[0]; at < left[1]; at += 1) {
      const to = pairing.to.get(at);
      body.push(...element(old[at]!, at, 'rem', to === undefined ? undefined : `moved to place ${count(to + 1)}`));
    }
    for (let at = right[0]; at < right[1]; at += 1) {
      const from = pairing.from.get(at);
      body.push(
        ...element(fresh[at]!, at, 'add', from === undefined ? undefined : `moved from place ${count(from + 1)}`),
      );
    }
  }
  return [head, ...body, end];
}

interface Pairing {
  /** Places of old elements that the new array does not hold. */
  readonly removed: ReadonlySet<number>;
  readonly added: ReadonlySet<number>;
  /** New place of a kept element by its old one, and the other way round. */
  readonly to: ReadonlyMap<number, number>;
  readonly from: ReadonlyMap<number, number>;
}

/** Equal elements of both sides, the first with the first. */
function pairUp(old: readonly string[], fresh: readonly string[]): Pairing {
  const waiting = new Map<string, number[]>();
  old.forEach((key, at) => {
    const places = waiting.get(key);
    if (places === undefined) waiting.set(key, [at]);
    else places.push(at);
  });
  for (const places of waiting.values()) places.reverse();
  const [to, from] = [new Map<number, number>(), new Map<number, number>()];
  const added = new Set<number>();
  fresh.forEach((key, at) => {
    const was = waiting.get(key)?.pop();
    if (was === undefined) added.add(at);
    else {
      to.set(was, at);
      from.set(at, was);
    }
  });
  return { removed: new Set([...waiting.values()].flat()), added, to, from };
}

function summaryLines({ removed, added, from }: Pairing, length: number, { depth, key, changes }: ChangePlace): Line[] {
  const kept = [...from].sort(([a], [b]) => a - b).map(([, was]) => was);
  const moved = movedAt(ranked(kept)).length;
  const words = [
    removed.size === 0 ? '' : `${plural(removed.size, 'element')} removed`,
    added.size === 0 ? '' : `${plural(added.size, 'element')} added`,
    moved === 0 ? '' : `${count(moved)} of ${count(kept.length)} kept elements moved`,
  ].filter((word) => word !== '');
  const same = removed.size === 0 && added.size === 0 ? `The same ${plural(length, 'element')} in another order: ` : '';
  const text = `${same}${words.join(', ')}`;
  return [{ key: `${key}~sum`, depth: depth + 1, tone: 'mod', changes, box: false, pieces: [{ text, mark: 'word' }] }];
}

/** Places as ranks from 0 on. */
function ranked(places: readonly number[]): number[] {
  const rank = new Map([...places].sort((a, b) => a - b).map((place, at) => [place, at]));
  return places.map((place) => rank.get(place) ?? 0);
}

const latin1 = new TextDecoder('latin1');

/** The type and bytes of an element as a text to compare by. */
function bytesKey({ bytes, type, start, end }: ElementSlice): string {
  return String.fromCharCode(type) + latin1.decode(bytes.subarray(start, end));
}
