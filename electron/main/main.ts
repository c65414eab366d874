/** The desktop app: one instance for a data folder, one window, the engine beside it. No business logic here. */
import { app, BrowserWindow, dialog, Menu } from 'electron';
import { join } from 'node:path';
import { errorBody } from '../../shared/errors.ts';
import { createDataFolder, dataFolder } from '../local/data.ts';
import { EngineProcess } from './engine-process.ts';
import { answerWindow, Connections } from './ipc.ts';
import { declareScheme, serveScheme } from './protocol.ts';
import { denyPermissions, openWindow } from './window.ts';

const data = openDataFolder();
// The browser's own files live with the data: a second data folder is a second app, and its lock is this folder's.
app.setPath('userData', join(data, 'app'));

if (app.requestSingleInstanceLock()) start();
else {
  console.error(`Forkyard is open on ${data} already; its window comes to the front.`);
  app.quit();
}

function start(): void {
  declareScheme();
  const connections = new Connections();
  const engine = new EngineProcess({
    program: join(__dirname, 'engine.cjs'),
    data,
    onEnd: () => connections.closeAll(),
  });

  app.on('second-instance', showWindow);
  app.on('activate', showWindow);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  stopEngineBeforeQuit(engine);

  void app.whenReady().then(() => {
    denyPermissions();
    serveScheme(join(__dirname, '..', 'renderer'));
    answerWindow(engine, connections);
    Menu.setApplicationMenu(
      Menu.buildFromTemplate([
        ...(process.platform === 'darwin' ? [{ role: 'appMenu' as const }] : []),
        { role: 'editMenu' },
        { role: 'windowMenu' },
      ]),
    );
    showWindow();
  });
}

/** Without it there is nothing to show: says why and ends. */
function openDataFolder(): string {
  try {
    return createDataFolder(dataFolder(undefined));
  } catch (error) {
    const { message, hint } = errorBody(error);
    // Before the app is ready this goes to stderr on Linux, to a dialog elsewhere.
    dialog.showErrorBox('Forkyard cannot start', [message, hint ?? ''].join('\n'));
    process.exit(1);
  }
}

function showWindow(): void {
  const [open] = BrowserWindow.getAllWindows();
  if (open === undefined) {
    if (app.isReady()) openWindow();
    return;
  }
  if (open.isMinimized()) open.restore();
  open.show();
  open.focus();
}

/** Quitting waits until the servers have stopped. */
function stopEngineBeforeQuit(engine: EngineProcess): void {
  app.on('will-quit', (event) => {
    event.preventDefault();
    // Not from within the event: a second quit before it has returned is lost.
    void engine.stop().finally(() => setImmediate(() => app.exit()));
  });
}
