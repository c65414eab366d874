/** The window's side of the desktop app: what menu bar and tray show, and what is chosen there. */
import type { BranchRow } from '../../shared/api.ts';
import type { Desktop, DesktopMessage, MenuCommand, ShellFacts } from '../../shared/desktop.ts';
import { chooseBranch, chosenBranch, hasEnded, showToast, useApp } from '../store/app.ts';
import type { AppState } from '../store/app.ts';
import { refreshBranches } from '../store/engine.ts';
import { allCommands, runCommand } from './commands.ts';
import type { Command } from './commands.ts';
import { startNotices } from './notices.ts';
import { moment } from './time.ts';

/** Menus need not follow every event. */
const describeEveryMs = 250;

/** Describes the window to the desktop app as it changes, and does what is chosen there. Returns how to stop. */
export function startDesktop(desktop: Desktop): () => void {
  let told = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const describe = (): void => {
    timer = undefined;
    const facts = shellFacts(useApp.getState());
    const text = JSON.stringify(facts);
    if (text === told) return;
    told = text;
    void desktop.describe(facts);
  };
  const stopFollowing = useApp.subscribe((app) => {
    // Links wait for the first list: before it no branch can be found.
    if (app.loaded) timer ??= setTimeout(describe, describeEveryMs);
  });
  const onMessage = (event: MessageEvent): void => {
    const message = event.data as DesktopMessage | null;
    if (event.source !== window || message === null) return;
    if (message.forkyard === 'command') runById(message.id);
    if (message.forkyard === 'open') void openBranch(message.branch);
  };
  window.addEventListener('message', onMessage);
  const stopNotices = startNotices(desktop);
  return () => {
    stopNotices();
    window.removeEventListener('message', onMessage);
    stopFollowing();
    clearTimeout(timer);
  };
}

/** What menu bar and tray show of a state of the window. Nothing can be chosen while a dialog is open. */
function shellFacts(app: AppState): ShellFacts {
  const branch = chosenBranch(app);
  const menu = (label: ShellFacts['menus'][number]['label']) => ({
    label,
    commands:
      branch === undefined
        ? []
        : allCommands
            .filter((command) => menuOf(command) === label)
            .map((command) => menuCommand(command, branch, app)),
  });
  return {
    menus: [menu('File'), menu('Branch'), menu('View')],
    sandboxes: app.branches
      .filter((each) => each.parent !== undefined && (each.state === 'live' || each.state === 'starting'))
      .map((each) => ({
        name: each.name,
        detail: each.expiresAt === undefined ? 'kept' : `until ${moment(each.expiresAt, Date.now())}`,
      })),
  };
}

function menuOf(command: Command): ShellFacts['menus'][number]['label'] {
  if (command.ofBranch || command.id === 'adopt') return 'Branch';
  return command.id === 'import' ? 'File' : 'View';
}

function menuCommand(command: Command, branch: BranchRow, app: AppState): MenuCommand {
  const keys = command.keys[0];
  return {
    id: command.id,
    label: command.title(branch),
    ...(keys === undefined ? {} : { accelerator: accelerator(keys) }),
    enabled: app.dialog === undefined && command.enabled(branch, app),
  };
}

/** `mod+shift+c` in Electron's spelling, `CmdOrCtrl+Shift+C`. */
function accelerator(shortcut: string): string {
  const names: Readonly<Record<string, string>> = { mod: 'CmdOrCtrl', enter: 'Enter' };
  return shortcut
    .split('+')
    .map((part) => names[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join('+');
}

function runById(id: string): void {
  const command = allCommands.find((each) => each.id === id);
  if (command !== undefined && useApp.getState().dialog === undefined) runCommand(command);
}

/** Opens the branch that a link names; one that was forked a moment ago may be too new for the list that is shown. */
async function openBranch(name: string): Promise<void> {
  if (branchNamed(name) === undefined) await refreshBranches();
  const branch = branchNamed(name);
  if (branch !== undefined) chooseBranch(branch.id);
  else
    showToast({
      tone: 'problem',
      text: `There is no branch called ${name}.`,
      hint: 'The link is older than its branch, or its branch is on another machine.',
    });
}

/** The living one, since a discarded name is free to be used again. */
function branchNamed(name: string): BranchRow | undefined {
  const named = useApp.getState().branches.filter((branch) => branch.name === name);
  return named.find((each) => !hasEnded(each)) ?? named[0];
}
