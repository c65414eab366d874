import { app, BrowserWindow, nativeTheme, screen, session } from 'electron';
import type { Rectangle } from 'electron';
import { join } from 'node:path';
import { appOrigin, isAppPage } from './app-page.ts';
import type { Memory } from './remembered.ts';

const firstSize = { width: 1280, height: 800 };
/** How much of a window must be on a screen, to be found and moved. */
const visiblePixels = 100;

/** Opens the app's window where it was last. It can show the app's own pages and do what the preload script names. */
export function openWindow(memory: Memory): BrowserWindow {
  const last = memory.get().window;
  const isApple = process.platform === 'darwin';
  const window = new BrowserWindow({
    ...(last !== undefined && isOnScreen(last) ? placeOf(last) : firstSize),
    minWidth: 960,
    minHeight: 640,
    title: 'Forkyard',
    show: false,
    // The page draws its own title row around macOS's lights; elsewhere the system's frame stays.
    ...(isApple ? { titleBarStyle: 'hidden', trafficLightPosition: { x: 16, y: 13 } } : {}),
    // Linux takes the icon of the window, the others that of the package.
    ...(process.platform === 'linux' ? { icon: join(__dirname, '..', '..', 'resources', 'icons', '256x256.png') } : {}),
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
  if (last?.maximized === true) window.maximize();
  window.on('close', () =>
    memory.set({ window: { ...placeOf(window.getNormalBounds()), maximized: window.isMaximized() } }),
  );
  window.once('ready-to-show', () => window.show());
  void window.loadURL(`${appOrigin}/index.html`);
  return window;
}

const placeOf = ({ x, y, width, height }: Rectangle): Rectangle => ({ x, y, width, height });

/** A screen may have been unplugged since. */
function isOnScreen(place: Rectangle): boolean {
  return screen.getAllDisplays().some(({ workArea }) => {
    const width = Math.min(place.x + place.width, workArea.x + workArea.width) - Math.max(place.x, workArea.x);
    const height = Math.min(place.y + place.height, workArea.y + workArea.height) - Math.max(place.y, workArea.y);
    return width >= visiblePixels && height >= visiblePixels;
  });
}

/**
 * Holds for whatever shows a page, ours or one that should not be there: no navigation away, no further windows, no
 * embedded pages, and no permission, since the app needs none.
 */
export function confinePages(log: (line: string) => void): void {
  app.on('web-contents-created', (_event, contents) => {
    const stay = (event: { preventDefault: () => void }, url: string): void => {
      if (isAppPage(url)) return;
      event.preventDefault();
      log(`refused to open ${url.slice(0, 200)} in the window`);
    };
    contents.on('will-navigate', stay);
    contents.on('will-redirect', stay);
    contents.setWindowOpenHandler(({ url }) => {
      log(`refused to open a window for ${url.slice(0, 200)}`);
      return { action: 'deny' };
    });
    contents.on('will-attach-webview', (event) => {
      event.preventDefault();
      log('refused to embed a page');
    });
  });
  session.defaultSession.setPermissionRequestHandler((_contents, permission, answer) => {
    log(`refused the permission ${permission}`);
    answer(false);
  });
  session.defaultSession.setPermissionCheckHandler(() => false);
  session.defaultSession.setDevicePermissionHandler(() => false);
}
