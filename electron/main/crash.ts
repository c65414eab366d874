import { app, dialog } from 'electron';
import type { BrowserWindow } from 'electron';
import { stackOf } from '../local/log.ts';

interface Options {
  readonly log: (line: string) => void;
  readonly showLogs: () => void;
}

type Choice = 'restart' | 'quit' | 'wait';

/** A window whose process has ended, or does not answer, is never just gone: the user restarts it or looks at the logs. */
export function watchWindow(window: BrowserWindow, { log, showLogs }: Options): void {
  let asking = false;
  const tell = async (what: string, canWait: boolean): Promise<void> => {
    if (asking || window.isDestroyed()) return;
    asking = true;
    const choice = await ask(window, what, canWait, showLogs);
    asking = false;
    if (choice === 'quit') app.quit();
    if (choice !== 'restart' || window.isDestroyed()) return;
    // One that hangs has to end before it can be loaded anew.
    if (canWait) window.webContents.forcefullyCrashRenderer();
    window.webContents.reload();
  };
  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit') return;
    log(`the window's process ended: ${reason}, code ${exitCode}`);
    void tell('Forkyard’s window has crashed.', false);
  });
  window.on('unresponsive', () => {
    log('the window does not answer');
    void tell('Forkyard’s window does not answer.', true);
  });
  window.on('responsive', () => log('the window answers again'));
}

async function ask(window: BrowserWindow, what: string, canWait: boolean, showLogs: () => void): Promise<Choice> {
  const choices: readonly (readonly [string, Choice | 'logs'])[] = [
    ['Restart', 'restart'],
    ['Show Logs', 'logs'],
    canWait ? ['Wait', 'wait'] : ['Quit', 'quit'],
  ];
  for (;;) {
    const { response } = await dialog.showMessageBox(window, {
      type: 'error',
      message: what,
      detail: 'Nothing is lost: the engine and your sandboxes go on.',
      buttons: choices.map(([label]) => label),
      defaultId: 0,
      cancelId: 2,
      noLink: true,
    });
    const choice = choices[response]?.[1] ?? 'wait';
    if (choice !== 'logs') return choice;
    showLogs();
  }
}

/** A bug of the app's own process: what it holds may be wrong now, so it starts anew or ends. */
export function catchBugs({ log, showLogs }: Options): void {
  process.on('unhandledRejection', (reason) => log(`bug: unhandled: ${stackOf(reason)}`));
  process.on('uncaughtException', (error) => {
    log(`bug: uncaught: ${stackOf(error)}`);
    if (!app.isReady()) {
      dialog.showErrorBox('Forkyard cannot start', error.message);
      app.exit(1);
      return;
    }
    if (askAfterBug(showLogs) === 'restart') app.relaunch();
    app.quit();
  });
}

function askAfterBug(showLogs: () => void): 'restart' | 'quit' {
  for (;;) {
    const response = dialog.showMessageBoxSync({
      type: 'error',
      message: 'Something went wrong inside Forkyard.',
      detail: 'Your data and sandboxes are safe. The log has the details.',
      buttons: ['Restart', 'Show Logs', 'Quit'],
      cancelId: 2,
      noLink: true,
    });
    if (response !== 1) return response === 0 ? 'restart' : 'quit';
    showLogs();
  }
}
