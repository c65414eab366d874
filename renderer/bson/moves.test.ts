import { describe, expect, it } from 'vitest';
import { movedAt } from './moves.ts';

describe('what moved', () => {
  it('is the one that went to the front, not the forty-nine behind it', () => {
    expect(movedAt([49, ...Array.from({ length: 49 }, (_, at) => at)])).toEqual([0]);
  });
  it('is nothing where the order stayed', () => {
    expect(movedAt([0, 1, 2])).toEqual([]);
    expect(movedAt([])).toEqual([]);
  });
  it('is all but one where the order was turned over', () => {
    expect(movedAt([2, 1, 0])).toHaveLength(2);
  });
});
