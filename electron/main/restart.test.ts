import { expect, test } from 'vitest';
import { backoff } from './restart.ts';

test('pauses grow while the engine keeps failing, up to half a minute, and start anew after a good run', () => {
  const pauses = backoff();
  expect(Array.from({ length: 9 }, () => pauses.next(0))).toEqual([
    250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect(pauses.next(60_000)).toBe(250);
  expect(pauses.next(10)).toBe(500);
});
