import { sliceKeyText } from '../../shared/bson/key.ts';
import { Type } from '../../shared/bson/value.ts';
import { elementsOf, sameSlice } from '../../shared/bson/walk.ts';
import type { ElementSlice } from '../../shared/bson/walk.ts';

/** The same place of two images: a field by its name, an array element by its id or position. */
export interface Pair {
  readonly name: string;
  readonly before: ElementSlice | undefined;
  readonly after: ElementSlice | undefined;
  readonly beforeIndex: number | undefined;
  readonly afterIndex: number | undefined;
}

/** Fields by name, duplicates by their occurrence; in the order of `after`, removed ones behind what they stood behind. */
export function pairObject(before: readonly ElementSlice[], after: readonly ElementSlice[]): Pair[] {
  return pairBy(before, after, occurrenceKeys(before), occurrenceKeys(after));
}

/**
 * Array elements as the engine's compare tells them apart: what is alike at both ends is set aside; the rest goes by `_id` (or
 * else `id`) where each element there has one and they are distinct (`by` names it), else by position.
 */
export function pairArray(
  before: readonly ElementSlice[],
  after: readonly ElementSlice[],
): { readonly pairs: Pair[]; readonly by: string | undefined } {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && sameSlice(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shortest - head && sameSlice(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  const { pairs, by } = pairRest(old, fresh);
  const alike = (from: number, afterFrom: number, length: number): Pair[] =>
    Array.from({ length }, (_, index) => pairAt(before, after, from + index, afterFrom + index));
  const shifted = pairs.map((pair) => ({
    ...pair,
    beforeIndex: pair.beforeIndex === undefined ? undefined : pair.beforeIndex + head,
    afterIndex: pair.afterIndex === undefined ? undefined : pair.afterIndex + head,
  }));
  return {
    pairs: [...alike(0, 0, head), ...shifted, ...alike(before.length - tail, after.length - tail, tail)],
    by,
  };
}

function pairRest(before: readonly ElementSlice[], after: readonly ElementSlice[]) {
  for (const name of ['_id', 'id']) {
    const [old, fresh] = [idKeys(before, name), idKeys(after, name)];
    if (old !== undefined && fresh !== undefined) return { pairs: pairBy(before, after, old, fresh), by: name };
  }
  const length = Math.max(before.length, after.length);
  const pairs = Array.from({ length }, (_, index) => pairAt(before, after, index, index));
  return { pairs, by: undefined };
}

function pairAt(
  before: readonly ElementSlice[],
  after: readonly ElementSlice[],
  beforeIndex: number,
  afterIndex: number,
): Pair {
  const [old, fresh] = [before[beforeIndex], after[afterIndex]];
  return {
    name: (fresh ?? old)?.name ?? '',
    before: old,
    after: fresh,
    beforeIndex: old === undefined ? undefined : beforeIndex,
    afterIndex: fresh === undefined ? undefined : afterIndex,
  };
}

function pairBy(
  before: readonly ElementSlice[],
  after: readonly ElementSlice[],
  beforeKeys: readonly string[],
  afterKeys: readonly string[],
): Pair[] {
  const afterAt = new Map(afterKeys.map((key, index) => [key, index]));
  const beforeAt = new Map(beforeKeys.map((key, index) => [key, index]));
  // Removed elements are told behind the last kept one that stood before them.
  const removedBehind = new Map<number, number[]>();
  let kept = -1;
  beforeKeys.forEach((key, index) => {
    const at = afterAt.get(key);
    if (at !== undefined) {
      kept = at;
      return;
    }
    const group = removedBehind.get(kept);
    if (group === undefined) removedBehind.set(kept, [index]);
    else group.push(index);
  });
  const pairs: Pair[] = [];
  const tellRemoved = (behind: number): void => {
    for (const index of removedBehind.get(behind) ?? []) {
      pairs.push({
        name: before[index]?.name ?? '',
        before: before[index],
        after: undefined,
        beforeIndex: index,
        afterIndex: undefined,
      });
    }
  };
  tellRemoved(-1);
  afterKeys.forEach((key, index) => {
    const old = beforeAt.get(key);
    pairs.push({
      name: after[index]?.name ?? '',
      before: old === undefined ? undefined : before[old],
      after: after[index],
      beforeIndex: old,
      afterIndex: index,
    });
    tellRemoved(index);
  });
  return pairs;
}

function occurrenceKeys(elements: readonly ElementSlice[]): string[] {
  const seen = new Map<string, number>();
  return elements.map(({ name }) => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}\0${String(times)}`;
  });
}

/** The ids of an array's elements, where each is an object that has one and no two are alike. */
function idKeys(elements: readonly ElementSlice[], name: string): string[] | undefined {
  const keys: string[] = [];
  for (const element of elements) {
    const id = element.type === Type.Object ? elementsOf(element).find((inner) => inner.name === name) : undefined;
    if (id === undefined) return undefined;
    keys.push(sliceKeyText(id));
  }
  return keys.length > 0 && new Set(keys).size === keys.length ? keys : undefined;
}
