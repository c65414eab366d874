/** The desktop app: one instance for a data folder, one window, the engine beside it. No business logic here. */
import { app, dialog, shell } from 'electron';
import { join } from 'node:path';
import { errorBody } from '../../shared/errors.ts';
import { createDataFolder, dataFolder } from '../local/data.ts';
import { openLog } from '../local/log.ts';
import { catchBugs } from './crash.ts';
import { deepLinkScheme, linkAmong } from './deep-link.ts';
import { DesktopShell } from './desktop-shell.ts';
import { EngineProcess } from './engine-process.ts';
import { answerWindow, Connections } from './ipc.ts';
import { declareScheme, serveScheme } from './protocol.ts';
import { openMemory } from './remembered.ts';
import { confinePages } from './window.ts';

const data = openDataFolder();
// The browser's own files live with the data: a second data folder is a second app, and its lock is this folder's.
const own = join(data, 'app');
app.setPath('userData', own);

if (app.requestSingleInstanceLock()) start();
else {
  console.error(`Forkyard is open on ${data} already; its window comes to the front.`);
  app.quit();
}

function start(): void {
  const file = openLog(data, 'app.log');
  const log = (line: string): void => {
    file(line);
    console.error(line);
  };
  const showLogs = (): void => shell.showItemInFolder(join(data, 'app.log'));
  catchBugs({ log, showLogs });
  declareScheme();
  if (app.isPackaged) app.setAsDefaultProtocolClient(deepLinkScheme);
  const connections = new Connections();
  const engine = new EngineProcess({
    program: join(__dirname, 'engine.cjs'),
    data,
    log,
    onEnd: () => connections.closeAll(),
  });
  const desktop = new DesktopShell({ engine, memory: openMemory(join(own, 'shell.json')), log, showLogs });

  app.on('second-instance', (_event, argv) => {
    desktop.show();
    const link = linkAmong(argv);
    if (link !== undefined) desktop.openLink(link);
  });
  // macOS alone tells links this way, possibly before the app is ready.
  app.on('open-url', (event, link) => {
    event.preventDefault();
    desktop.openLink(link);
  });
  app.on('activate', () => desktop.show());
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  stopEngineBeforeQuit(engine);

  void app.whenReady().then(() => {
    confinePages(log);
    serveScheme(join(__dirname, '..', 'renderer'));
    answerWindow({
      engine,
      connections,
      log,
      showLogs,
      onFacts: (facts) => desktop.describe(facts),
      onNotice: (notice) => desktop.notify(notice),
    });
    desktop.show();
    const link = linkAmong(process.argv);
    if (link !== undefined) desktop.openLink(link);
    log(`Forkyard ${app.getVersion()} on Electron ${process.versions.electron ?? ''} works on ${data}`);
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

/** Quitting waits until the servers have stopped. */
function stopEngineBeforeQuit(engine: EngineProcess): void {
  app.on('will-quit', (event) => {
    event.preventDefault();
    // Not from within the event: a second quit before it has returned is lost.
    void engine.stop().finally(() => setImmediate(() => app.exit()));
  });
}
