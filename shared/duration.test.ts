import { expect, test } from 'vitest';
import { formatDuration, parseTtl } from './duration.ts';

test.each([
  ['30s', 30_000],
  ['45m', 2_700_000],
  ['1h', 3_600_000],
  ['2d', 172_800_000],
  ['7d', 604_800_000],
  ['keep', null],
])('%s is a time to live', (text, ms) => {
  expect(parseTtl(text)).toBe(ms);
});

test.each(['0', '0s', '-1h', '1', 'h', '', 'soon', '1.5h', '1w', ' 1h', '1H', '3651d', '999999999d', '1e3s'])(
  '"%s" is none, and the error says how to write one',
  (text) => {
    expect(() => parseTtl(text)).toThrow(
      expect.objectContaining({ code: 'ttl_invalid', hint: expect.stringContaining('1h') }),
    );
  },
);

test.each([
  [0, '0s'],
  [59_400, '59s'],
  [90_000, '1m 30s'],
  [3_600_000, '1h'],
  [3_605_000, '1h'],
  [93_600_000, '1d 2h'],
])('%d ms reads as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
