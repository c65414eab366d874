import { describe, expect, it } from 'vitest';
import { age, day, moment, span } from './time.ts';

const now = new Date(2026, 10, 29, 14, 34, 20).getTime();
const minute = 60_000;

describe('times', () => {
  it('say how long ago', () => {
    const ago = (ms: number) => age(new Date(now - ms).toISOString(), now);
    expect([ago(4_000), ago(13 * minute), ago(190 * minute), ago(50 * 60 * minute)]).toEqual([
      '4 s',
      '13 min',
      '3 h',
      '2 d',
    ]);
  });

  it('say how long there is left', () => {
    expect([
      span(42 * minute),
      span(190 * minute),
      span(60 * minute),
      span(0),
      span(9_000),
      span(7 * 24 * 60 * minute),
    ]).toEqual(['42 min', '3 h 10 min', '1 h', '0 min', '1 min', '7 d']);
  });

  it('name a moment and a day as short as they stay clear', () => {
    expect(moment(now + 42 * minute, now)).toBe('15:16');
    expect(moment(now + 24 * 60 * minute, now)).toBe('30 November, 14:34');
    expect(day(new Date(now).toISOString(), now)).toBe('Today');
    expect(day(new Date(now - 24 * 60 * minute).toISOString(), now)).toBe('Yesterday');
  });
});
