import type { FieldPath } from '../../shared/api.ts';
import { Type, typeName } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import type { ElementSlice } from '../../shared/bson/walk.ts';
import { plural } from '../shell/numbers.ts';
import { pairArray, pairObject } from './pairs.ts';
import type { Pair } from './pairs.ts';
import { pathText, plainText } from './plain.ts';
import { markBetween } from './text-marks.ts';
import type { Piece } from './text-marks.ts';

/** One changed place of a document, as the engine or the two-way compare gives it. */
export interface PlaceChange {
  readonly path: FieldPath;
  readonly base?: BsonValue | undefined;
  readonly parent?: BsonValue | undefined;
  readonly branch?: BsonValue | undefined;
  readonly class: 'clean' | 'convergent' | 'divergent';
  readonly order?: true | undefined;
}

export type Tone = 'plain' | 'add' | 'rem' | 'mod' | 'con' | 'fold';

/** One line of a document: of one image, or of two with their differences. */
export interface Line {
  readonly key: string;
  readonly depth: number;
  readonly tone: Tone;
  readonly name?: string | undefined;
  /** The value, a bracket, or what a fold holds. */
  readonly pieces: readonly Piece[];
  /** Old and new type, where only the type changed. */
  readonly types?: readonly [string, string];
  readonly note?: string | undefined;
  /** Which changes the line is about, as positions in the list given. */
  readonly changes: readonly number[];
  /** The first line of a choice: its box stands here. */
  readonly box: boolean;
  /** For a side of a conflict. */
  readonly side?: 'parent' | 'branch';
}

export interface LinesOptions {
  /** Keys of folds that were opened. */
  readonly opened: ReadonlySet<string>;
  /** Says the type beside each changed value. */
  readonly noteTypes?: boolean;
  readonly names?: { readonly parent: string; readonly branch: string };
}

/** Types that a value's text already shows. */
const plainTypes: ReadonlySet<string> = new Set(['String', 'Boolean', 'Null']);
const inlineChars = 64;
const longestValue = 4_000;

/** The lines of two images of a document with `changes` marked; unchanged runs are folded. Either image may be missing. */
export function diffLines(
  base: BsonValue | undefined,
  target: BsonValue | undefined,
  changes: readonly PlaceChange[],
  options: LinesOptions,
): Line[] {
  const writer = new Writer(changes, options);
  const whole = changes.findIndex((change) => change.path.length === 0 && change.order !== true);
  if (whole >= 0 || base === undefined || target === undefined) {
    writer.whole(base, target, Math.max(whole, -1));
  } else {
    writer.orderNote([], 0);
    writer.members(base, target, [], 0);
    writer.rest();
  }
  return writer.lines;
}

/** The lines of one image. */
export function imageLines(image: BsonValue): Line[] {
  const writer = new Writer([], { opened: new Set() });
  writer.image(image, 'plain', []);
  return writer.lines;
}

class Writer {
  readonly lines: Line[] = [];
  /** Changes by the key of their path. */
  readonly #at = new Map<string, number[]>();
  /** Keys of paths that hold a change somewhere below. */
  readonly #above = new Set<string>();
  /** Changes that have a line. */
  readonly #told = new Set<number>();

  constructor(
    readonly changes: readonly PlaceChange[],
    readonly options: LinesOptions,
  ) {
    changes.forEach((change, index) => {
      const key = keyOf(change.path);
      this.#at.set(key, [...(this.#at.get(key) ?? []), index]);
      for (let length = 0; length < change.path.length; length += 1)
        this.#above.add(keyOf(change.path.slice(0, length)));
    });
  }

  /** A document that exists on one side only, or whose sides are decided as a whole. */
  whole(base: BsonValue | undefined, target: BsonValue | undefined, change: number): void {
    const about = change < 0 ? [] : [change];
    if (this.changes[change]?.class === 'divergent') this.conflict(undefined, change, 0);
    const image = target ?? base;
    if (image === undefined) return;
    this.image(image, target === undefined ? 'rem' : base === undefined ? 'add' : 'plain', about);
  }

  image(image: BsonValue, tone: Tone, about: readonly number[]): void {
    const members = elementsOf(valueSlice(image));
    members.forEach((element, index) => {
      this.value(element.name, element.value, tone, 0, `/${String(index)}`, index === 0 ? about : [], about);
    });
    if (members.length === 0)
      this.push({ key: 'empty', depth: 0, tone, pieces: [{ text: '{}' }], changes: about, box: about.length > 0 });
  }

  members(base: BsonValue, target: BsonValue, path: FieldPath, depth: number): void {
    const isArray = target[0] === Type.Array;
    const [before, after] = [elementsOf(valueSlice(base)), elementsOf(valueSlice(target))];
    const pairs = isArray ? pairArray(before, after).pairs : pairObject(before, after);
    let unchanged: { readonly pair: Pair; readonly path: FieldPath }[] = [];
    const fold = (): void => {
      this.unchanged(unchanged, isArray, depth);
      unchanged = [];
    };
    for (const pair of pairs) {
      const place = placeOf(pair, path, isArray);
      if (!this.touches(pair, place)) {
        unchanged.push({ pair, path: place });
        continue;
      }
      fold();
      this.changed(pair, place, isArray, depth);
    }
    fold();
  }

  /** Whether a change is at this place or below it. A removed element may have the index of one that is there. */
  touches(pair: Pair, path: FieldPath): boolean {
    return this.here(pair, path).length > 0 || (pair.after !== undefined && this.#above.has(keyOf(path)));
  }

  here(pair: Pair, path: FieldPath): number[] {
    return (this.#at.get(keyOf(path)) ?? []).filter((index) => {
      const change = this.changes[index];
      if (change === undefined || this.#told.has(index)) return false;
      if (change.order === true) return pair.before !== undefined && pair.after !== undefined;
      return (change.branch === undefined) === (pair.after === undefined);
    });
  }

  changed(pair: Pair, path: FieldPath, inArray: boolean, depth: number): void {
    const name = inArray ? undefined : pair.name;
    const key = keyOf(path);
    const first = this.here(pair, path).find((index) => this.changes[index]?.order !== true);
    if (first !== undefined) {
      this.place(name, first, depth);
      return;
    }
    const { before, after } = pair;
    // Sides that are not paired here but were by the compare: their changes are told by their paths.
    if (before === undefined || after === undefined || before.type !== after.type) return;
    const below = this.below(path);
    if (after.type === Type.Array && this.inlineArray(name, before, after, below, depth, key)) return;
    this.open(name, before.value, after.value, path, depth);
  }

  /** A container of which parts changed: its brackets around them. */
  open(name: string | undefined, before: BsonValue, after: BsonValue, path: FieldPath, depth: number): void {
    const isArray = after[0] === Type.Array;
    const key = keyOf(path);
    const plain = { depth, tone: 'plain' as const, changes: [], box: false };
    const note = isArray ? arrayNote(before, after) : undefined;
    this.push({ ...plain, key: `${key}{`, name, pieces: [{ text: isArray ? '[' : '{' }], note });
    this.orderNote(path, depth + 1);
    this.members(before, after, path, depth + 1);
    this.push({ ...plain, key: `${key}}`, pieces: [{ text: isArray ? ']' : '}' }] });
  }

  orderNote(path: FieldPath, depth: number): void {
    const index = (this.#at.get(keyOf(path)) ?? []).find((at) => this.changes[at]?.order === true);
    const change = index === undefined ? undefined : this.changes[index];
    if (index === undefined || change === undefined) return;
    const names = (value: BsonValue | undefined): string => (value === undefined ? '' : plainText(value, 80));
    this.push({
      key: `${keyOf(path)}~order`,
      depth,
      tone: 'mod',
      pieces: [{ text: `order ${names(change.base)} → ${names(change.branch)}` }],
      note: 'only the order',
      changes: [index],
      box: true,
    });
  }

  /** One changed value. */
  place(name: string | undefined, index: number, depth: number): void {
    const change = this.changes[index];
    if (change === undefined) return;
    if (change.class === 'divergent') {
      this.conflict(name, index, depth);
      return;
    }
    const { base, branch } = change;
    const key = keyOf(change.path);
    if (base !== undefined && branch !== undefined && isScalar(base) && isScalar(branch)) {
      this.scalars(name, base, branch, index, depth, key);
      return;
    }
    if (base !== undefined) {
      this.value(
        name,
        base,
        'rem',
        depth,
        `${key}-`,
        [index],
        [index],
        branch === undefined ? 'field removed' : undefined,
      );
    }
    if (branch !== undefined) {
      this.value(
        name,
        branch,
        'add',
        depth,
        `${key}+`,
        base === undefined ? [index] : [],
        [index],
        base === undefined ? 'new field' : undefined,
      );
    }
  }

  scalars(
    name: string | undefined,
    base: BsonValue,
    branch: BsonValue,
    index: number,
    depth: number,
    key: string,
  ): void {
    const [from, to] = [plainText(base, longestValue), plainText(branch, longestValue)];
    const types = [typeName(base), typeName(branch)] as const;
    if (from === to && types[0] !== types[1]) {
      const line = { key: `${key}~`, depth, tone: 'mod' as const, name, pieces: [{ text: from }], types };
      this.push({ ...line, note: 'only the type', changes: [index], box: true });
      return;
    }
    const noteOf = (type: string): string | undefined =>
      types[0] !== types[1] || (this.options.noteTypes === true && !plainTypes.has(type)) ? type : undefined;
    const [old, fresh] = markBetween(from, to, base[0] === Type.String && branch[0] === Type.String);
    this.push({
      key: `${key}-`,
      depth,
      tone: 'rem',
      name,
      pieces: old,
      note: noteOf(types[0]),
      changes: [index],
      box: true,
    });
    this.push({
      key: `${key}+`,
      depth,
      tone: 'add',
      name,
      pieces: fresh,
      note: noteOf(types[1]),
      changes: [index],
      box: false,
    });
  }

  conflict(name: string | undefined, index: number, depth: number): void {
    const change = this.changes[index];
    if (change === undefined) return;
    const key = keyOf(change.path);
    const { parent = 'parent', branch = 'branch' } = this.options.names ?? {};
    const text = (value: BsonValue | undefined): string => (value === undefined ? 'removed' : plainText(value, 400));
    const common = { depth, tone: 'con' as const, name: name ?? 'document', changes: [index] };
    const base = change.base === undefined ? 'not there' : plainText(change.base, 400);
    this.push({ ...common, key: `${key}!base`, pieces: [{ text: base }], note: 'base', box: true });
    this.push({
      ...common,
      key: `${key}!parent`,
      pieces: [{ text: text(change.parent) }],
      note: parent,
      box: false,
      side: 'parent',
    });
    this.push({
      ...common,
      key: `${key}!branch`,
      pieces: [{ text: text(change.branch) }],
      note: branch,
      box: false,
      side: 'branch',
    });
  }

  /** A short array of simple values, old and new on one line each, its changed elements marked: one choice. */
  inlineArray(
    name: string | undefined,
    before: ElementSlice,
    after: ElementSlice,
    below: readonly number[],
    depth: number,
    key: string,
  ): boolean {
    const [old, fresh] = [elementsOf(before), elementsOf(after)];
    const simple = [...old, ...fresh].every((element) => isScalarType(element.type));
    const divergent = below.some((index) => this.changes[index]?.class === 'divergent');
    const length = plainText(after.value, 200).length + plainText(before.value, 200).length;
    if (!simple || divergent || length > 2 * inlineChars) return false;
    const { pairs } = pairArray(old, fresh);
    const differs = (pair: Pair): boolean =>
      pair.before === undefined ||
      pair.after === undefined ||
      plainText(pair.before.value) !== plainText(pair.after.value);
    const side = (one: 'before' | 'after', mark: 'del' | 'ins'): Piece[] => {
      const pieces: Piece[] = [{ text: '[' }];
      pairs.forEach((pair) => {
        const element = pair[one];
        if (element === undefined) return;
        if (pieces.length > 1) pieces.push({ text: ', ' });
        pieces.push({ text: plainText(element.value), ...(differs(pair) ? { mark } : {}) });
      });
      return [...pieces, { text: ']' }];
    };
    this.push({ key: `${key}-`, depth, tone: 'rem', name, pieces: side('before', 'del'), changes: below, box: true });
    this.push({ key: `${key}+`, depth, tone: 'add', name, pieces: side('after', 'ins'), changes: below, box: false });
    return true;
  }

  /** Fields that are alike on both sides: one is shown, more are folded. */
  unchanged(run: readonly { readonly pair: Pair; readonly path: FieldPath }[], inArray: boolean, depth: number): void {
    const [first] = run;
    if (first === undefined) return;
    const key = `fold${keyOf(first.path)}`;
    if (run.length > 1 && !this.options.opened.has(key)) {
      const word = inArray ? 'element' : 'field';
      const names = run.map(({ pair }) => pair.name).join(', ');
      const listed = !inArray && names.length < 48 ? `: ${names}` : '';
      this.push({
        key,
        depth,
        tone: 'fold',
        pieces: [{ text: `${plural(run.length, `unchanged ${word}`)}${listed}` }],
        changes: [],
        box: false,
      });
      return;
    }
    for (const { pair, path } of run) {
      const element = pair.after ?? pair.before;
      if (element !== undefined)
        this.value(inArray ? undefined : pair.name, element.value, 'plain', depth, keyOf(path), [], []);
    }
  }

  /** A value on one line where it fits, else its members below each other. */
  value(
    name: string | undefined,
    value: BsonValue,
    tone: Tone,
    depth: number,
    key: string,
    boxed: readonly number[],
    about: readonly number[],
    note?: string,
  ): void {
    const line = { depth, tone, name, changes: about, box: boxed.length > 0 };
    const isArray = value[0] === Type.Array;
    if (isScalar(value) || plainText(value, inlineChars + 1).length <= inlineChars) {
      const typed =
        this.options.noteTypes === true && tone !== 'plain' && isScalar(value) ? typeName(value) : undefined;
      this.push({ ...line, key, pieces: [{ text: plainText(value, longestValue) }], note: note ?? typed });
      return;
    }
    this.push({ ...line, key: `${key}{`, pieces: [{ text: isArray ? '[' : '{' }], note });
    for (const [index, element] of elementsOf(valueSlice(value)).entries()) {
      this.value(
        isArray ? undefined : element.name,
        element.value,
        tone,
        depth + 1,
        `${key}/${String(index)}`,
        [],
        about,
      );
    }
    this.push({ depth, tone, changes: about, box: false, key: `${key}}`, pieces: [{ text: isArray ? ']' : '}' }] });
  }

  below(path: FieldPath): number[] {
    return this.changes.flatMap((change, index) =>
      change.path.length > path.length && path.every((part, at) => change.path[at] === part) ? [index] : [],
    );
  }

  /** Changes that found no place in the tree, by their whole path: none may be hidden. */
  rest(): void {
    this.changes.forEach((change, index) => {
      if (!this.#told.has(index)) this.place(pathText(change.path), index, 0);
    });
  }

  push(line: Line): void {
    for (const index of line.changes) this.#told.add(index);
    this.lines.push(line);
  }
}

/** The path of a pair: array elements go by their place in the target, removed ones by that in the base. */
function placeOf(pair: Pair, path: FieldPath, inArray: boolean): FieldPath {
  return [...path, inArray ? (pair.afterIndex ?? pair.beforeIndex ?? 0) : pair.name];
}

function arrayNote(before: BsonValue, after: BsonValue): string {
  const [old, fresh] = [elementsOf(valueSlice(before)), elementsOf(valueSlice(after))];
  const { by } = pairArray(old, fresh);
  return by === undefined ? 'compared by position' : `${String(fresh.length)}, matched by ${by}`;
}

function isScalarType(type: number): boolean {
  return type !== Type.Object && type !== Type.Array;
}

function isScalar(value: BsonValue): boolean {
  return isScalarType(value[0] ?? 0);
}

function keyOf(path: FieldPath): string {
  return JSON.stringify(path);
}
