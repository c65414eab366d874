import { BrowserWindow, clipboard, dialog, ipcMain } from 'electron';
import type { IpcMainInvokeEvent, WebContents, WebFrameMain } from 'electron';
import { errorBody } from '../../shared/errors.ts';
import type { EngineProcess } from './engine-process.ts';
import { appOrigin } from './protocol.ts';

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

/** Answers what the preload script can ask. */
export function answerWindow(engine: EngineProcess, connections: Connections): void {
  handle('forkyard:connect', async (event) => {
    const frame = trusted(event);
    try {
      const port = await engine.connect();
      const connection = connections.add(event.sender);
      frame.postMessage('forkyard:port', connection, [port]);
      return { connection };
    } catch (error) {
      return { error: errorBody(error) };
    }
  });
  handle('forkyard:copy-text', async (_event, text) => {
    if (typeof text !== 'string') throw new TypeError('copyText takes a text');
    // Synchronous before Electron 40-odd, a promise since.
    await clipboard.writeText(text);
  });
  handle('forkyard:choose-files', async (event) => {
    const window = BrowserWindow.fromWebContents(event.sender);
    const options: Electron.OpenDialogOptions = { properties: ['openFile', 'multiSelections'] };
    const chosen = await (window === null ? dialog.showOpenDialog(options) : dialog.showOpenDialog(window, options));
    return chosen.filePaths;
  });
}

function handle(channel: string, listener: (event: IpcMainInvokeEvent, argument: unknown) => unknown): void {
  ipcMain.handle(channel, (event, argument: unknown) => {
    trusted(event);
    return listener(event, argument);
  });
}

/** The asking frame, when it is the main frame of the app's own page; anything else is refused and said aloud. */
function trusted({ senderFrame }: IpcMainInvokeEvent): WebFrameMain {
  if (senderFrame !== null && senderFrame.parent === null && senderFrame.url.startsWith(`${appOrigin}/`)) {
    return senderFrame;
  }
  const message = `Refused a call from ${senderFrame?.url ?? 'a frame that is gone'}.`;
  console.error(message);
  throw new Error(message);
}
