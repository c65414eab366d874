import { BrowserWindow, clipboard, dialog, ipcMain } from 'electron';
import type { IpcMainInvokeEvent, WebContents, WebFrameMain } from 'electron';
import type { z } from 'zod';
import { Notice, ShellFacts } from '../../shared/desktop.ts';
import { errorBody } from '../../shared/errors.ts';
import { isAppPage } from './app-page.ts';
import type { EngineProcess } from './engine-process.ts';

/** The ports that were handed to a window, so that it can be told when they are dead. */
export class Connections {
  #last = 0;
  readonly #open = new Map<number, WebContents>();

  add(contents: WebContents): number {
    this.#open.set((this.#last += 1), contents);
    return this.#last;
  }

  /** Tells every window that its ports are dead. */
  closeAll(): void {
    for (const [connection, contents] of this.#open) {
      if (!contents.isDestroyed()) contents.send('forkyard:closed', connection);
    }
    this.#open.clear();
  }
}

interface Listeners {
  readonly engine: EngineProcess;
  readonly connections: Connections;
  readonly log: (line: string) => void;
  readonly onFacts: (facts: ShellFacts) => void;
  readonly onNotice: (notice: Notice) => void;
  readonly showLogs: () => void;
}

/** Answers what the preload script can ask. */
export function answerWindow({ engine, connections, log, onFacts, onNotice, showLogs }: Listeners): void {
  const handle = (
    channel: string,
    listener: (frame: WebFrameMain, sender: WebContents, argument: unknown) => unknown,
  ) =>
    ipcMain.handle(channel, (event, argument: unknown) => {
      try {
        return listener(trusted(event), event.sender, argument);
      } catch (error) {
        log(`${channel}: ${(error as Error).message}`);
        throw error;
      }
    });

  handle('forkyard:connect', async (frame, sender) => {
    try {
      const port = await engine.connect();
      const connection = connections.add(sender);
      frame.postMessage('forkyard:port', connection, [port]);
      return { connection };
    } catch (error) {
      return { error: errorBody(error) };
    }
  });
  handle('forkyard:copy-text', async (_frame, _sender, text) => {
    if (typeof text !== 'string') throw new TypeError('copyText takes a text');
    // Synchronous before Electron 40-odd, a promise since.
    await clipboard.writeText(text);
  });
  handle('forkyard:choose-files', async (_frame, sender) => {
    const window = BrowserWindow.fromWebContents(sender);
    const options: Electron.OpenDialogOptions = { properties: ['openFile', 'multiSelections'] };
    const chosen = await (window === null ? dialog.showOpenDialog(options) : dialog.showOpenDialog(window, options));
    return chosen.filePaths;
  });
  handle('forkyard:describe', (_frame, _sender, facts) => onFacts(parsed(ShellFacts, facts)));
  handle('forkyard:notify', (_frame, _sender, notice) => onNotice(parsed(Notice, notice)));
  handle('forkyard:show-logs', () => showLogs());
}

/** The asking frame, when it is the main frame of the app's own page; anything else is refused and said aloud. */
function trusted({ senderFrame }: IpcMainInvokeEvent): WebFrameMain {
  if (senderFrame !== null && senderFrame.parent === null && isAppPage(senderFrame.url)) return senderFrame;
  throw new Error(`Refused a call from ${senderFrame?.url.slice(0, 200) ?? 'a frame that is gone'}.`);
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new TypeError(`Refused what was sent: ${result.error.issues[0]?.message ?? 'unknown'}.`);
  return result.data;
}
