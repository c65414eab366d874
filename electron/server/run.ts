import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Engine, EngineOptions } from '../engine/service/contract.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { serve } from '../../shared/rpc/serve.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { createDataFolder, socketPath } from '../local/data.ts';
import { openLog, stackOf } from '../local/log.ts';
import { lockDataFolder } from './lock.ts';
import { listenOnSocket, requireOwnFolder } from './socket.ts';
import type { Endpoint } from './socket.ts';
import { serveWeb } from './web.ts';
import type { Web } from './web.ts';

export interface RunOptions {
  /** The data folder as asked for; it is made where it does not exist. */
  readonly data: string;
  readonly startEngine: (options: EngineOptions) => Promise<Engine>;
  /** The built app, for the loopback web. */
  readonly appRoot: string;
  /** Told each line of the log too, e.g. while somebody waits for the start. */
  readonly onLog?: (line: string) => void;
}

/** An engine with its doors open. */
export interface RunningEngine {
  /** Real path. */
  readonly data: string;
  readonly log: (line: string) => void;
  /** Serves one more connection. */
  accept(transport: Transport): void;
  /** Turns the loopback web on; where it is on already, answers the same link. */
  web(port?: number): Promise<{ url: string }>;
  /** Stops the servers, lets replies on their way arrive, closes the doors, gives the folder away. Works once. */
  stop(): Promise<void>;
  /** Settled when it has stopped, whoever asked for it. */
  readonly stopped: Promise<void>;
}

/** Time that a connection gets to take what was sent to it before it is cut off. */
const closeTimeoutMs = 1000;

/**
 * Takes the data folder, starts its engine and listens on the socket. Throws `engine_running` where another engine has
 * the folder, and whatever keeps the engine from starting; the folder is free again then.
 */
export async function runEngine({ data: asked, startEngine, appRoot, onLog }: RunOptions): Promise<RunningEngine> {
  const data = createDataFolder(asked);
  const socket = socketPath(data);
  // Before anything is put into a folder in which the engine would not work.
  requireOwnFolder(socket);
  const lock = await lockDataFolder(data, socket);
  const file = openLog(data, 'engine.log');
  const log = (line: string): void => {
    file(line);
    onLog?.(line);
  };

  const events = new EventRing();
  let web: Promise<Web> | undefined;
  let stopping: Promise<void> | undefined;
  let settleStopped = (): void => {};
  const stopped = new Promise<void>((resolve) => (settleStopped = resolve));

  const turnWebOn = async (port?: number): Promise<{ url: string }> => {
    if (stopping !== undefined)
      throw new ForkyardError('engine_unreachable', 'The engine is stopping.', { retry: true });
    web ??= serveWeb({ port, root: appRoot, accept });
    const open = await web.catch((error: unknown) => {
      web = undefined;
      throw error;
    });
    if (port !== undefined && port !== 0 && port !== open.port) {
      throw new ForkyardError('web_refused', `The app is served on port ${open.port} already.`, {
        hint: 'Leave --port out, or stop the engine first with `forkyard down`.',
      });
    }
    return { url: open.url };
  };

  let engine: Engine;
  let door: Endpoint;
  try {
    engine = await startEngine({
      data,
      log,
      web: turnWebOn,
      // The reply to the call that asks for the end goes first.
      onStop: () => void setImmediate(() => void stop().catch((error: unknown) => log(`bug: ${stackOf(error)}`))),
    });
    engine.onEvent((event) => events.push(event));
  } catch (error) {
    log(`the engine did not start: ${String(error)}`);
    await lock.release();
    throw error;
  }
  function accept(transport: Transport): void {
    if (stopping !== undefined) transport.close();
    else serve(transport, { engine, events, onBug: (error) => log(`bug: ${stackOf(error)}`) });
  }
  try {
    door = await listenOnSocket(socket, accept);
    await lock.announce();
  } catch (error) {
    await engine.stop();
    await lock.release();
    throw error;
  }
  log(`engine ${process.pid} works on ${data}`);

  function stop(): Promise<void> {
    stopping ??= (async () => {
      try {
        await lock.retire();
        await engine.stop();
      } finally {
        // Whoever waits for the end sees its connection close: by then nothing may touch the folder any more.
        await lock.release();
        const open = await web?.catch(() => undefined);
        log(`engine ${process.pid} has stopped`);
        await Promise.all([door.close(closeTimeoutMs), open?.close(closeTimeoutMs)]);
        // A socket outside the data folder had a folder of its own.
        if (dirname(socket) !== data) await rmdir(dirname(socket)).catch(() => {});
        settleStopped();
      }
    })();
    return stopping;
  }
  return { data, log, accept, web: turnWebOn, stop, stopped };
}
