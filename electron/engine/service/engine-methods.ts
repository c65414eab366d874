import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import { isDemo } from '../branches/demo.ts';
import { freeBytes } from '../mongod/disk-space.ts';
import { filesUnder } from '../mongod/files.ts';
import type { Methods } from './service.ts';

declare const __FORKYARD_VERSION__: string;

export const engineMethods: Methods<'engine.status' | 'engine.web' | 'engine.stop'> = {
  async 'engine.status'({ workspace, mongod }) {
    const [free, used, trash, servers] = await Promise.all([
      freeBytes(workspace.data),
      Promise.all(['branches', 'home'].map((folder) => folderBytes(join(workspace.data, folder)))),
      folderBytes(join(workspace.data, 'trash')),
      Promise.all(workspace.serverPids.map(residentBytes)),
    ]);
    const shared = [...workspace.live.values()].some((branch) => branch.record.disk === 'shared');
    return {
      version: __FORKYARD_VERSION__,
      pid: process.pid,
      data: workspace.data,
      mongod: { version: mongod.version, path: mongod.path, source: mongod.source },
      memory: { engine: process.memoryUsage.rss(), servers: servers.reduce((sum, bytes) => sum + bytes, 0) },
      disk: {
        used: used.reduce((sum, bytes) => sum + bytes, 0),
        free,
        trash,
        shared,
        ...(workspace.disk.isShort ? { short: true } : {}),
      },
      ...((await isDemo(workspace)) ? { demo: true } : {}),
    };
  },

  async 'engine.web'({ workspace, options }, { port }) {
    if (!options.web) {
      throw new ForkyardError('web_refused', 'This engine belongs to the desktop app and serves no web page.', {
        hint: 'Use the app, or quit it and run "forkyard up".',
      });
    }
    const { url } = await options.web(port);
    return { url, pid: process.pid, data: workspace.data };
  },

  async 'engine.stop'({ stop, options }) {
    await stop();
    options.onStop?.();
    return { stopped: true };
  },
};

async function folderBytes(folder: string): Promise<number> {
  return (await filesUnder(folder)).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Resident memory of a process; 0 where the system does not tell. */
async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * 4_096;
}
