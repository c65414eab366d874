/** Part of two sequences, as `[from, to)` on each side; `same` where both hold the same there. */
export interface Run {
  readonly same: boolean;
  readonly before: readonly [number, number];
  readonly after: readonly [number, number];
}

/**
 * The fewest removals and additions that lead from one sequence to the other (Myers' greedy algorithm). Sequences that are
 * further apart than `mostEdits` keep their common ends and are one change in between: time and memory grow with the square
 * of the edits, so that two unlike texts of a megabyte would never be done.
 */
export function sequenceRuns(before: readonly string[], after: readonly string[], mostEdits = 800): Run[] {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [old, fresh] = interned(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const kept = keptPairs(old, fresh, mostEdits) ?? [];
  const runs = new RunList();
  runs.same(head);
  let [x, y] = [0, 0];
  for (const [oldAt, freshAt] of kept) {
    runs.changed(oldAt - x, freshAt - y);
    runs.same(1);
    [x, y] = [oldAt + 1, freshAt + 1];
  }
  runs.changed(old.length - x, fresh.length - y);
  runs.same(tail);
  return runs.list;
}

class RunList {
  readonly list: Run[] = [];
  #before = 0;
  #after = 0;

  same(length: number): void {
    if (length > 0) this.#add(true, length, length);
  }

  changed(removed: number, added: number): void {
    if (removed > 0 || added > 0) this.#add(false, removed, added);
  }

  #add(same: boolean, removed: number, added: number): void {
    const last = this.list.at(-1);
    const goesOn = last?.same === same;
    if (goesOn) this.list.pop();
    const [beforeFrom, afterFrom] = goesOn ? [last.before[0], last.after[0]] : [this.#before, this.#after];
    this.#before += removed;
    this.#after += added;
    this.list.push({ same, before: [beforeFrom, this.#before], after: [afterFrom, this.#after] });
  }
}

/** Numbers are compared quicker than texts. */
function interned(before: readonly string[], after: readonly string[]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const number = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  };
  return [Int32Array.from(before, number), Int32Array.from(after, number)];
}

/** The positions of what is kept, ascending; undefined where more than `most` edits are needed. */
function keptPairs(a: Int32Array, b: Int32Array, most: number): [number, number][] | undefined {
  const limit = Math.min(most, a.length + b.length);
  const furthest = new Int32Array(2 * limit + 3);
  const at = (k: number): number => k + limit + 1;
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(furthest.slice(at(-edits - 1), at(edits + 1) + 1));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && furthest[at(k - 1)]! < furthest[at(k + 1)]!);
      let x = down ? furthest[at(k + 1)]! : furthest[at(k - 1)]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length);
    }
  }
  return undefined;
}

/** `trace[d]` holds the furthest points before round `d`, from diagonal `-d - 1` on. */
function walkBack(trace: readonly Int32Array[], length: number, otherLength: number): [number, number][] {
  const kept: [number, number][] = [];
  let [x, y] = [length, otherLength];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const before = trace[edits]!;
    const was = (k: number): number => before[k + edits + 1]!;
    const k = x - y;
    const down = k === -edits || (k !== edits && was(k - 1) < was(k + 1));
    const from = down ? k + 1 : k - 1;
    const [fromX, fromY] = edits === 0 ? [0, 0] : [was(from), was(from) - from];
    while (x > fromX && y > fromY) {
      if (edits > 0 && x === (down ? fromX : fromX + 1) && y === (down ? fromY + 1 : fromY)) break;
      x -= 1;
      y -= 1;
      kept.push([x, y]);
    }
    [x, y] = [fromX, fromY];
  }
  return kept.reverse();
}
