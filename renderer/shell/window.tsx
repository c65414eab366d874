import { useEffect } from 'react';
import { Sidebar } from '../branches/sidebar.tsx';
import { DropTarget } from '../start/drop-target.tsx';
import { FirstStart } from '../start/first-start.tsx';
import { chosenBranch, isEmpty, useApp } from '../store/app.ts';
import { allCommands, runCommand } from './commands.ts';
import { Dialogs } from './dialogs.tsx';
import { BranchHead } from './head.tsx';
import { isTyping, matches } from './keyboard.ts';
import { Refused } from './refused.tsx';
import { useSingleKeys } from './single-keys.ts';
import { StatusLine } from './status-line.tsx';
import { BranchTabs } from './tabs.tsx';
import { ToastPlace } from './toast.tsx';
import './shell.css';

export function AppWindow() {
  const branch = useApp(chosenBranch);
  const refused = useApp((app) => app.connection.kind === 'refused');
  const announcement = useApp((app) => app.announcement);
  useShortcuts();
  useEffect(() => {
    document.title = branch === undefined ? 'Forkyard' : `${branch.name} · Forkyard`;
  }, [branch]);
  const nothingYet = useApp((app) => app.starting || isEmpty(app));
  const empty = branch !== undefined && branch.parent === undefined && nothingYet;
  return (
    <div className="win">
      <Workspace />
      <BranchHead branch={branch} empty={empty} />
      <Sidebar />
      <main className={empty || branch === undefined ? 'main no-tabs' : 'main'}>
        {refused ? <Refused /> : null}
        {refused || branch === undefined ? null : empty ? <FirstStart /> : <BranchTabs branch={branch} />}
      </main>
      <StatusLine />
      <ToastPlace />
      <Dialogs />
      <DropTarget />
      <div className="sr" aria-live="polite" role="log" aria-label="Announcements">
        {announcement}
      </div>
    </div>
  );
}

/** The name of the data folder, above the branches. */
function Workspace() {
  const data = useApp((app) => app.status?.data);
  const name = data
    ?.split(/[/\\]/)
    .filter((part) => part !== '')
    .at(-1);
  return (
    <div className="chrome" role="region" aria-label="Workspace">
      <span className="workspace cut" title={data}>
        {name ?? 'Forkyard'}
      </span>
    </div>
  );
}

/** Runs the first enabled command whose keys are pressed. Single keys stay with text fields and with open dialogs. */
function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const app = useApp.getState();
      const branch = chosenBranch(app);
      if (branch === undefined || app.dialog !== undefined) return;
      for (const command of allCommands) {
        const pressed = command.keys.find((keys) => matches(event, keys));
        if (pressed === undefined || !command.enabled(branch, app)) continue;
        if (!pressed.includes('+') && (isTyping(event) || isOnControl(event) || !useSingleKeys.getState().on)) return;
        event.preventDefault();
        runCommand(command, branch);
        return;
      }
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
}

/** A focused button takes Space and Enter itself; a tab that is open already has no use for them. */
function isOnControl(event: KeyboardEvent): boolean {
  return (
    event.target instanceof HTMLElement &&
    event.target.closest('button:not([role=tab]), a[href], [role=menuitem]') !== null
  );
}
