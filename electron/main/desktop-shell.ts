import { app, Menu, Notification } from 'electron';
import type { BrowserWindow } from 'electron';
import type { Notice, ShellFacts } from '../../shared/desktop.ts';
import { askWhenClosed } from './closing.ts';
import { watchWindow } from './crash.ts';
import { parseDeepLink } from './deep-link.ts';
import type { EngineProcess } from './engine-process.ts';
import { menuTemplate } from './menu.ts';
import type { Memory, WhenClosed } from './remembered.ts';
import { SandboxTray } from './tray.ts';
import { tellUpdate } from './update-dialog.ts';
import { openWindow } from './window.ts';

interface Options {
  readonly engine: EngineProcess;
  readonly memory: Memory;
  readonly log: (line: string) => void;
  readonly showLogs: () => void;
}

/** What the system sees of the app: its window, menu bar, tray icon and notifications, as the page describes them. */
export class DesktopShell {
  readonly #options: Options;
  readonly #tray: SandboxTray;
  #window: BrowserWindow | undefined;
  #facts: ShellFacts = { menus: [], sandboxes: [] };
  /** Whether the page listens, which it says by describing itself. */
  #listening = false;
  /** A branch asked for before that. */
  #wanted: string | undefined;
  /** Shown ones, which nobody else holds on to: a collected one cannot be clicked. */
  readonly #notices = new Set<Notification>();

  constructor(options: Options) {
    this.#options = options;
    this.#tray = new SandboxTray({
      show: () => this.show(),
      open: (branch) => this.#open(branch),
      quit: () => app.quit(),
    });
  }

  /** Brings the window to the front; opens it where there is none. */
  show(): void {
    if (!app.isReady()) return;
    const window = this.#window;
    if (window === undefined) {
      // Comes up by itself with its first picture.
      this.#window = this.#createWindow();
      return;
    }
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  }

  /** Shows the branch that a deep link names; a link that is anything else does nothing and is said in the log. */
  openLink(link: string): void {
    const branch = parseDeepLink(link);
    if (branch === undefined) this.#options.log(`refused the link ${JSON.stringify(link.slice(0, 200))}`);
    else this.#open(branch);
  }

  /** Takes what the page says of its menus and of the sandboxes that run. */
  describe(facts: ShellFacts): void {
    this.#facts = facts;
    this.#listening = true;
    this.#showMenu();
    this.#tray.show(facts.sandboxes);
    if (this.#wanted === undefined) return;
    this.#send('forkyard:open', this.#wanted);
    this.#wanted = undefined;
  }

  notify({ title, body, branch }: Notice): void {
    this.#options.log(`notice: ${title}. ${body}`);
    if (!Notification.isSupported()) return;
    const notice = new Notification({ title, body });
    this.#notices.add(notice);
    notice.on('close', () => this.#notices.delete(notice));
    notice.on('click', () => {
      this.#notices.delete(notice);
      if (branch === undefined) this.show();
      else this.#open(branch);
    });
    notice.show();
  }

  #open(branch: string): void {
    this.show();
    if (this.#listening) this.#send('forkyard:open', branch);
    else this.#wanted = branch;
  }

  #createWindow(): BrowserWindow {
    const { engine, memory, log, showLogs } = this.#options;
    this.#showMenu();
    const window = openWindow(memory);
    watchWindow(window, { log, showLogs });
    const closing = askWhenClosed(window, {
      choice: () => memory.get().whenClosed,
      remember: (choice) => this.#remember(choice),
      running: () => (process.platform === 'darwin' || !engine.own ? 0 : this.#facts.sandboxes.length),
      quit: () => app.quit(),
    });
    const quitting = (): void => closing.quitting();
    app.on('before-quit', quitting);
    // A page that is loaded anew says again when it listens.
    window.webContents.on('did-start-loading', () => (this.#listening = false));
    window.on('closed', () => {
      app.off('before-quit', quitting);
      this.#listening = false;
      this.#window = undefined;
    });
    return window;
  }

  #remember(whenClosed: WhenClosed): void {
    this.#options.memory.set({ whenClosed });
    this.#showMenu();
  }

  #showMenu(): void {
    const { memory, showLogs, log } = this.#options;
    const template = menuTemplate(this.#facts, process.platform, {
      run: (id) => {
        this.show();
        this.#send('forkyard:command', id);
      },
      showLogs,
      checkForUpdates: () => void tellUpdate(log),
      whenClosed: memory.get().whenClosed,
      setWhenClosed: (choice) => this.#remember(choice),
    });
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  }

  #send(channel: 'forkyard:command' | 'forkyard:open', text: string): void {
    this.#window?.webContents.send(channel, text);
  }
}
