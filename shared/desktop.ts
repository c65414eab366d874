/** What the desktop app gives its window beyond a browser: named functions, no way to send anything else. */
import type { ErrorBody } from './errors.ts';

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
}

/** What the preload script posts to its own window. A port comes with `port` and is gone with `closed`. */
export interface DesktopMessage {
  readonly forkyard: 'port' | 'closed';
  readonly connection: number;
}

declare global {
  interface Window {
    /** There in the desktop app only. */
    readonly forkyard?: Desktop;
  }
}
