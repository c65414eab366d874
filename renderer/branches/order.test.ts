import { describe, expect, it } from 'vitest';
import type { BranchRow } from '../../shared/api.ts';
import { endedBranches, treeRows } from './order.ts';

function branch(name: string, more: Partial<BranchRow> = {}): BranchRow {
  return { id: name, name, state: 'live', access: 'schema', ahead: 0, seq: 0, actors: [], ...more };
}

const branches = [
  branch('old', { parent: 'main', forkedAt: '2026-11-29T10:00:00Z', actors: ['cursor'] }),
  branch('main'),
  branch('leaf', { parent: 'old', forkedAt: '2026-11-29T11:00:00Z' }),
  branch('new', { parent: 'main', forkedAt: '2026-11-29T12:00:00Z' }),
  branch('gone', { parent: 'main', state: 'trashed', goneAt: '2026-11-29T13:00:00Z' }),
  branch('spent', { parent: 'main', state: 'expired', goneAt: '2026-11-30T13:00:00Z' }),
];

describe('the tree', () => {
  it('begins with main, then each fork behind its parent, the newest first', () => {
    expect(treeRows(branches).map((row) => [row.branch.name, row.level, row.parent])).toEqual([
      ['main', 1, undefined],
      ['new', 2, 0],
      ['old', 2, 0],
      ['leaf', 3, 2],
    ]);
  });

  it('can put first what something happened in last', () => {
    const activeAt = { old: Date.parse('2026-11-29T12:30:00Z') };
    expect(treeRows(branches, '', activeAt).map((row) => row.branch.name)).toEqual(['main', 'old', 'leaf', 'new']);
  });

  it('keeps the way up to what a filter finds, by name or actor', () => {
    expect(treeRows(branches, 'LEAF').map((row) => row.branch.name)).toEqual(['main', 'old', 'leaf']);
    expect(treeRows(branches, 'cursor').map((row) => row.branch.name)).toEqual(['main', 'old']);
  });

  it('keeps an expired branch while something forked from it lives', () => {
    const child = branch('child', { parent: 'spent' });
    const rows = treeRows([...branches, child]).map((row) => [row.branch.name, row.level]);
    expect(rows).toContainEqual(['spent', 2]);
    expect(rows).toContainEqual(['child', 3]);
  });

  it('tells ended branches apart, the one that goes last first', () => {
    expect(endedBranches(branches).map((one) => one.name)).toEqual(['spent', 'gone']);
  });
});
