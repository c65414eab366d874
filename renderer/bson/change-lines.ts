import { Type, typeName } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import type { ElementSlice } from '../../shared/bson/walk.ts';
import { arrayMarks } from './array-marks.ts';
import { pathKey } from './line.ts';
import type { Line, LinesOptions, PlaceChange, Tone } from './line.ts';
import { plainText } from './plain.ts';
import { markBetween } from './text-marks.ts';
import type { Piece } from './text-marks.ts';

const inlineChars = 64;
const longestValue = 4_000;
/** Types that a value's text already shows. */
const plainTypes: ReadonlySet<string> = new Set(['String', 'Boolean', 'Null']);

/** Where a value stands, and what its lines are about. */
export interface Place {
  readonly name: string | undefined;
  readonly depth: number;
  readonly key: string;
  readonly tone: Tone;
  readonly changes: readonly number[];
  /** Whether its first line begins a choice. */
  readonly box: boolean;
  readonly note?: string | undefined;
}

export function isScalarType(type: number | undefined): boolean {
  return type !== Type.Object && type !== Type.Array;
}

/** A value on one line where it fits, else its members below each other. */
export function valueLines(value: BsonValue, place: Place, options: LinesOptions): Line[] {
  const { name, depth, key, tone, changes, box, note } = place;
  const line = { depth, tone, name, changes, box };
  const isArray = value[0] === Type.Array;
  const isScalar = isScalarType(value[0]);
  if (isScalar || plainText(value, inlineChars + 1).length <= inlineChars) {
    const typed = tone !== 'plain' && isScalar ? typeNote(typeName(value), options) : undefined;
    return [{ ...line, key, pieces: [{ text: plainText(value, longestValue) }], note: note ?? typed }];
  }
  const members = elementsOf(valueSlice(value)).flatMap((element, index) =>
    valueLines(
      element.value,
      {
        name: isArray ? undefined : element.name,
        depth: depth + 1,
        key: `${key}/${String(index)}`,
        tone,
        changes,
        box: false,
      },
      options,
    ),
  );
  return [
    { ...line, key: `${key}{`, pieces: [{ text: isArray ? '[' : '{' }], note },
    ...members,
    { depth, tone, changes, box: false, key: `${key}}`, pieces: [{ text: isArray ? ']' : '}' }] },
  ];
}

/** One changed value: old and new, or what is decided between. */
export function changeLines(
  change: PlaceChange,
  index: number,
  name: string | undefined,
  depth: number,
  options: LinesOptions,
): Line[] {
  if (change.class === 'divergent') return conflictLines(change, index, name, depth, options);
  const { base, branch } = change;
  const key = pathKey(change.path);
  if (base !== undefined && branch !== undefined && isScalarType(base[0]) && isScalarType(branch[0])) {
    return scalarLines(base, branch, { name, depth, key, index }, options);
  }
  const place = { name, depth, changes: [index] };
  const lines: Line[] = [];
  if (base !== undefined) {
    const note = branch === undefined ? 'field removed' : undefined;
    lines.push(...valueLines(base, { ...place, key: `${key}-`, tone: 'rem', box: true, note }, options));
  }
  if (branch !== undefined) {
    const isNew = base === undefined;
    const note = isNew ? 'new field' : undefined;
    lines.push(...valueLines(branch, { ...place, key: `${key}+`, tone: 'add', box: isNew, note }, options));
  }
  return lines;
}

function scalarLines(
  base: BsonValue,
  branch: BsonValue,
  { name, depth, key, index }: { name: string | undefined; depth: number; key: string; index: number },
  options: LinesOptions,
): Line[] {
  const [from, to] = [plainText(base, longestValue), plainText(branch, longestValue)];
  const types = [typeName(base), typeName(branch)] as const;
  const common = { depth, name, changes: [index] };
  if (from === to && types[0] !== types[1]) {
    const note = 'only the type';
    return [{ ...common, key: `${key}~`, tone: 'mod', pieces: [{ text: from }], types, note, box: true }];
  }
  const noteOf = (type: string): string | undefined => (types[0] === types[1] ? typeNote(type, options) : type);
  const [old, fresh] = markBetween(from, to, base[0] === Type.String && branch[0] === Type.String);
  return [
    { ...common, key: `${key}-`, tone: 'rem', pieces: old, note: noteOf(types[0]), box: true },
    { ...common, key: `${key}+`, tone: 'add', pieces: fresh, note: noteOf(types[1]), box: false },
  ];
}

function conflictLines(
  change: PlaceChange,
  index: number,
  name: string | undefined,
  depth: number,
  { names = { parent: 'parent', branch: 'branch' } }: LinesOptions,
): Line[] {
  const { base, parent, branch } = change;
  const key = pathKey(change.path);
  const missing = base === undefined ? 'not there' : 'removed';
  const text = (value: BsonValue | undefined): string => (value === undefined ? missing : plainText(value, 400));
  const common = { depth, tone: 'con' as const, name: name ?? 'document', changes: [index] };
  return [
    { ...common, key: `${key}!base`, pieces: [{ text: text(base) }], note: 'base', box: true },
    {
      ...common,
      key: `${key}!parent`,
      pieces: [{ text: text(parent) }],
      note: names.parent,
      box: false,
      side: 'parent',
    },
    {
      ...common,
      key: `${key}!branch`,
      pieces: [{ text: text(branch) }],
      note: names.branch,
      box: false,
      side: 'branch',
    },
  ];
}

/** Fields or elements that only changed places. */
export function orderLine(change: PlaceChange, index: number, depth: number): Line {
  const names = (value: BsonValue | undefined): string => (value === undefined ? '' : plainText(value, 80));
  return {
    key: `${pathKey(change.path)}~order`,
    depth,
    tone: 'mod',
    pieces: [{ text: `order ${names(change.base)} → ${names(change.branch)}` }],
    note: 'only the order',
    changes: [index],
    box: true,
  };
}

/** A short array of simple values, old and new on one line each, its changed elements marked: one choice. */
export function inlineArrayLines(
  before: ElementSlice,
  after: ElementSlice,
  place: {
    readonly name: string | undefined;
    readonly depth: number;
    readonly key: string;
    readonly changes: readonly number[];
  },
): Line[] | undefined {
  const { name, depth, key, changes } = place;
  const [old, fresh] = [elementsOf(before), elementsOf(after)];
  if (![...old, ...fresh].every((element) => isScalarType(element.type))) return undefined;
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
  return [
    { key: `${key}-`, depth, tone: 'rem', name, pieces: side(old, marks.before, 'del'), changes, box: true },
    { key: `${key}+`, depth, tone: 'add', name, pieces: side(fresh, marks.after, 'ins'), changes, box: false },
  ];
}

function typeNote(type: string, options: LinesOptions): string | undefined {
  return options.noteTypes === true && !plainTypes.has(type) ? type : undefined;
}
