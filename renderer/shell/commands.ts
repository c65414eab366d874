import type { BranchRow } from '../../shared/api.ts';
import { bringBack, copyUri, extend, keep, sleep } from '../branches/verbs.ts';
import { togglePause } from '../live/feed.ts';
import { showConflicts } from '../review/review.ts';
import { chooseBranch, chosenBranch, hasEnded, isEmpty, openDialog, useApp } from '../store/app.ts';
import { startTour } from '../start/tour.ts';
import type { AppState, Tab } from '../store/app.ts';
import type { IconName } from './icons.tsx';
import { isDesktop } from './keyboard.ts';
import type { Shortcut } from './keyboard.ts';
import { setTheme } from './theme.ts';

/** One verb of the app. Menu, palette, button, shortcut and test all use this object. */
export interface Command {
  readonly id: string;
  readonly title: (branch: BranchRow) => string;
  readonly icon?: IconName;
  /** The first is shown. */
  readonly keys: readonly Shortcut[];
  /** Whether it is about one branch and belongs into that branch's menu. */
  readonly ofBranch: boolean;
  readonly enabled: (branch: BranchRow, app: AppState) => boolean;
  readonly run: (branch: BranchRow) => void;
}

const isSandbox = (branch: BranchRow): boolean => branch.parent !== undefined;
const lives = (branch: BranchRow): boolean => !hasEnded(branch);
const livingSandbox = (branch: BranchRow): boolean => isSandbox(branch) && lives(branch);

const goTo = (tab: Tab, title: string, key: string, enabled: Command['enabled']): Command => ({
  id: `go-${tab}`,
  title: () => `Go to ${title}`,
  keys: [key],
  ofBranch: false,
  enabled,
  run: (branch) => chooseBranch(branch.id, tab),
});

export const commands = {
  fork: {
    id: 'fork',
    title: (branch) => `Fork ${branch.name}…`,
    icon: 'fork',
    keys: isDesktop ? ['mod+n'] : ['alt+n', 'mod+n'],
    ofBranch: true,
    enabled: lives,
    run: (branch) => openDialog({ kind: 'fork', from: branch.id }),
  },
  copyUri: {
    id: 'copy-uri',
    title: () => 'Copy URI',
    icon: 'copy',
    keys: ['mod+shift+c'],
    ofBranch: true,
    enabled: lives,
    run: (branch) => void copyUri(branch),
  },
  review: {
    id: 'review',
    title: () => 'Review changes',
    icon: 'check',
    keys: [],
    ofBranch: true,
    enabled: livingSandbox,
    run: (branch) => chooseBranch(branch.id, 'review'),
  },
  decide: {
    id: 'decide',
    title: (branch) => `Decide conflicts of ${branch.name}`,
    icon: 'conflict',
    keys: [],
    ofBranch: true,
    enabled: (branch) => livingSandbox(branch) && (branch.counts?.conflicts ?? 0) > 0,
    run: (branch) => {
      chooseBranch(branch.id, 'review');
      showConflicts(branch.id, true);
    },
  },
  adopt: {
    id: 'adopt',
    title: (branch) => `Adopt the selection into ${branch.parent ?? 'the parent'}…`,
    icon: 'adopt',
    keys: ['mod+enter'],
    ofBranch: false,
    enabled: (branch, app) => livingSandbox(branch) && app.tab === 'review',
    run: (branch) => openDialog({ kind: 'adopt', branch: branch.id }),
  },
  extend: {
    id: 'extend',
    title: () => 'Extend by 1 hour',
    icon: 'clock',
    keys: [],
    ofBranch: true,
    enabled: (branch) => livingSandbox(branch) && branch.expiresAt !== undefined,
    run: (branch) => void extend(branch),
  },
  keep: {
    id: 'keep',
    title: () => 'Keep',
    icon: 'pin',
    keys: [],
    ofBranch: true,
    enabled: (branch) => livingSandbox(branch) && branch.expiresAt !== undefined,
    run: (branch) => void keep(branch),
  },
  bringBack: {
    id: 'bring-back',
    title: (branch) => (hasEnded(branch) ? 'Bring back' : 'Wake'),
    icon: 'undo',
    keys: [],
    ofBranch: true,
    enabled: (branch) => hasEnded(branch) || branch.state === 'asleep' || branch.state === 'failed',
    run: (branch) => void bringBack(branch),
  },
  pin: {
    id: 'pin',
    title: () => 'Pin as a starting point…',
    icon: 'pin',
    keys: [],
    ofBranch: true,
    enabled: (branch, app) => lives(branch) && branch.state !== 'starting' && !isEmpty(app),
    run: (branch) => openDialog({ kind: 'pin', branch: branch.id }),
  },
  sleep: {
    id: 'sleep',
    title: () => 'Put to sleep',
    icon: 'moon',
    keys: [],
    ofBranch: true,
    enabled: (branch) => isSandbox(branch) && branch.state === 'live',
    run: (branch) => void sleep(branch),
  },
  reset: {
    id: 'reset',
    title: (branch) => `Reset to ${branch.parent ?? 'the parent'}…`,
    icon: 'refresh',
    keys: [],
    ofBranch: true,
    enabled: (branch) => isSandbox(branch) && branch.state === 'live',
    run: (branch) => openDialog({ kind: 'reset', branch: branch.id }),
  },
  showLog: {
    id: 'show-log',
    title: () => 'Show log…',
    icon: 'info',
    keys: [],
    ofBranch: true,
    enabled: (branch) => branch.state === 'failed',
    run: (branch) => openDialog({ kind: 'log', branch: branch.id }),
  },
  discard: {
    id: 'discard',
    title: () => 'Discard…',
    icon: 'trash',
    keys: [],
    ofBranch: true,
    enabled: (branch) => isSandbox(branch) && branch.state !== 'trashed',
    run: (branch) => openDialog({ kind: 'discard', branch: branch.id }),
  },
  importData: {
    id: 'import',
    title: () => 'Import data into main…',
    icon: 'import',
    keys: [],
    ofBranch: false,
    enabled: () => true,
    run: () => openDialog({ kind: 'import' }),
  },
  tour: {
    id: 'tour',
    title: () => 'Guided tour',
    keys: [],
    ofBranch: false,
    enabled: (_branch, app) => app.status?.demo === true,
    run: () => startTour(),
  },
  resetDemo: {
    id: 'reset-demo',
    title: () => 'Reset demo…',
    icon: 'undo',
    keys: [],
    ofBranch: false,
    enabled: (_branch, app) => app.status?.demo === true,
    run: () => openDialog({ kind: 'reset-demo' }),
  },
  settings: {
    id: 'settings',
    title: () => 'Settings…',
    icon: 'sliders',
    keys: ['mod+,'],
    ofBranch: false,
    enabled: () => true,
    run: () => openDialog({ kind: 'settings' }),
  },
  addActor: {
    id: 'add-actor',
    title: () => 'Add an actor…',
    icon: 'plus',
    keys: [],
    ofBranch: true,
    enabled: lives,
    run: (branch) => openDialog({ kind: 'actor', branch: branch.id }),
  },
  pause: {
    id: 'pause',
    title: () => 'Pause or resume the feed',
    icon: 'pause',
    keys: ['space'],
    ofBranch: false,
    enabled: (branch, app) => lives(branch) && app.tab === 'live',
    run: (branch) => togglePause(branch.id),
  },
  goLive: goTo('live', 'Live', 'mod+1', () => true),
  goReview: goTo('review', 'Review', 'mod+2', isSandbox),
  goData: goTo('data', 'Data', 'mod+3', () => true),
  goConnect: goTo('connect', 'Connect', 'mod+4', () => true),
  goHistory: goTo('history', 'History', 'mod+5', () => true),
  filter: {
    id: 'filter',
    title: () => 'Filter this pane',
    icon: 'filter',
    keys: ['mod+f'],
    ofBranch: false,
    enabled: () => true,
    run: () => focusFilter(),
  },
  palette: {
    id: 'palette',
    title: () => 'All commands',
    icon: 'search',
    keys: ['mod+k'],
    ofBranch: false,
    enabled: () => true,
    run: () => openDialog({ kind: 'commands' }),
  },
  themeLight: themeCommand('light', 'Light theme'),
  themeDark: themeCommand('dark', 'Dark theme'),
  themeSystem: themeCommand('system', 'Theme of the system'),
} satisfies Record<string, Command>;

export const allCommands: readonly Command[] = Object.values(commands);

/** The commands that can run now on a branch. */
export function enabledCommands(branch: BranchRow, app: AppState): Command[] {
  return allCommands.filter((command) => command.enabled(branch, app));
}

/** Runs a command on a branch, else on the chosen one; does nothing where it is not enabled. */
export function runCommand(command: Command, branch?: BranchRow): void {
  const app = useApp.getState();
  const target = branch ?? chosenBranch(app);
  if (target !== undefined && command.enabled(target, app)) command.run(target);
}

function themeCommand(theme: 'light' | 'dark' | 'system', title: string): Command {
  return {
    id: `theme-${theme}`,
    title: () => title,
    icon: 'theme',
    keys: [],
    ofBranch: false,
    enabled: () => true,
    run: () => setTheme(theme),
  };
}

/** The filter of the pane that has the keyboard, else of the tab, else of the branch list. */
function focusFilter(): void {
  const region = document.activeElement?.closest('[data-pane]') ?? document.querySelector('main');
  const field = region?.querySelector<HTMLInputElement>('input[data-filter]');
  (field ?? document.querySelector<HTMLInputElement>('input[data-filter]'))?.focus();
}
