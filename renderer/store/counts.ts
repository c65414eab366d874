import type { BranchRow, Output } from '../../shared/api.ts';
import { chosenBranch, hasEnded, parentOf, useApp } from './app.ts';
import type { AppState } from './app.ts';
import { call, onCall, onEngineEvent } from './engine.ts';

/** A branch that was written to is counted once it has been still for this long. */
const stillMs = 1_200;

type Counts = NonNullable<BranchRow['counts']>;

/** What each branch was counted at, by id: its own and its parent's last sequence. */
const counted = new Map<string, string>();

/**
 * Keeps the counts of the branch list up to date. The engine sends them only where they are already known, so branches that
 * have moved are compared in the background: one at a time, and only when they have come to rest. A branch in review is
 * counted by its review.
 */
export function startCounting(): () => void {
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void countNext(), stillMs);
  };
  const countNext = async (): Promise<void> => {
    const due = running === undefined ? dueBranch() : undefined;
    if (due === undefined) return;
    const { id, name } = due.branch;
    running = new AbortController();
    const { signal } = running;
    counted.set(id, due.at);
    try {
      remember(id, await call('diff.get', { branch: name, summary: true }, { signal }));
    } catch {
      // A branch that cannot be compared keeps what it shows; its next move asks again.
      if (signal.aborted) counted.delete(id);
    }
    running = undefined;
    schedule();
  };
  const stops = [
    useApp.subscribe((app, before) => {
      const opened = reviewed(app) !== reviewed(before);
      // Its first rows wait for nothing that can wait.
      if (opened && reviewed(app) !== undefined) running?.abort();
      if (opened || app.branches !== before.branches) schedule();
    }),
    onEngineEvent((event) => (event.type === 'branches' ? noteCounted(event.branches) : undefined)),
    onCall((method, answer) => {
      if (method !== 'branches.list') return;
      answer.then(
        (rows) => noteCounted(rows as readonly BranchRow[]),
        () => undefined,
      );
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
  };
}

/** Rows that the engine sends with counts are counted as they are. */
function noteCounted(rows: readonly BranchRow[]): void {
  for (const branch of rows) {
    const parent = branch.counts === undefined ? undefined : parentOf(rows, branch);
    if (parent !== undefined) counted.set(branch.id, momentOf(branch, parent));
  }
}

/** Id of the branch whose review is shown. */
function reviewed(app: AppState): string | undefined {
  return app.tab === 'review' ? chosenBranch(app)?.id : undefined;
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
  const app = useApp.getState();
  const { branches, connection } = app;
  if (connection.kind !== 'open') return undefined;
  for (const branch of branches) {
    if (branch.id === reviewed(app)) continue;
    const parent = parentOf(branches, branch);
    if (parent === undefined || hasEnded(branch) || branch.state !== 'live' || parent.state !== 'live') continue;
    const at = momentOf(branch, parent);
    if (counted.get(branch.id) !== at && (branch.ahead > 0 || branch.counts !== undefined)) return { branch, at };
  }
  return undefined;
}

function momentOf(branch: BranchRow, parent: BranchRow): string {
  return `${String(branch.seq)}/${String(parent.seq)}`;
}
