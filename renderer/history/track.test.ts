import { expect, it } from 'vitest';
import { placeOf, seqAt, shareOf, type Track } from './track.ts';

const bar = (index: number, seq: number) => ({ index, seq, added: 1, modified: 0, removed: 0, gap: false });
const track: Track = {
  from: '2026-11-29T13:00:00.000Z',
  to: '2026-11-29T14:00:00.000Z',
  last: 30,
  bars: [bar(40, 10), bar(80, 20), bar(120, 30)],
};

it('finds the last change up to a place, and none before the first', () => {
  expect([0.1, 0.25, 0.6, 1].map((share) => seqAt(track, share))).toEqual([undefined, 10, 20, 30]);
});

it('puts a change into its stretch; the newest is now, the beginning is the start', () => {
  expect([0, 10, 15, 30].map((seq) => Math.round(placeOf(track, seq) * 160))).toEqual([0, 41, 81, 160]);
});

it('turns times to places within the track', () => {
  expect(shareOf(track, Date.parse('2026-11-29T13:30:00.000Z'))).toBe(0.5);
  expect(shareOf(track, 0)).toBe(0);
});
