import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sequenceRuns } from './sequence-runs.ts';

const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

describe('the runs of two sequences', () => {
  it('cover both sides in order, and what they call the same is the same', () => {
    fc.assert(
      fc.property(letters, letters, fc.constantFrom(0, 3, 800), (before, after, most) => {
        let [x, y] = [0, 0];
        for (const { same, before: left, after: right } of sequenceRuns(before, after, most)) {
          expect([left[0], right[0]]).toEqual([x, y]);
          [x, y] = [left[1], right[1]];
          if (same) expect(before.slice(...left)).toEqual(after.slice(...right));
        }
        expect([x, y]).toEqual([before.length, after.length]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keep as much as can be kept', () => {
    const kept = (before: string[], after: string[]): number =>
      sequenceRuns(before, after).reduce((sum, { same, before: [from, to] }) => sum + (same ? to - from : 0), 0);
    const longest = (a: string[], b: string[]): number => {
      const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
      for (let x = 1; x <= a.length; x += 1) {
        for (let y = 1; y <= b.length; y += 1) {
          best[x]![y] = a[x - 1] === b[y - 1] ? best[x - 1]![y - 1]! + 1 : Math.max(best[x - 1]![y]!, best[x]![y - 1]!);
        }
      }
      return best[a.length]![b.length]!;
    };
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        expect(kept(before, after)).toBe(longest(before, after));
      }),
    );
  });

  it('give up on what is too far apart, but keep the ends', () => {
    const before = ['x', ...Array.from({ length: 500 }, (_, at) => `b${String(at)}`), 'y'];
    const after = ['x', ...Array.from({ length: 500 }, (_, at) => `a${String(at)}`), 'y'];
    expect(sequenceRuns(before, after, 100).map(({ same }) => same)).toEqual([true, false, true]);
  });
});
