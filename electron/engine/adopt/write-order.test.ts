import { expect, it } from 'vitest';
import { writeOrder, type Takes, type Turn } from './write-order.ts';

/** Items that hold their own number and are to hold another's: `wants[n]`, or nobody's. */
function takesOf(wants: readonly number[]): Takes {
  return new Map(wants.flatMap((from, item) => (from === item || from < 0 ? [] : [[item, [from]]])));
}

/** Writes in the order given, a group at a time, as a server with a unique index would. @returns who meant to take a value twice */
function refused(wants: readonly number[], turns: readonly Turn[]): number[] {
  const holders = new Map(wants.map((_, item) => [item, item]));
  const free = (item: number) => {
    if (holders.get(item) === item) holders.delete(item);
  };
  const clashing: number[] = [];
  for (let at = 0; at < turns.length;) {
    const { together } = turns[at]!;
    let end = at + 1;
    while (together !== undefined && turns[end]?.together === together) end += 1;
    const group = turns.slice(at, end);
    for (const { index } of group) free(index);
    for (const { index, part } of group) {
      const value = wants[index]!;
      if (part === 'leave' || value < 0) continue;
      if (holders.has(value)) clashing.push(index);
      holders.set(value, -1);
    }
    at = end;
  }
  return clashing;
}

const never = () => false;

it('a chain is written from its free end, however long it is', () => {
  const wants = Array.from({ length: 50_000 }, (_, item) => (item + 1 < 50_000 ? item + 1 : -1));
  const turns = writeOrder(takesOf(wants), never);
  expect(turns).toHaveLength(50_000);
  expect(refused(wants, turns)).toEqual([]);
  expect(turns.some(({ part, together }) => part !== undefined || together !== undefined)).toBe(false);
});

it('what swaps places is written together, each pair for itself', () => {
  const turns = writeOrder(takesOf([1, 0, 3, 2]), (items) => items.length <= 2);
  expect(turns.map(({ together }) => together)).toHaveLength(4);
  expect(new Set(turns.map(({ together }) => together)).size).toBe(2);
  expect(turns.every(({ together }) => together !== undefined)).toBe(true);
  expect(refused([1, 0, 3, 2], turns)).toEqual([]);
});

it('of a circle that is too large for one transaction one document leaves first and comes last', () => {
  const wants = Array.from({ length: 1_000 }, (_, item) => (item + 1) % 1_000);
  const turns = writeOrder(takesOf(wants), (items) => items.length <= 100);
  expect(turns).toHaveLength(1_001);
  expect([turns[0]?.part, turns.at(-1)?.part]).toEqual(['leave', 'come']);
  expect(turns[0]?.index).toBe(turns.at(-1)?.index);
  expect(refused(wants, turns)).toEqual([]);
});

it('documents that take several values each are opened until an order is left', () => {
  const size = 200;
  const takes = new Map(
    Array.from({ length: size }, (_, item) => [
      item,
      [(item + 1) % size, (item * 7 + 3) % size].filter((n) => n !== item),
    ]),
  );
  const turns = writeOrder(takes, never);
  const gone = new Set<number>();
  for (const { index, part } of turns) {
    if (part !== 'leave') for (const giver of takes.get(index)!) expect(gone.has(giver)).toBe(true);
    gone.add(index);
  }
  expect(gone.size).toBe(size);
});
