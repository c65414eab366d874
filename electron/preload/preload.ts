/** Everything the window can ask of the desktop app, by name. There is no way to send anything else. */
import { contextBridge, ipcRenderer } from 'electron';
import type { Desktop, DesktopMessage } from '../../shared/desktop.ts';

const post = (message: DesktopMessage, ports: MessagePort[] = []): void => window.postMessage(message, '/', ports);

ipcRenderer.on('forkyard:port', (event, connection: number) =>
  post({ forkyard: 'port', connection }, [...event.ports]),
);
ipcRenderer.on('forkyard:closed', (_event, connection: number) => post({ forkyard: 'closed', connection }));
ipcRenderer.on('forkyard:command', (_event, id: string) => post({ forkyard: 'command', id }));
ipcRenderer.on('forkyard:open', (_event, branch: string) => post({ forkyard: 'open', branch }));

const desktop: Desktop = {
  platform: process.platform,
  connect: () => ipcRenderer.invoke('forkyard:connect'),
  copyText: (text) => ipcRenderer.invoke('forkyard:copy-text', text),
  chooseFiles: () => ipcRenderer.invoke('forkyard:choose-files'),
  describe: (facts) => ipcRenderer.invoke('forkyard:describe', facts),
  notify: (notice) => ipcRenderer.invoke('forkyard:notify', notice),
  showLogs: () => ipcRenderer.invoke('forkyard:show-logs'),
};
contextBridge.exposeInMainWorld('forkyard', desktop);
