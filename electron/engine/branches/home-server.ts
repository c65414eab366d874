import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { DiskSpace } from '../mongod/disk-space.ts';
import { firstStart, needsFirstStart } from '../mongod/first-start.ts';
import type { LeftServer } from '../mongod/identity.ts';
import { initiate, type EngineCredentials } from '../mongod/replica.ts';
import { Server, serverFolder, startServer } from '../mongod/server.ts';
import { stopLeft } from './left-servers.ts';

interface Place {
  readonly data: string;
  readonly binary: string;
  readonly log: (line: string) => void;
}

const firstPauseMs = 50;
const longestPauseMs = 10_000;

/** The server that home is kept on. */
export class HomeServer {
  private server: Server;
  private readonly place: Place;

  private constructor(place: Place, server: Server) {
    this.place = place;
    this.server = server;
  }

  /** Starts it, or takes over the one that a killed engine left running. */
  static async open(place: Place, credentials: EngineCredentials, left: readonly LeftServer[]): Promise<HomeServer> {
    return new HomeServer(place, await openServer(place, credentials, left));
  }

  get current(): Server {
    return this.server;
  }

  /**
   * Starts it again whenever it ends by itself: everything is kept there. It comes back on the same port, and its clients
   * go on by themselves.
   * @param closing aborted once its end is meant
   * @param disk it waits for room on
   * @param whileOpen runs work that a close waits for
   */
  keepRunning(
    closing: AbortSignal,
    disk: DiskSpace,
    whileOpen: (work: (signal: AbortSignal) => Promise<void>) => Promise<void>,
  ): void {
    const again = async () => {
      // One that a full disk ended would end again.
      await disk.room(closing);
      if (closing.aborted) return;
      this.place.log('home ended; starting it again');
      const { folder, port } = this.server;
      const start = (signal: AbortSignal) =>
        startServer({ binary: this.place.binary, folder, preferredPort: port, signal, log: this.place.log });
      for (let pauseMs = firstPauseMs; !closing.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        try {
          await whileOpen(async (signal) => {
            this.server = await start(signal);
          });
          break;
        } catch (error) {
          // Ended once more while it came up, or its disk is full: nothing goes on without it, so it is tried for ever.
          if (!closing.aborted) this.place.log(`home does not start: ${String(error)}`);
          await setTimeout(pauseMs, undefined, { signal: closing }).catch(() => undefined);
        }
      }
      if (!closing.aborted) this.keepRunning(closing, disk, whileOpen);
    };
    this.server.exited.then(again).catch((error: unknown) => this.place.log(`home does not start: ${String(error)}`));
  }
}

async function openServer(place: Place, credentials: EngineCredentials, left: readonly LeftServer[]): Promise<Server> {
  const folder = serverFolder(join(place.data, 'home'));
  const running = left.find(({ dbPath }) => dbPath === folder.db);
  const start = { binary: place.binary, folder, oplogMB: 64, log: place.log };
  if (await needsFirstStart(folder)) {
    if (running) await stopLeft(running);
    return firstStart(folder, async () => {
      const server = await startServer(start);
      await (await initiate(server, credentials)).close();
      return server;
    });
  }
  return running ? new Server(folder, running.port, running) : startServer(start);
}
