import type { FieldPath } from '../../shared/api.ts';
import { Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { plural } from '../shell/numbers.ts';
import { inlineArrayLines, orderLines } from './array-lines.ts';
import { changeLines, valueLines } from './change-lines.ts';
import { foldLine, moreKey, pathKey, shownMembers } from './line.ts';
import type { Line, LinesOptions, PlaceChange, Tone } from './line.ts';
import { pairArray, pairObject } from './pairs.ts';
import type { Pair } from './pairs.ts';
import { pathText } from './plain.ts';

/**
 * The lines of two images of a document with `changes` marked; unchanged runs are folded. Either image may be missing. Each
 * change has a line: one that finds no place in the tree is told by its path at the end.
 */
export function diffLines(
  base: BsonValue | undefined,
  target: BsonValue | undefined,
  changes: readonly PlaceChange[],
  options: LinesOptions,
): Line[] {
  const writer = new Writer(changes, options);
  const whole = changes.findIndex((change) => change.path.length === 0 && change.order !== true);
  if (whole >= 0 || base === undefined || target === undefined) {
    writer.whole(base, target, whole);
  } else {
    writer.orderNote([], 0);
    writer.members(base, target, [], 0);
    writer.rest();
  }
  return writer.lines;
}

/** The lines of one image. */
export function imageLines(image: BsonValue, opened: ReadonlySet<string> = new Set()): Line[] {
  const writer = new Writer([], { opened });
  writer.image(image, 'plain', []);
  return writer.lines;
}

interface Unchanged {
  readonly pair: Pair;
  readonly path: FieldPath;
}

class Writer {
  readonly lines: Line[] = [];
  /** Changes by the key of their path. */
  readonly #at = new Map<string, number[]>();
  /** Keys of paths that hold a change somewhere below. */
  readonly #above = new Set<string>();
  /** Changes that have a line. */
  readonly #told = new Set<number>();
  readonly #changes: readonly PlaceChange[];
  readonly #options: LinesOptions;

  constructor(changes: readonly PlaceChange[], options: LinesOptions) {
    this.#changes = changes;
    this.#options = options;
    changes.forEach((change, index) => {
      const key = pathKey(change.path);
      this.#at.set(key, [...(this.#at.get(key) ?? []), index]);
      for (let length = 0; length < change.path.length; length += 1) {
        this.#above.add(pathKey(change.path.slice(0, length)));
      }
    });
  }

  /** A document that exists on one side only, or whose sides are decided as a whole. */
  whole(base: BsonValue | undefined, target: BsonValue | undefined, index: number): void {
    const change = this.#changes[index];
    if (change?.class === 'divergent') this.#push(changeLines(change, index, undefined, 0, this.#options));
    const image = target ?? base;
    if (image === undefined) return;
    const tone = target === undefined ? 'rem' : base === undefined ? 'add' : 'plain';
    this.image(image, tone, change === undefined ? [] : [index]);
  }

  image(image: BsonValue, tone: Tone, changes: readonly number[]): void {
    const members = elementsOf(valueSlice(image));
    members.forEach((element, index) => {
      const box = index === 0 && changes.length > 0;
      const place = { name: element.name, depth: 0, key: `/${String(index)}`, tone, changes, box };
      this.#push(valueLines(element.value, place, this.#options));
    });
    if (members.length > 0) return;
    this.#push([{ key: 'empty', depth: 0, tone, pieces: [{ text: '{}' }], changes, box: changes.length > 0 }]);
  }

  members(base: BsonValue, target: BsonValue, path: FieldPath, depth: number): void {
    const isArray = target[0] === Type.Array;
    const [before, after] = [elementsOf(valueSlice(base)), elementsOf(valueSlice(target))];
    const pairs = isArray ? pairArray(before, after).pairs : pairObject(before, after);
    let unchanged: Unchanged[] = [];
    for (const pair of pairs) {
      const place = placeOf(pair, path, isArray);
      if (!this.#touches(pair, place)) {
        unchanged.push({ pair, path: place });
        continue;
      }
      this.#unchanged(unchanged, isArray, depth);
      unchanged = [];
      this.#changed(pair, place, isArray, depth);
    }
    this.#unchanged(unchanged, isArray, depth);
  }

  orderNote(path: FieldPath, depth: number): void {
    const index = (this.#at.get(pathKey(path)) ?? []).find((at) => this.#changes[at]?.order === true);
    const change = index === undefined ? undefined : this.#changes[index];
    if (index !== undefined && change !== undefined) this.#push(orderLines(change, index, depth));
  }

  /** Changes that found no place in the tree, by their whole path: none may be hidden. */
  rest(): void {
    this.#changes.forEach((change, index) => {
      if (!this.#told.has(index)) this.#push(changeLines(change, index, pathText(change.path), 0, this.#options));
    });
  }

  /** Whether a change is at this place or below it. A removed element may have the index of one that is there. */
  #touches(pair: Pair, path: FieldPath): boolean {
    return this.#here(pair, path).length > 0 || (pair.after !== undefined && this.#above.has(pathKey(path)));
  }

  #here(pair: Pair, path: FieldPath): number[] {
    return (this.#at.get(pathKey(path)) ?? []).filter((index) => {
      const change = this.#changes[index];
      if (change === undefined || this.#told.has(index)) return false;
      if (change.order === true) return pair.before !== undefined && pair.after !== undefined;
      return (change.branch === undefined) === (pair.after === undefined);
    });
  }

  #changed(pair: Pair, path: FieldPath, inArray: boolean, depth: number): void {
    const name = inArray ? undefined : pair.name;
    const index = this.#here(pair, path).find((at) => this.#changes[at]?.order !== true);
    const change = index === undefined ? undefined : this.#changes[index];
    if (index !== undefined && change !== undefined) {
      this.#push(changeLines(change, index, name, depth, this.#options));
      return;
    }
    const { before, after } = pair;
    // Sides that are not paired here but were by the compare: their changes are told by their paths.
    if (before === undefined || after === undefined || before.type !== after.type) return;
    const below = this.#below(path);
    if (after.type === Type.Array && below.every((at) => this.#changes[at]?.class !== 'divergent')) {
      const lines = inlineArrayLines(before, after, { name, depth, key: pathKey(path), changes: below });
      if (lines !== undefined) {
        this.#push(lines);
        return;
      }
    }
    this.#open(name, before.value, after.value, path, depth);
  }

  /** A container of which parts changed: its brackets around them. */
  #open(name: string | undefined, before: BsonValue, after: BsonValue, path: FieldPath, depth: number): void {
    const isArray = after[0] === Type.Array;
    const key = pathKey(path);
    const plain = { depth, tone: 'plain' as const, changes: [], box: false };
    const note = isArray ? arrayNote(before, after) : undefined;
    this.#push([{ ...plain, key: `${key}{`, name, pieces: [{ text: isArray ? '[' : '{' }], note }]);
    this.orderNote(path, depth + 1);
    this.members(before, after, path, depth + 1);
    this.#push([{ ...plain, key: `${key}}`, pieces: [{ text: isArray ? ']' : '}' }] }]);
  }

  /** Fields that are alike on both sides: one is shown, more are folded. */
  #unchanged(run: readonly Unchanged[], inArray: boolean, depth: number): void {
    const [first] = run;
    if (first === undefined) return;
    const key = `fold${pathKey(first.path)}`;
    if (run.length > 1 && !this.#options.opened.has(key)) {
      const names = run.map(({ pair }) => pair.name).join(', ');
      const listed = !inArray && names.length < 48 ? `: ${names}` : '';
      const text = `${plural(run.length, `unchanged ${inArray ? 'element' : 'field'}`)}${listed}`;
      this.#push([foldLine(key, depth, text)]);
      return;
    }
    const shown = shownMembers(run.length, key, this.#options.opened);
    for (const { pair, path } of run.slice(0, shown)) {
      const element = pair.after ?? pair.before;
      if (element === undefined) continue;
      const name = inArray ? undefined : pair.name;
      const place = { name, depth, key: pathKey(path), tone: 'plain' as const, changes: [], box: false };
      this.#push(valueLines(element.value, place, this.#options));
    }
    const rest = run.length - shown;
    if (rest > 0) {
      this.#push([foldLine(moreKey(key, shown), depth, plural(rest, inArray ? 'more element' : 'more field'))]);
    }
  }

  #below(path: FieldPath): number[] {
    return this.#changes.flatMap((change, index) =>
      change.path.length > path.length && path.every((part, at) => change.path[at] === part) ? [index] : [],
    );
  }

  #push(lines: readonly Line[]): void {
    for (const line of lines) {
      for (const index of line.changes) this.#told.add(index);
      this.lines.push(line);
    }
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
