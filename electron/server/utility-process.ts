/**
 * The engine as a utility process of Electron. The parent posts MessagePorts; each is served. Where another process has
 * the data folder (a `forkyard` of the command line), this one passes frames between each port and that engine's socket.
 */
import { errorBody, ForkyardError } from '../../shared/errors.ts';
import type { UtilityOrder, UtilityReport } from '../../shared/utility-process.ts';
import { messagePortTransport } from '../../shared/rpc/message-port.ts';
import { createDataFolder, readPointer } from '../local/data.ts';
import { findEngine, waitForEngine } from '../local/find.ts';
import { stackOf } from '../local/log.ts';
import { streamTransport } from '../local/ndjson.ts';
import { appRoot, stopWithin } from './process.ts';
import type { StartEngine } from './process.ts';
import { relay } from './relay.ts';
import { runEngine } from './run.ts';

type Port = Parameters<typeof messagePortTransport>[0];

/** Electron's `process.parentPort`. */
export interface ParentPort {
  on(type: 'message', listener: (event: { data: unknown; ports: Port[] }) => void): unknown;
  postMessage(message: UtilityReport): void;
}

/** How long an engine that is just starting elsewhere may take until it answers. */
const foreignStartTimeoutMs = 120_000;

interface Service {
  /** Whether this process runs the engine; else another one does. */
  readonly own: boolean;
  accept(port: Port): void;
  stop(): Promise<void>;
}

export async function utilityProcess(startEngine: StartEngine, data: string, parent: ParentPort): Promise<void> {
  const service = (async (): Promise<Service> => {
    try {
      return await ownEngine(startEngine, data, parent);
    } catch (error) {
      if (!(error instanceof ForkyardError && error.code === 'engine_running')) throw error;
      return foreignEngine(data, parent);
    }
  })();
  parent.on('message', ({ data: order, ports }) => {
    const port = ports[0];
    if ('serve' in (order as UtilityOrder) && port !== undefined) {
      void service.then(
        (ready) => ready.accept(port),
        () => port.close(),
      );
    } else if ('stop' in (order as UtilityOrder)) {
      const stop = service.then((ready) => ready.stop());
      void stop.then(
        () => process.exit(0),
        () => process.exit(1),
      );
    }
  });
  await service.then(
    ({ own }) => parent.postMessage({ ready: true, own }),
    (error: unknown) => {
      parent.postMessage({ error: errorBody(error) });
      // Exiting at once could overtake the message.
      setImmediate(() => process.exit(1));
    },
  );
}

async function ownEngine(startEngine: StartEngine, data: string, parent: ParentPort): Promise<Service> {
  const engine = await runEngine({ data, startEngine, appRoot });
  let stoppedByParent = false;
  process.on('unhandledRejection', (reason) => engine.log(`bug: unhandled: ${stackOf(reason)}`));
  process.on('uncaughtException', (error) => {
    engine.log(`bug: uncaught: ${stackOf(error)}`);
    void stopWithin(engine).then(() => process.exit(1));
  });
  void engine.stopped.then(() => {
    if (stoppedByParent) return;
    parent.postMessage({ stopped: true });
    // Exiting at once could overtake the message.
    setImmediate(() => process.exit(0));
  });
  return {
    own: true,
    accept: (port) => engine.accept(messagePortTransport(port)),
    stop() {
      stoppedByParent = true;
      return stopWithin(engine);
    },
  };
}

async function foreignEngine(data: string, parent: ParentPort): Promise<Service> {
  const folder = createDataFolder(data);
  const first = await waitForEngine(folder, foreignStartTimeoutMs);
  if (first === undefined) {
    throw new ForkyardError('engine_unreachable', `Another engine holds ${folder} but does not answer.`, {
      hint: 'Stop it with `forkyard down`, or end its process, and start again.',
      retry: true,
    });
  }
  // Kept open to learn of that engine's end. A clean stop was somebody's wish; after a crash the parent starts this
  // process again, which then takes the folder itself.
  first.resume().on('close', () => {
    void readPointer(folder).then((pointer) => {
      if (pointer === undefined) parent.postMessage({ stopped: true });
      setImmediate(() => process.exit(0));
    });
  });
  return {
    own: false,
    accept(port) {
      const near = messagePortTransport(port);
      void findEngine(folder).then((socket) => {
        if (socket === undefined) near.close();
        else relay(near, streamTransport(socket));
      });
    },
    stop: async () => {
      first.destroy();
    },
  };
}
