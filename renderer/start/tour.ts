import { create } from 'zustand';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { hasEnded, useApp } from '../store/app.ts';
import type { AppState } from '../store/app.ts';
import { loadLog } from '../store/engine.ts';

export const steps = ['fork', 'change', 'review', 'adopt', 'undo', 'done'] as const;
export type Step = (typeof steps)[number];

export interface TourState {
  /** Where the tour is; undefined while there is none. */
  readonly step: Step | undefined;
  /** When it began: what was in the log before does not count. */
  readonly since: string;
  /** Id of the sandbox it goes on with. */
  readonly branch: string | undefined;
}

const storageKey = 'forkyard.tour';
const none: TourState = { step: undefined, since: '', branch: undefined };

/** The guided tour; it goes on after the window was closed. */
export const useTour = create<TourState>()(() => stored());

export function startTour(): void {
  void loadLog();
  set({ step: 'fork', since: new Date().toISOString(), branch: undefined });
}

export function endTour(): void {
  set(none);
}

/** The script of the tour has run. */
export function changed(): void {
  set({ ...useTour.getState(), step: 'review' });
}

/** Follows what the person does in the app, whichever way they do it. */
export function watchTour(): () => void {
  if (useTour.getState().step !== undefined) void loadLog();
  return useApp.subscribe((app) => {
    const tour = useTour.getState();
    const next = following(tour, app);
    if (next !== tour) set(next);
  });
}

/** Where the tour is after what happened. */
export function following(
  tour: TourState,
  app: Pick<AppState, 'branches' | 'log' | 'tab' | 'chosen' | 'dialog'>,
): TourState {
  const branch = app.branches.find(({ id }) => id === tour.branch);
  if (tour.branch !== undefined && (branch === undefined || hasEnded(branch)) && tour.step !== 'done') {
    return { ...tour, step: 'fork', branch: undefined };
  }
  switch (tour.step) {
    case 'fork': {
      const forked = app.branches.find((row) => isTourFork(row, tour.since));
      return forked === undefined ? tour : { ...tour, step: 'change', branch: forked.id };
    }
    case 'change':
    case undefined:
    case 'done':
      return tour;
    case 'review':
      return app.tab === 'review' && app.chosen === tour.branch ? { ...tour, step: 'adopt' } : tour;
    case 'adopt':
      return adoption(tour, app.log) === undefined || app.dialog !== undefined ? tour : { ...tour, step: 'undo' };
    case 'undo':
      return isUndone(adoption(tour, app.log), app.log) ? { ...tour, step: 'done' } : tour;
  }
}

/** The newest adoption since the tour began. */
export function adoption(tour: TourState, log: readonly LogEntry[] | undefined): LogEntry | undefined {
  return log?.find(({ kind, time }) => kind === 'adopt' && time >= tour.since);
}

/** The log tells an undo as an entry of its own; the one it took back says so only when the log is read again. */
function isUndone(entry: LogEntry | undefined, log: readonly LogEntry[] | undefined): boolean {
  if (entry === undefined) return false;
  return entry.undoneBy !== undefined || log?.some(({ kind, time }) => kind === 'undo' && time >= entry.time) === true;
}

function isTourFork(row: BranchRow, since: string): boolean {
  return row.parent !== undefined && row.state === 'live' && (row.forkedAt ?? '') >= since;
}

function set(next: TourState): void {
  useTour.setState(next);
  localStorage.setItem(storageKey, JSON.stringify(next));
}

function stored(): TourState {
  try {
    const value = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Partial<TourState> | null;
    const step = steps.find((one) => one === value?.step);
    return step === undefined ? none : { step, since: String(value?.since ?? ''), branch: value?.branch };
  } catch {
    return none;
  }
}
