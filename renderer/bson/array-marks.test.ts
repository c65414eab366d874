import { describe, expect, test } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { arrayMarks } from './array-marks.ts';

function marks(before: string, after: string): [number[], number[]] {
  const elements = (text: string) => elementsOf(valueSlice(parseEjson(text)));
  const found = arrayMarks(elements(before), elements(after));
  return [[...found.before].sort(), [...found.after].sort()];
}

describe('marks in a short array', () => {
  test('an element put in front marks itself alone', () => {
    expect(marks('["oak", "sale"]', '["new", "oak", "sale"]')).toEqual([[], [0]]);
  });
  test('a replaced element is marked on both sides', () => {
    expect(marks('["oak", "sale"]', '["oak", "tall"]')).toEqual([[1], [1]]);
  });
  test('a moved element is marked where it was and where it is', () => {
    expect(marks('["a", "b", "c", "d"]', '["d", "a", "b", "c"]')).toEqual([[3], [0]]);
  });
  test('a type that alone changed is marked', () => {
    expect(marks('[1, 5]', '[1, {"$numberDouble": "5.0"}]')).toEqual([[1], [1]]);
  });
  test('zero and negative zero are two values, and NaN is one', () => {
    const zero = '[{"$numberDouble": "0.0"}, {"$numberDouble": "NaN"}]';
    expect(marks(zero, '[{"$numberDouble": "-0.0"}, {"$numberDouble": "NaN"}]')).toEqual([[0], [0]]);
  });
});
