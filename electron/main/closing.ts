import { dialog } from 'electron';
import type { BrowserWindow } from 'electron';
import type { WhenClosed } from './remembered.ts';

interface Options {
  readonly choice: () => WhenClosed;
  readonly remember: (choice: WhenClosed) => void;
  /** How many sandboxes would stop with the app. */
  readonly running: () => number;
  readonly quit: () => void;
}

/**
 * What becomes of running sandboxes when the window is closed: asked once, then as remembered. Kept ones run on behind the
 * tray's icon; a second start of the app shows the window again.
 */
export function askWhenClosed(window: BrowserWindow, options: Options): { quitting(): void } {
  let ending = false;
  let asking = false;
  window.on('close', (event) => {
    const count = options.running();
    if (ending || count === 0) return;
    const whenClosed = options.choice();
    if (whenClosed === 'stop') return;
    event.preventDefault();
    if (whenClosed === 'keep') window.hide();
    else if (!asking) {
      asking = true;
      void ask(window, count).then(({ choice, remember }) => {
        asking = false;
        if (choice === undefined) return;
        if (remember) options.remember(choice);
        if (choice === 'keep') window.hide();
        else options.quit();
      });
    }
  });
  return { quitting: () => (ending = true) };
}

async function ask(window: BrowserWindow, count: number) {
  const { response, checkboxChecked } = await dialog.showMessageBox(window, {
    type: 'question',
    message: count === 1 ? 'Keep the running sandbox?' : `Keep the ${count} running sandboxes?`,
    detail:
      'Kept, their connection strings go on working and every write is recorded. ' +
      'Stopped, they lose nothing and start again with Forkyard.',
    buttons: ['Keep Running', 'Stop and Quit', 'Cancel'],
    defaultId: 0,
    cancelId: 2,
    checkboxLabel: 'Do this every time',
    checkboxChecked: true,
    noLink: true,
  });
  const choice = (['keep', 'stop'] as const)[response];
  return { choice, remember: checkboxChecked };
}
