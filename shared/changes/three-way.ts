/**
 * The rules of a three-way compare, value by value. Whether something changed is decided by bytes; what the branch left as it was at
 * the base is never listed. Objects are entered, and arrays where elements can be told apart; everything else is one value.
 */
import { sameSlice, type Slice, sliceValue } from '../bson/walk.ts';
import { Type, type BsonValue, valueOf } from '../bson/value.ts';
import { buildArray } from '../bson/walk.ts';
import { compareArrays } from './arrays.ts';
import { nameValues, OpenArray, openObject } from './containers.ts';
import type { Named } from './named.ts';
import type { Node, Three } from './node.ts';
import { interleave, sameOrder } from './order.ts';
import type { FieldDelta, MergeClass } from './sides.ts';

export type Path = readonly (string | number)[];

/** One compare's settings. */
export interface Context {
  /** What the branch alone changed must be decided too. */
  readonly everyChangeDiverges: boolean;
}

/** Deeper than any server lets a document nest (180 levels); what lies below is one value. */
const deepest = 250;

/** The branch's changes of a value, or undefined where it has none. */
export function compareValue(context: Context, given: Three<Slice | undefined>, path: Path): Node | undefined {
  const { base, branch } = given;
  if (sameSlice(branch, base)) return undefined;
  // One reference for equal sides: from here on they are opened once and known as equal.
  const parent = sameSlice(given.parent, base) ? base : sameSlice(given.parent, branch) ? branch : given.parent;
  if (base !== undefined && parent !== undefined && branch !== undefined && path.length < deepest) {
    const sides = { base, parent, branch };
    if (allOf(sides, Type.Object)) {
      const node = compareObjects(context, sides, path);
      if (node !== 'opaque') return node;
    } else if (allOf(sides, Type.Array)) {
      const node = compareArrays(context, sides, path);
      if (node !== 'opaque') return node;
    }
  }
  return leaf(context, { base, parent, branch }, path);
}

function allOf({ base, parent, branch }: Three<Slice>, type: number): boolean {
  return base.type === type && parent.type === type && branch.type === type;
}

/** A change that is taken or left as a whole. */
export function leaf(context: Context, sides: Three<Slice | undefined>, path: Path): Node {
  const { base, parent, branch } = sides;
  return {
    kind: 'leaf',
    delta: {
      path: [...path],
      ...(base === undefined ? {} : { base: sliceValue(base) }),
      ...(parent === undefined ? {} : { parent: sliceValue(parent) }),
      ...(branch === undefined ? {} : { branch: sliceValue(branch) }),
      class: classOf(context, sides),
    },
  };
}

function classOf(context: Context, { base, parent, branch }: Three<Slice | undefined>): MergeClass {
  if (sameSlice(parent, branch)) return 'convergent';
  if (sameSlice(parent, base)) return context.everyChangeDiverges ? 'divergent' : 'clean';
  return parent !== undefined && branch !== undefined && sameButOrder(parent, branch, 0) ? 'convergent' : 'divergent';
}

/** Whether two values hold the same fields, in whatever order. */
function sameButOrder(a: Slice, b: Slice, depth: number): boolean {
  if (sameSlice(a, b)) return true;
  if (a.type !== b.type || a.end - a.start !== b.end - b.start || depth > deepest) return false;
  if (a.type === Type.Array) {
    const [left, right] = [OpenArray.open(a), OpenArray.open(b)];
    if (left === undefined || right === undefined || left.length !== right.length) return false;
    for (let i = 0; i < left.length; i++) {
      if (!sameButOrder(left.element(i), right.element(i), depth + 1)) return false;
    }
    return true;
  }
  if (a.type !== Type.Object) return false;
  const [left, right] = [openObject(a), openObject(b)];
  if (left === undefined || right === undefined || left.names.length !== right.names.length) return false;
  return left.names.every((name, index) => {
    const other = right.get(name);
    return other !== undefined && sameButOrder(left.values[index]!, other, depth + 1);
  });
}

/** `opaque` where an object's fields cannot be told apart. */
function compareObjects(context: Context, slices: Three<Slice>, path: Path): Node | undefined | 'opaque' {
  const base = openObject(slices.base);
  const branch = openObject(slices.branch, base);
  if (base === undefined || branch === undefined) return 'opaque';
  const parent =
    slices.parent === slices.base ? base : slices.parent === slices.branch ? branch : openObject(slices.parent, base);
  if (parent === undefined) return 'opaque';
  const sides = { base, parent, branch };
  const { children, order } = compareNamed(context, sides, path, (name) => name, nameValues);
  if (children.size === 0 && order === undefined) return undefined;
  return { kind: 'object', sides, children, order, around: undefined };
}

/** Compares values under names. `step` gives a name's place in the path, `orderValues` what an order entry shows of names. */
export function compareNamed(
  context: Context,
  sides: Three<Named>,
  path: Path,
  step: (name: string) => string | number,
  orderValues: (names: readonly string[], side: Named) => BsonValue[],
): { children: Map<string, Node>; order: FieldDelta | undefined } {
  const { base, parent, branch } = sides;
  const children = new Map<string, Node>();
  const compareField = (name: string, before: Slice | undefined, after: Slice | undefined): void => {
    // Most fields are untouched: no path is built for them, nor is the parent's looked up.
    if (sameSlice(before, after)) return;
    const own = parent === base ? before : parent === branch ? after : parent.get(name);
    const node = compareValue(context, { base: before, parent: own, branch: after }, [...path, step(name)]);
    if (node !== undefined) children.set(name, node);
  };
  const unmoved = sameOrder(base.names, branch.names);
  if (unmoved) base.names.forEach((name, index) => compareField(name, base.values[index], branch.values[index]));
  else for (const name of interleave(branch.names, base.names)) compareField(name, base.get(name), branch.get(name));
  const change = unmoved ? undefined : orderChange(context, sides);
  if (change === undefined) return { children, order: undefined };
  const shown = (side: Named): BsonValue => valueOf(Type.Array, buildArray(orderValues(side.names, side)));
  return {
    children,
    order: {
      path: [...path],
      base: shown(base),
      parent: shown(parent),
      branch: shown(branch),
      class: change,
      order: true,
    },
  };
}

/** How the branch changed the order of the names that all sides have; undefined where it did not. */
function orderChange(context: Context, { base, parent, branch }: Three<Named>): MergeClass | undefined {
  const shared = (side: Named): string[] =>
    side.names.filter((name) => [base, parent, branch].every((other) => other.get(name) !== undefined));
  const [before, after] = [shared(base), shared(branch)];
  if (sameOrder(before, after)) return undefined;
  const other = shared(parent);
  if (sameOrder(other, after)) return 'convergent';
  if (sameOrder(other, before)) return context.everyChangeDiverges ? 'divergent' : 'clean';
  return 'divergent';
}
