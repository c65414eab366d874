import { BrowserWindow, nativeTheme, session } from 'electron';
import { join } from 'node:path';
import { appOrigin } from './protocol.ts';

/** Opens the app's window. It can show the app's own pages and do what the preload script names, nothing else. */
export function openWindow(): BrowserWindow {
  const window = new BrowserWindow({
    width: 1280,
    height: 800,
    minWidth: 960,
    minHeight: 640,
    title: 'Forkyard',
    show: false,
    autoHideMenuBar: true,
    // The page draws its own title row around macOS's lights; elsewhere the system's frame stays.
    ...(process.platform === 'darwin' ? { titleBarStyle: 'hidden', trafficLightPosition: { x: 16, y: 13 } } : {}),
    // The ground colour of each theme, so that nothing flashes before the first paint.
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#14181a' : '#f4f6f6',
    webPreferences: {
      preload: join(__dirname, 'preload.cjs'),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
    },
  });
  confine(window);
  window.once('ready-to-show', () => window.show());
  void window.loadURL(`${appOrigin}/index.html`);
  return window;
}

/** No navigation away, no further windows, no embedded pages; a page that crashed is loaded again. */
function confine(window: BrowserWindow): void {
  const { webContents } = window;
  webContents.on('will-navigate', (event, url) => {
    if (new URL(url).origin === appOrigin || url.startsWith(`${appOrigin}/`)) return;
    event.preventDefault();
    console.error(`Forkyard refused to open ${url} in its window.`);
  });
  webContents.setWindowOpenHandler(({ url }) => {
    console.error(`Forkyard refused to open a window for ${url}.`);
    return { action: 'deny' };
  });
  webContents.on('will-attach-webview', (event) => event.preventDefault());
  webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit') return;
    console.error(`The window's process ended (${reason}); it is loaded again.`);
    webContents.reload();
  });
}

/** Denies every permission a page can ask for: the app needs none. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.defaultSession.setPermissionCheckHandler(() => false);
  session.defaultSession.setDevicePermissionHandler(() => false);
}
