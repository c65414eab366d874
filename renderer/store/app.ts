import { create } from 'zustand';
import type { BranchRow, Input, LogEntry, Pin, Status } from '../../shared/api.ts';
import type { ConnectionState } from './connection.ts';

export const tabs = ['live', 'review', 'data', 'connect', 'history'] as const;
export type Tab = (typeof tabs)[number];

/** The one dialog that is open. Branches are named by id, which outlives a discard and a reused name; pins by name. */
export type OpenDialog =
  /** `from` is a branch's id, or {@link pinKey} of a pin. */
  | { readonly kind: 'fork'; readonly from: string; readonly name?: string }
  | { readonly kind: 'pin'; readonly branch: string }
  | { readonly kind: 'pinned'; readonly pin: string }
  | { readonly kind: 'unpin'; readonly pin: string }
  | { readonly kind: 'discard'; readonly branch: string }
  | { readonly kind: 'adopt'; readonly branch: string }
  /** What was adopted of the branch before. */
  | { readonly kind: 'adoptions'; readonly branch: string }
  /** Puts the branch back to a moment, in place. */
  | { readonly kind: 'restore'; readonly branch: string; readonly seq: number }
  /** Opens a moment of the branch as a new one. */
  | { readonly kind: 'restore-as'; readonly branch: string; readonly seq: number }
  /** Takes an entry of the log back. */
  | { readonly kind: 'undo'; readonly entry: string; readonly text: string }
  /** Takes changes back inside the branch. */
  | { readonly kind: 'undo-changes'; readonly branch: string; readonly what: Input<'changes.undo'>['what'] }
  | { readonly kind: 'actor'; readonly branch: string }
  | { readonly kind: 'settings' }
  | { readonly kind: 'import'; readonly files?: readonly File[] }
  | { readonly kind: 'reset'; readonly branch: string }
  | { readonly kind: 'log'; readonly branch: string }
  | { readonly kind: 'reset-demo' }
  | { readonly kind: 'commands' };

export interface Toast {
  readonly id: number;
  readonly tone: 'done' | 'problem';
  readonly text: string;
  /** What can be done about it, for problems. */
  readonly hint?: string | undefined;
  readonly actions: readonly { readonly label: string; readonly run: () => void }[];
}

export interface Progress {
  readonly text: string;
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

export interface AppState {
  readonly connection: ConnectionState;
  readonly status: Status | undefined;
  /** All of them, also trashed ones that can be brought back. */
  readonly branches: readonly BranchRow[];
  /** Frozen starting points, oldest first. */
  readonly pins: readonly Pin[];
  /** False until the first list has come. */
  readonly loaded: boolean;
  /** When a branch was last seen to move, by id, milliseconds since the epoch. */
  readonly activeAt: Readonly<Record<string, number>>;
  /** Id of the chosen branch. */
  readonly chosen: string | undefined;
  readonly tab: Tab;
  readonly dialog: OpenDialog | undefined;
  readonly toast: Toast | undefined;
  /** Running jobs by the id the caller gave them. */
  readonly progress: Readonly<Record<string, Progress>>;
  /** The first import runs: the first screen stays until it is done, though main is not empty any more. */
  readonly starting: boolean;
  /** Something was imported since the window opened; the list's own numbers may lag behind by seconds. */
  readonly filled: boolean;
  /** Newest first; undefined until asked for. */
  readonly log: readonly LogEntry[] | undefined;
  /** What a screen reader is told next. */
  readonly announcement: string;
}

/** The state of the window. Changed by plain functions beside what they are about, never by components directly. */
export const useApp = create<AppState>()(() => ({
  connection: { kind: 'connecting' },
  status: undefined,
  branches: [],
  pins: [],
  loaded: false,
  activeAt: {},
  chosen: undefined,
  tab: 'live',
  dialog: undefined,
  toast: undefined,
  progress: {},
  starting: false,
  filled: false,
  log: undefined,
  announcement: '',
}));

export function chooseBranch(id: string, tab?: Tab): void {
  useApp.setState((app) => ({ chosen: id, tab: tab ?? app.tab }));
}

export function chooseTab(tab: Tab): void {
  useApp.setState({ tab });
}

export function openDialog(dialog: OpenDialog): void {
  useApp.setState({ dialog });
}

export function closeDialog(): void {
  useApp.setState({ dialog: undefined });
}

let toasts = 0;

export function showToast(toast: Omit<Toast, 'id' | 'actions'> & Partial<Pick<Toast, 'actions'>>): void {
  toasts += 1;
  useApp.setState({ toast: { actions: [], ...toast, id: toasts } });
}

export function dismissToast(id?: number): void {
  useApp.setState((app) => (id === undefined || app.toast?.id === id ? { toast: undefined } : {}));
}

export function announce(text: string): void {
  // A repeated text is told again only when it differs.
  useApp.setState((app) => ({ announcement: app.announcement === text ? `${text}\u00a0` : text }));
}

/** The chosen branch, else main, else the first there is. */
export function chosenBranch(app: AppState): BranchRow | undefined {
  return app.branches.find((branch) => branch.id === app.chosen) ?? mainBranch(app.branches);
}

export function mainBranch(branches: readonly BranchRow[]): BranchRow | undefined {
  return branches.find((branch) => branch.parent === undefined);
}

export function branchById(app: AppState, id: string): BranchRow | undefined {
  return app.branches.find((branch) => branch.id === id);
}

export function pinByName(app: AppState, name: string): Pin | undefined {
  return app.pins.find((pin) => pin.name === name);
}

/** Stands for a pin where a branch's id may stand too, which never has a colon. */
export function pinKey(name: string): string {
  return `pin:${name}`;
}

/** Nothing has been imported into main yet. */
export function isEmpty(app: AppState): boolean {
  return mainBranch(app.branches)?.databases === 0 && !app.filled;
}

/** The row of a branch's parent, which the API names by name. */
export function parentOf(branches: readonly BranchRow[], branch: BranchRow): BranchRow | undefined {
  if (branch.parent === undefined) return undefined;
  const named = branches.filter((other) => other.name === branch.parent && other.state !== 'trashed');
  return named.find((other) => !hasEnded(other)) ?? named[0] ?? mainBranch(branches);
}

/** Expired or discarded: no server runs, its files wait to be brought back or swept. */
export function hasEnded(branch: BranchRow): boolean {
  return branch.state === 'trashed' || branch.state === 'expired';
}
