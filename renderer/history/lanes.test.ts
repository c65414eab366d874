import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../shared/api.ts';
import { lanesOf, mostRows } from './lanes.ts';

const at = (minute: number) => Date.parse('2026-11-29T12:00:00Z') + minute * 60_000;
let entries = 0;
function entry(minute: number, kind: string, branch: string, more: Partial<LogEntry> = {}): LogEntry {
  entries += 1;
  const time = new Date(at(minute)).toISOString();
  return { entry: `e${String(entries)}`, time, kind, branch, text: kind, undoable: false, ...more };
}
const fork = (minute: number, name: string, from = 'main') =>
  entry(minute, 'fork', name, { text: `Forked ${name} from ${from}` });
const hour = { from: at(0), to: at(60) };

describe('sandboxes beside the rail', () => {
  it('leave at their fork, join at each adoption, and stop where they were discarded', () => {
    const log = [
      entry(40, 'discard', 'prices'),
      entry(30, 'adopt', 'prices', { items: 2 }),
      entry(20, 'adopt', 'prices', { items: 1 }),
      fork(10, 'prices'),
      fork(12, 'deeper', 'prices'),
    ];
    expect(lanesOf(log, 'main', hour, 0)).toEqual([
      { name: 'prices', from: at(10), to: at(40), adoptions: [at(20), at(30)], row: 0 },
    ]);
    expect(lanesOf(log, 'prices', hour, 0).map(({ name }) => name)).toEqual(['deeper']);
  });

  it('live on when they are brought back', () => {
    const log = [fork(1, 'a'), entry(5, 'expire', 'a'), entry(6, 'restore', 'a')];
    expect(lanesOf(log, 'main', hour, 0)[0]?.to).toBeUndefined();
    log.push(entry(9, 'discard', 'a'), entry(20, 'gone', 'a'));
    expect(lanesOf(log, 'main', hour, 0)[0]?.to).toBe(at(9));
  });

  it('take the first row that is free, and the same name twice is two', () => {
    const log = [fork(1, 'a'), fork(2, 'b'), entry(5, 'discard', 'a'), fork(6, 'a'), entry(7, 'adopt', 'a')];
    const lanes = lanesOf(log, 'main', hour, 0).map(({ name, row, adoptions }) => [name, row, adoptions.length]);
    expect(lanes).toEqual([
      ['a', 0, 0],
      ['b', 1, 0],
      ['a', 0, 1],
    ]);
    expect(lanesOf(log, 'main', hour, 30 * 60_000).map(({ row }) => row)).toEqual([0, 1, 2]);
  });

  it('are left out where there is no row, and where they ended before what is shown', () => {
    const log = Array.from({ length: mostRows + 2 }, (_, index) => fork(index, `s${String(index)}`));
    expect(lanesOf(log, 'main', hour, 0)).toHaveLength(mostRows);
    const ended = [fork(1, 'old'), entry(2, 'discard', 'old')];
    expect(lanesOf(ended, 'main', { from: at(3), to: at(60) }, 0)).toEqual([]);
  });
});
