/** Which items of a plan take a value of a unique index that others hold before it: by index, the givers of each taker. */
export type Takes = ReadonlyMap<number, readonly number[]>;

/** When an item is written. */
export interface Turn {
  readonly index: number;
  /** Items with the same number are written in one transaction: each takes what another of them holds. */
  readonly together?: number;
  /**
   * It is removed in one turn and comes back as it is to be in another: the documents that exchange values are more than one
   * transaction takes.
   */
  readonly part?: 'leave' | 'come';
}

/**
 * An order in which no document is written before its value is free, of all items that take from others or give to them.
 * What exchanges values in a circle is written together; of a circle that is too large for that as few documents as a walk
 * along it finds leave first and come last.
 * @param fits whether one transaction takes these items
 */
export function writeOrder(takes: Takes, fits: (items: readonly number[]) => boolean): Turn[] {
  const turns: Turn[] = [];
  for (const circle of circles(takes)) {
    if (circle.length === 1) turns.push({ index: circle[0]! });
    else if (fits(circle)) for (const index of circle) turns.push({ index, together: circle[0]! });
    else turns.push(...opened(circle, takes));
  }
  return turns;
}

/** One item of a walk, and how many of its givers were looked at. */
interface Step {
  readonly item: number;
  next: number;
}

const none: readonly number[] = [];

/** Strongly connected items (Tarjan), givers before takers. Walks without recursion: a chain may be as long as the plan. */
function circles(takes: Takes): number[][] {
  const found: number[][] = [];
  const order = new Map<number, number>();
  const lowest = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const enter = (item: number): Step => {
    order.set(item, order.size);
    lowest.set(item, order.get(item)!);
    open.push(item);
    isOpen.add(item);
    return { item, next: 0 };
  };
  const lower = (item: number, to: number) => lowest.set(item, Math.min(lowest.get(item)!, to));
  for (const start of takes.keys()) {
    if (order.has(start)) continue;
    const path = [enter(start)];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const giver = (takes.get(step.item) ?? none)[step.next];
      step.next += 1;
      if (giver !== undefined) {
        if (!order.has(giver)) path.push(enter(giver));
        else if (isOpen.has(giver)) lower(step.item, order.get(giver)!);
        continue;
      }
      path.pop();
      const { item } = step;
      const above = path.at(-1);
      if (above) lower(above.item, lowest.get(item)!);
      if (lowest.get(item) !== order.get(item)) continue;
      const circle = open.splice(open.lastIndexOf(item));
      for (const each of circle) isOpen.delete(each);
      found.push(circle);
    }
  }
  return found;
}

/** A circle without those that a walk comes back to: the others, each behind its givers. Those leave first and come last. */
function opened(circle: readonly number[], takes: Takes): Turn[] {
  const within = new Set(circle);
  const state = new Map<number, 'on the way' | 'done'>();
  const aside = new Set<number>();
  const behindGivers: number[] = [];
  for (const start of circle) {
    if (state.has(start)) continue;
    const path: Step[] = [{ item: start, next: 0 }];
    state.set(start, 'on the way');
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const giver = (takes.get(step.item) ?? none)[step.next];
      step.next += 1;
      if (giver === undefined) {
        path.pop();
        state.set(step.item, 'done');
        behindGivers.push(step.item);
      } else if (within.has(giver)) {
        if (state.get(giver) === 'on the way') aside.add(giver);
        if (state.has(giver)) continue;
        state.set(giver, 'on the way');
        path.push({ item: giver, next: 0 });
      }
    }
  }
  return [
    ...[...aside].map((index): Turn => ({ index, part: 'leave' })),
    ...behindGivers.filter((index) => !aside.has(index)).map((index): Turn => ({ index })),
    ...[...aside].map((index): Turn => ({ index, part: 'come' })),
  ];
}
