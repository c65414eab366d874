/** Everything the window can ask of the desktop app, by name. There is no way to send anything else. */
import { contextBridge, ipcRenderer } from 'electron';
import type { Desktop, DesktopMessage } from '../../shared/desktop.ts';

const post = (message: DesktopMessage, ports: MessagePort[] = []): void => window.postMessage(message, '/', ports);

ipcRenderer.on('forkyard:port', (event, connection: number) =>
  post({ forkyard: 'port', connection }, [...event.ports]),
);
ipcRenderer.on('forkyard:closed', (_event, connection: number) => post({ forkyard: 'closed', connection }));

const desktop: Desktop = {
  platform: process.platform,
  connect: () => ipcRenderer.invoke('forkyard:connect'),
  copyText: (text) => ipcRenderer.invoke('forkyard:copy-text', text),
  chooseFiles: () => ipcRenderer.invoke('forkyard:choose-files'),
};
contextBridge.exposeInMainWorld('forkyard', desktop);
