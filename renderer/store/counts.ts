import type { BranchRow, Output } from '../../shared/api.ts';
import { hasEnded, parentOf, useApp } from './app.ts';
import { call } from './engine.ts';

/** A branch that was written to is counted once it has been still for this long. */
const stillMs = 1_200;

type Counts = NonNullable<BranchRow['counts']>;

/** What each branch was counted at, by id: its own and its parent's last sequence. */
const counted = new Map<string, string>();

/**
 * Keeps the counts of the branch list up to date. The engine sends them only where they are already known, so branches that
 * have moved are compared in the background: one at a time, and only when they have come to rest.
 */
export function startCounting(): () => void {
  let running = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void countNext(), stillMs);
  };
  const countNext = async (): Promise<void> => {
    const due = running ? undefined : dueBranch();
    if (due === undefined) return;
    running = true;
    counted.set(due.branch.id, due.at);
    try {
      remember(due.branch.id, await call('diff.get', { branch: due.branch.name, summary: true }));
    } catch {
      // A branch that cannot be compared keeps what it shows; its next move asks again.
    }
    running = false;
    schedule();
  };
  const stop = useApp.subscribe((app, before) => {
    if (app.branches !== before.branches) schedule();
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Counts that a comparison found, for the branch list. */
export function remember(id: string, diff: Pick<Output<'diff.get'>, 'summary' | 'schema'>): void {
  const counts: Counts = { added: 0, modified: 0, removed: 0, conflicts: 0, schema: diff.schema.length };
  for (const row of diff.summary) {
    counts.added += row.added;
    counts.modified += row.modified;
    counts.removed += row.removed;
    counts.conflicts += row.conflicts;
  }
  useApp.setState((app) => ({
    branches: app.branches.map((branch) => (branch.id === id ? { ...branch, counts } : branch)),
  }));
}

function dueBranch(): { branch: BranchRow; at: string } | undefined {
  const { branches, connection } = useApp.getState();
  if (connection.kind !== 'open') return undefined;
  for (const branch of branches) {
    const parent = parentOf(branches, branch);
    if (parent === undefined || hasEnded(branch) || branch.state !== 'live' || parent.state !== 'live') continue;
    const at = `${String(branch.seq)}/${String(parent.seq)}`;
    if (counted.get(branch.id) !== at && (branch.ahead > 0 || branch.counts !== undefined)) return { branch, at };
  }
  return undefined;
}
