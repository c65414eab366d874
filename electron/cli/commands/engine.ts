import { ForkyardError } from '../../../shared/errors.ts';
import type { Client } from '../../../shared/rpc/connect.ts';
import { createDataFolder } from '../../local/data.ts';
import type { Call, Command } from '../command.ts';
import { runningEngine, startEngine } from '../engine.ts';

export const up: Command = {
  name: 'up',
  operands: [],
  flags: {
    port: { value: 'N', text: 'port of the page, on 127.0.0.1 (any free one)' },
    detach: { text: 'return once it is up; `forkyard down` stops it' },
  },
  summary: 'Start the engine and serve the app to a browser on this machine',
  async run(call) {
    const port = call.count('port', 0, 65_535);
    const data = createDataFolder(call.data);
    const running = await runningEngine(data);
    const inFront = running === undefined && !call.on('detach');
    const engine = running ?? (await startEngine(data, { ...call, withParent: inFront }));
    try {
      const web = await engine.call('engine.web', port === undefined ? {} : { port });
      call.print.result(
        () => ({ url: web.url, pid: web.pid, data: web.data }),
        () => `Forkyard is at ${web.url}\n(engine ${web.pid} on ${web.data})`,
      );
      if (inFront) await stayInFront(call, engine);
      else if (running !== undefined) call.print.notice('The engine was running already; `forkyard down` stops it.');
      return 0;
    } catch (error) {
      // An engine started for this page alone is of no use without it.
      if (running === undefined) await stopEngine(engine);
      throw error;
    } finally {
      engine.close();
    }
  },
};

async function stayInFront({ print, signal }: Call, engine: Client): Promise<void> {
  if (!print.json) print.notice('Ctrl-C stops it.');
  const interrupted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([interrupted, engine.closed]);
  if (signal.aborted) await stopEngine(engine);
}

/** Asks for the end and waits for it: the connection ends once the data folder is free. */
async function stopEngine(engine: Client): Promise<void> {
  await engine.call('engine.stop', {}).catch((error: unknown) => {
    // It went before it could answer.
    if (!(error instanceof ForkyardError && error.code === 'engine_unreachable')) throw error;
  });
  await engine.closed;
}

export const down: Command = {
  name: 'down',
  operands: [],
  flags: {},
  summary: 'Stop the engine and all its servers',
  async run({ data, print }) {
    const engine = await runningEngine(data);
    if (engine !== undefined) await stopEngine(engine);
    print.result(
      () => ({ stopped: engine !== undefined }),
      () => (engine === undefined ? `No engine runs on ${data}.` : `The engine of ${data} has stopped.`),
    );
    return 0;
  },
};
