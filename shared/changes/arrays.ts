/**
 * How arrays are compared. What all sides have alike at both ends is set aside. The rest is matched by `_id` (or else `id`) where
 * every element there is an object with one, unique on its side; else by position. More than {@link longestRest} elements
 * in between are one whole value.
 *
 * Where both sides changed the array, positions mean the same only if no side changed its length, and an element changed on
 * both sides is one value: without an id nobody can say that it still is the same element.
 */
import { sameSlice, type Slice, sliceValue } from '../bson/walk.ts';
import type { BsonValue } from '../bson/value.ts';
import { sliceKeyText } from '../bson/key.ts';
import { keyNameOf, type KeyName, keySlice, OpenArray, openObject } from './containers.ts';
import { Named } from './named.ts';
import type { Around, Node, Three } from './node.ts';
import { compareNamed, compareValue, type Context, leaf, type Path } from './three-way.ts';

const longestRest = 2000;

/** `opaque` where the array is one whole value. */
export function compareArrays(context: Context, slices: Three<Slice>, path: Path): Node | undefined | 'opaque' {
  const base = OpenArray.open(slices.base);
  const branch = OpenArray.open(slices.branch);
  if (base === undefined || branch === undefined) return 'opaque';
  const twoWay = slices.parent === slices.base || slices.parent === slices.branch;
  const parent = slices.parent === slices.base ? base : twoWay ? branch : OpenArray.open(slices.parent);
  if (parent === undefined) return 'opaque';

  const { head, tail } = sharedEnds(base, parent, branch);
  if ([base, parent, branch].some((side) => side.length - head - tail > longestRest)) return 'opaque';
  const rest = (side: OpenArray): Slice[] => side.elements(head, side.length - tail);
  const baseRest = rest(base);
  const branchRest = rest(branch);
  const parentRest = parent === base ? baseRest : parent === branch ? branchRest : rest(parent);
  const sides = { base: baseRest, parent: parentRest, branch: branchRest };
  const around = { array: parent, head, tail };

  const keyName = keyNameOf(twoWay ? [baseRest, branchRest] : [baseRest, parentRest, branchRest]);
  if (keyName !== undefined) return compareMatched(context, sides, keyName, around, path);
  if (twoWay) return comparePositions(context, sides, around, path);
  if (base.length !== branch.length || base.length !== parent.length) return 'opaque';
  return compareBothEdited(context, sides, around, path);
}

/** How many elements at each end are the same on all sides. */
function sharedEnds(base: OpenArray, parent: OpenArray, branch: OpenArray): { head: number; tail: number } {
  const shortest = Math.min(base.length, parent.length, branch.length);
  const alike = (at: (side: OpenArray) => number): boolean => {
    const element = base.element(at(base));
    return (
      sameSlice(element, branch.element(at(branch))) &&
      (parent === base || parent === branch || sameSlice(element, parent.element(at(parent))))
    );
  };
  let head = 0;
  while (head < shortest && alike(() => head)) head++;
  let tail = 0;
  while (tail < shortest - head && alike((side) => side.length - 1 - tail)) tail++;
  return { head, tail };
}

function compareMatched(
  context: Context,
  rests: Three<readonly Slice[]>,
  keyName: KeyName,
  around: Around,
  path: Path,
): Node | undefined {
  const base = matched(rests.base, keyName);
  const twoWay = rests.parent === rests.base || rests.parent === rests.branch;
  const ownBranch = matched(rests.branch, keyName);
  const branch = twoWay ? withRenamed(base, ownBranch) : ownBranch;
  const parent = rests.parent === rests.base ? base : twoWay ? branch : matched(rests.parent, keyName);
  const sides = { base, parent, branch };
  const place = (side: Named): Map<string, number> => new Map(side.names.map((name, index) => [name, index]));
  const [atBranch, atBase] = [place(branch), place(base)];
  const step = (name: string): number => around.head + (atBranch.get(name) ?? atBase.get(name) ?? 0);
  const ids = (names: readonly string[], side: Named): BsonValue[] =>
    names.map((name) => sliceValue(keySlice(side.get(name)!, keyName)!));
  const { children, order } = compareNamed(context, sides, path, step, ids);
  if (children.size === 0 && order === undefined) return undefined;
  return { kind: 'matched', sides, children, order, around };
}

function matched(elements: readonly Slice[], keyName: KeyName): Named {
  const names = elements.map((element) => sliceKeyText(keySlice(element, keyName)!));
  return new Named(names, elements);
}

/**
 * An element whose own id was changed in place: it stands where an element went, and some other field of it is as it was. Seen so,
 * the id is a changed field like any other instead of one element going and one coming.
 */
function withRenamed(base: Named, branch: Named): Named {
  if (base.names.length !== branch.names.length) return branch;
  const names = branch.names.map((name, index) => {
    const before = base.names[index]!;
    if (name === before || base.get(name) !== undefined || branch.get(before) !== undefined) return name;
    return shareField(base.values[index]!, branch.values[index]!) ? before : name;
  });
  return new Named(names, branch.values);
}

function shareField(a: Slice, b: Slice): boolean {
  const [left, right] = [openObject(a), openObject(b)];
  if (left === undefined || right === undefined) return false;
  return left.names.some((name, index) => sameSlice(left.values[index], right.get(name)));
}

/** One side alone edited: pairs by position, then what is left over on the longer side. */
function comparePositions(
  context: Context,
  { base, parent, branch }: Three<readonly Slice[]>,
  around: Around,
  path: Path,
): Node {
  const length = Math.max(base.length, branch.length);
  const items = Array.from({ length }, (_, index) => {
    const three = { base: base[index], parent: parent[index], branch: branch[index] };
    return { node: compareValue(context, three, [...path, around.head + index]), parent: three.parent };
  });
  return { kind: 'positions', around, items };
}

/** Both sides edited, neither changed the length. */
function compareBothEdited(
  context: Context,
  { base, parent, branch }: Three<readonly Slice[]>,
  around: Around,
  path: Path,
): Node {
  const items = branch.map((after, index) => {
    const three = { base: base[index]!, parent: parent[index]!, branch: after };
    const at = [...path, around.head + index];
    const bothEdited =
      !sameSlice(after, three.base) && !sameSlice(three.parent, three.base) && !sameSlice(three.parent, after);
    return { node: bothEdited ? leaf(context, three, at) : compareValue(context, three, at), parent: three.parent };
  });
  return { kind: 'positions', around, items };
}
