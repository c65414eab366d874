/** What the desktop app gives its window beyond a browser: named functions, no way to send anything else. */
import { z } from 'zod';
import type { ErrorBody } from './errors.ts';

/** One command as the native menu shows it. What it does, the window knows. */
const MenuCommand = z.object({
  id: z.string().max(80),
  label: z.string().max(200),
  /** Electron's spelling, `CmdOrCtrl+Shift+C`; a key without a modifier is shown only, since it would be taken from typing. */
  accelerator: z.string().max(40).optional(),
  enabled: z.boolean(),
});
export type MenuCommand = z.infer<typeof MenuCommand>;

/** What menu bar and tray show, told by the window whenever it changes. */
export const ShellFacts = z.object({
  menus: z
    .array(z.object({ label: z.enum(['File', 'Branch', 'View']), commands: z.array(MenuCommand).max(200) }))
    .max(3),
  /** The sandboxes whose servers run. */
  sandboxes: z.array(z.object({ name: z.string().max(100), detail: z.string().max(100) })).max(1_000),
});
export type ShellFacts = z.infer<typeof ShellFacts>;

/** Something that happened while nobody was looking. */
export const Notice = z.object({
  title: z.string().max(200),
  body: z.string().max(1_000),
  /** The branch that a click on it opens, by name. */
  branch: z.string().max(100).optional(),
});
export type Notice = z.infer<typeof Notice>;

export interface Desktop {
  /** `process.platform` */
  readonly platform: string;
  /**
   * Asks for a port to the engine, which is started where it does not run. The port comes as a window message
   * ({@link DesktopMessage}); use `desktopTransport`, which does the waiting.
   */
  connect(): Promise<{ connection: number } | { error: ErrorBody }>;
  /** Puts a text on the clipboard, also while the window has no focus. */
  copyText(text: string): Promise<void>;
  /** Opens a file dialog; the absolute paths chosen, none where it was cancelled. */
  chooseFiles(): Promise<string[]>;
  /** Says what menu and tray show. From the first call on, `command` and `open` messages may come. */
  describe(facts: ShellFacts): Promise<void>;
  notify(notice: Notice): Promise<void>;
  /** Shows the data folder's logs in the system's file manager. */
  showLogs(): Promise<void>;
}

/**
 * What the preload script posts to its own window: a port comes with `port` and is gone with `closed`; `command` was chosen
 * in the menu; `open` asks for a branch, by a deep link, the tray or a notification.
 */
export type DesktopMessage =
  | { readonly forkyard: 'port' | 'closed'; readonly connection: number }
  | { readonly forkyard: 'command'; readonly id: string }
  | { readonly forkyard: 'open'; readonly branch: string };

declare global {
  interface Window {
    /** There in the desktop app only. */
    readonly forkyard?: Desktop;
  }
}
