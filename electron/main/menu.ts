import type { MenuItemConstructorOptions } from 'electron';
import type { MenuCommand, ShellFacts } from '../../shared/desktop.ts';
import type { WhenClosed } from './remembered.ts';

export interface MenuActions {
  /** Runs a command of the window's. */
  readonly run: (id: string) => void;
  readonly showLogs: () => void;
  readonly checkForUpdates: () => void;
  readonly whenClosed: WhenClosed;
  readonly setWhenClosed: (choice: WhenClosed) => void;
}

const closeChoices: readonly [WhenClosed, string][] = [
  ['ask', 'Ask'],
  ['keep', 'Keep Them Running'],
  ['stop', 'Stop Them and Quit'],
];

/** The menu bar: the window's own commands, and the roles that every app has. */
export function menuTemplate(
  facts: ShellFacts,
  platform: NodeJS.Platform,
  actions: MenuActions,
): MenuItemConstructorOptions[] {
  const isApple = platform === 'darwin';
  const commandsOf = (label: string) =>
    (facts.menus.find((menu) => menu.label === label)?.commands ?? []).map((command) =>
      item(command, isApple, actions.run),
    );
  const separator = { type: 'separator' as const };
  return [
    ...(isApple ? [{ role: 'appMenu' as const }] : []),
    {
      label: 'File',
      submenu: [
        ...commandsOf('File'),
        separator,
        // On macOS an app outlives its windows anyway.
        ...(isApple ? [] : [whenClosed(actions), separator]),
        { role: 'close' },
        ...(isApple ? [] : [{ role: 'quit' as const }]),
      ],
    },
    { role: 'editMenu' },
    { label: 'Branch', submenu: commandsOf('Branch') },
    {
      label: 'View',
      submenu: [
        ...commandsOf('View'),
        separator,
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        { id: 'check-for-updates', label: 'Check for Updates…', click: actions.checkForUpdates },
        { label: 'Show Logs', click: actions.showLogs },
      ],
    },
  ];
}

function item(
  { id, label, accelerator, enabled }: MenuCommand,
  isApple: boolean,
  run: MenuActions['run'],
): MenuItemConstructorOptions {
  // A lone key would be taken from every text field: it is shown where it can be shown alone, and the page listens for it.
  const isLoneKey = accelerator !== undefined && !accelerator.includes('+');
  return {
    id,
    // An ampersand would mark the next letter.
    label: label.replaceAll('&', '&&'),
    enabled,
    click: () => run(id),
    ...(accelerator === undefined || (isLoneKey && isApple) ? {} : { accelerator, registerAccelerator: !isLoneKey }),
  };
}

function whenClosed({ whenClosed: current, setWhenClosed }: MenuActions): MenuItemConstructorOptions {
  return {
    label: 'When Closed with Running Sandboxes',
    submenu: closeChoices.map(([choice, label]) => ({
      label,
      type: 'radio',
      checked: choice === current,
      click: () => setWhenClosed(choice),
    })),
  };
}
