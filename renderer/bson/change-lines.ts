import { Type, typeName } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { plural } from '../shell/numbers.ts';
import { wholeArrayLines } from './array-lines.ts';
import { foldLine, moreKey, pathKey, shownMembers } from './line.ts';
import type { Line, LinesOptions, Place, PlaceChange } from './line.ts';
import { plainText } from './plain.ts';
import { stringOf, textChangeLines, textValueLines } from './text-lines.ts';

const inlineChars = 64;
const longestValue = 4_000;
/** Types that a value's text already shows. */
const plainTypes: ReadonlySet<string> = new Set(['String', 'Boolean', 'Null']);

export function isScalarType(type: number | undefined): boolean {
  return type !== Type.Object && type !== Type.Array;
}

/** A value on one line where it fits, else its members below each other. */
export function valueLines(value: BsonValue, place: Place, options: LinesOptions): Line[] {
  const { name, depth, key, tone, changes, box, note } = place;
  const line = { depth, tone, name, changes, box };
  const isArray = value[0] === Type.Array;
  const isScalar = isScalarType(value[0]);
  const string = stringOf(value);
  if (string !== undefined && string.length > inlineChars) return textValueLines(string, place, options);
  if (isScalar || plainText(value, inlineChars + 1).length <= inlineChars) {
    const typed = tone !== 'plain' && isScalar ? typeNote(typeName(value), options) : undefined;
    return [{ ...line, key, pieces: [{ text: plainText(value, longestValue) }], note: note ?? typed }];
  }
  const all = elementsOf(valueSlice(value));
  const shown = shownMembers(all.length, key, options.opened);
  const members = all.slice(0, shown).flatMap((element, index) =>
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
  if (shown < all.length) {
    const rest = plural(all.length - shown, isArray ? 'more element' : 'more field');
    members.push(foldLine(moreKey(key, shown), depth + 1, rest));
  }
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
  if (base?.[0] === Type.Array && branch?.[0] === Type.Array && isLong(base, branch)) {
    return wholeArrayLines(base, branch, { name, depth, key, changes: [index] }, options, valueLines);
  }
  const place = { name, depth, changes: [index] };
  const lines: Line[] = [];
  if (base !== undefined) {
    const note = branch === undefined ? `${name === undefined ? 'element' : 'field'} removed` : undefined;
    lines.push(...valueLines(base, { ...place, key: `${key}-`, tone: 'rem', box: true, note }, options));
  }
  if (branch !== undefined) {
    const isNew = base === undefined;
    const note = isNew ? `new ${name === undefined ? 'element' : 'field'}` : undefined;
    lines.push(...valueLines(branch, { ...place, key: `${key}+`, tone: 'add', box: isNew, note }, options));
  }
  return lines;
}

/** A few elements are read more quickly twice than with their differences explained. */
function isLong(base: BsonValue, branch: BsonValue): boolean {
  return Math.max(plainText(base, 200).length, plainText(branch, 200).length) > inlineChars;
}

function scalarLines(
  base: BsonValue,
  branch: BsonValue,
  { name, depth, key, index }: { name: string | undefined; depth: number; key: string; index: number },
  options: LinesOptions,
): Line[] {
  const [old, fresh] = [stringOf(base), stringOf(branch)];
  if (old !== undefined && fresh !== undefined) {
    return textChangeLines(old, fresh, { name, depth, key, changes: [index] }, options);
  }
  const [from, to] = [plainText(base, longestValue), plainText(branch, longestValue)];
  const types = [typeName(base), typeName(branch)] as const;
  const common = { depth, name, changes: [index] };
  if (from === to && types[0] !== types[1]) {
    const note = 'only the type';
    return [{ ...common, key: `${key}~`, tone: 'mod', pieces: [{ text: from }], types, note, box: true }];
  }
  const noteOf = (type: string): string | undefined => (types[0] === types[1] ? typeNote(type, options) : type);
  return [
    { ...common, key: `${key}-`, tone: 'rem', pieces: [{ text: from }], note: noteOf(types[0]), box: true },
    { ...common, key: `${key}+`, tone: 'add', pieces: [{ text: to }], note: noteOf(types[1]), box: false },
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

function typeNote(type: string, options: LinesOptions): string | undefined {
  return options.noteTypes === true && !plainTypes.has(type) ? type : undefined;
}
