import { expect, it } from 'vitest';
import type { Change } from '../../shared/api.ts';
import { Activity, longestMs } from './activity.ts';

const begin = Date.parse('2026-05-01T12:00:00.000Z');

function change(seq: number, atMs: number, op: Change['op'] = 'update'): Change {
  return { seq, time: new Date(begin + atMs).toISOString(), op } as Change;
}

function changes(from: number, to: number, atMs = 0): Change[] {
  return Array.from({ length: to - from + 1 }, (_, index) => change(from + index, atMs));
}

function modified(activity: Activity): number {
  return activity.bars(begin - longestMs, longestMs * 2, 1)[0]?.modified ?? 0;
}

it('counts what it was told of by kind and time, in bars of any whole number of steps', () => {
  const activity = new Activity();
  activity.take([change(1, 0, 'insert'), change(2, 250), change(3, 700, 'delete'), change(4, 1_000, 'gap')]);
  expect(activity.bars(begin, 500, 3)).toEqual([
    { added: 1, modified: 1, removed: 0, gap: false },
    { added: 0, modified: 0, removed: 1, gap: false },
    { added: 0, modified: 0, removed: 0, gap: true },
  ]);
});

it('counts a change once, however often it comes, and older ones when they are read', () => {
  const activity = new Activity();
  activity.take(changes(501, 1_000, 5_000));
  activity.take(changes(901, 1_100, 6_000));
  expect(modified(activity)).toBe(600);
  expect(activity.reachesStart).toBe(false);
  activity.take(changes(1, 500));
  activity.take(changes(1, 500));
  expect(modified(activity)).toBe(1_100);
  expect(activity.reachesStart).toBe(true);
  expect(activity.fromMs).toBe(begin);
});

it('never has a hole: what lies apart behind is not counted, what lies apart ahead begins anew', () => {
  const activity = new Activity();
  activity.take(changes(501, 1_000));
  activity.take(changes(1, 400));
  expect(modified(activity)).toBe(500);
  activity.take(changes(2_001, 2_010, 1_000));
  expect(modified(activity)).toBe(10);
  expect(activity.fromMs).toBe(begin + 1_000);
});

it('keeps no more than it shows', () => {
  const activity = new Activity();
  activity.take([change(1, -longestMs - 1_000), change(2, 0)]);
  expect(activity.bars(begin - longestMs - 2_000, longestMs * 2, 1)[0]?.modified).toBe(1);
});
