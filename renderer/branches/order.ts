import type { BranchRow } from '../../shared/api.ts';
import { hasEnded, mainBranch, parentOf } from '../store/app.ts';

/** A row of the tree: depth 1 is main. */
export interface TreeRow {
  readonly branch: BranchRow;
  readonly level: number;
  /** Index of the parent's row; main has none. */
  readonly parent: number | undefined;
}

/** How forks of one branch follow each other: by when they were forked, or by when something last happened in them. */
export type Order = 'forked' | 'active';

/**
 * Main first, each branch followed by its forks, the newest fork first; or with `activeAt` (when each branch was last seen
 * to move, by id) the one first in which something happened last. Branches that have ended are in the tree only while
 * something forked from them lives. With a `filter`, rows whose name or actor has it, and the way up from them.
 */
export function treeRows(
  branches: readonly BranchRow[],
  filter = '',
  activeAt?: Readonly<Record<string, number>>,
): TreeRow[] {
  const main = mainBranch(branches);
  if (main === undefined) return [];
  const children = new Map<string, BranchRow[]>();
  for (const branch of branches) {
    const parent = parentOf(branches, branch);
    if (parent === undefined || branch === main) continue;
    const siblings = children.get(parent.id) ?? [];
    siblings.push(branch);
    children.set(parent.id, siblings);
  }
  const wanted = filter.trim().toLowerCase();
  const rows: TreeRow[] = [];
  const visit = (branch: BranchRow, level: number, parent: number | undefined): boolean => {
    const at = rows.length;
    rows.push({ branch, level, parent });
    let kept = branch === main || (!hasEnded(branch) && matches(branch, wanted));
    for (const child of newestFirst(children.get(branch.id) ?? [], activeAt)) {
      if (visit(child, level + 1, at)) kept = true;
    }
    if (!kept) rows.splice(at);
    return kept;
  };
  visit(main, 1, undefined);
  return rows;
}

/** Branches that have ended and can be brought back, the one that goes last first. */
export function endedBranches(branches: readonly BranchRow[]): BranchRow[] {
  return branches.filter(hasEnded).sort((a, b) => (b.goneAt ?? '').localeCompare(a.goneAt ?? ''));
}

function matches(branch: BranchRow, wanted: string): boolean {
  return wanted === '' || [branch.name, ...branch.actors].some((text) => text.toLowerCase().includes(wanted));
}

function newestFirst(branches: readonly BranchRow[], activeAt?: Readonly<Record<string, number>>): BranchRow[] {
  const forked = ({ forkedAt }: BranchRow): number => (forkedAt === undefined ? 0 : Date.parse(forkedAt));
  const at = (branch: BranchRow): number => Math.max(activeAt?.[branch.id] ?? 0, forked(branch));
  return [...branches].sort((a, b) => at(b) - at(a));
}
