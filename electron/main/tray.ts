import { Menu, nativeImage, Tray } from 'electron';
import { join } from 'node:path';
import type { ShellFacts } from '../../shared/desktop.ts';

export interface TrayActions {
  readonly show: () => void;
  readonly open: (branch: string) => void;
  readonly quit: () => void;
}

/** The icon that is in the system's tray while sandboxes run, with one entry for each. */
export class SandboxTray {
  readonly #actions: TrayActions;
  #tray: Tray | undefined;

  constructor(actions: TrayActions) {
    this.#actions = actions;
  }

  show(sandboxes: ShellFacts['sandboxes']): void {
    if (sandboxes.length === 0) {
      this.#tray?.destroy();
      this.#tray = undefined;
      return;
    }
    this.#tray ??= this.#create();
    this.#tray.setToolTip(
      `Forkyard: ${sandboxes.length === 1 ? 'a sandbox runs' : `${sandboxes.length} sandboxes run`}`,
    );
    this.#tray.setContextMenu(
      Menu.buildFromTemplate([
        ...sandboxes.map(({ name, detail }) => ({
          label: detail === '' ? name : `${name}  ${detail}`,
          click: () => this.#actions.open(name),
        })),
        { type: 'separator' },
        { label: 'Show Forkyard', click: this.#actions.show },
        { label: 'Quit', click: this.#actions.quit },
      ]),
    );
  }

  #create(): Tray {
    const name = process.platform === 'darwin' ? 'trayTemplate.png' : 'tray.png';
    const tray = new Tray(nativeImage.createFromPath(join(__dirname, '..', '..', 'resources', 'icons', name)));
    tray.on('click', this.#actions.show);
    return tray;
  }
}
