import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import type { Engine, EngineOptions } from '../engine/service/contract.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { dataFolder } from '../local/data.ts';
import { stackOf } from '../local/log.ts';
import { runEngine } from './run.ts';
import type { RunningEngine } from './run.ts';

export type StartEngine = (options: EngineOptions) => Promise<Engine>;

/** What an engine process tells on stdout under `--report`, one JSON a line; `ready` and `error` are the last. */
export type Report =
  | { readonly log: string }
  | { readonly ready: true; readonly pid: number; readonly data: string; readonly url?: string }
  | { readonly error: ErrorBody };

/** The built app beside the built engine. */
export const appRoot = fileURLToPath(new URL('../renderer', import.meta.url));

/** Servers get this long to stop; what is left then is reaped by the next engine. */
const stopTimeoutMs = 20_000;

/**
 * The engine as a process of its own: `--data DIR`, `--web [--port N]` turns the loopback web on, `--report` tells the
 * parent how the start went, `--with-parent` stops when stdin ends. Exits 0 after a clean stop, else 1.
 */
export async function engineProcess(startEngine: StartEngine, argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      data: { type: 'string' },
      web: { type: 'boolean' },
      port: { type: 'string' },
      report: { type: 'boolean' },
      'with-parent': { type: 'boolean' },
    },
  });
  // The parent may go before we do.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  let waited = values.report === true;
  const report = (line: Report): void => {
    if (waited) process.stdout.write(`${JSON.stringify(line)}\n`);
  };

  let engine: RunningEngine | undefined;
  try {
    const data = dataFolder(values.data);
    engine = await runEngine({ data, startEngine, appRoot, onLog: (log) => report({ log }) });
    stopOnSignals(engine);
    const port = values.port === undefined ? undefined : Number(values.port);
    const url = values.web === true ? (await engine.web(port)).url : undefined;
    report({ ready: true, pid: process.pid, data: engine.data, ...(url === undefined ? {} : { url }) });
  } catch (error) {
    report({ error: errorBody(error) });
    if (values.report !== true) process.stderr.write(`${errorBody(error).message}\n`);
    await engine?.stop();
    process.exitCode = 1;
    return;
  }
  waited = false;
  const running = engine;
  if (values['with-parent'] === true) process.stdin.resume().on('end', () => void stopWithin(running));
  await running.stopped;
  // Whatever is still open, a stuck socket or a timer, is of no use any more.
  process.exit();
}

/** A clean stop on the signals that end a process, and on a bug that nothing caught. */
function stopOnSignals(engine: RunningEngine): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stopWithin(engine));
  process.on('unhandledRejection', (reason) => engine.log(`bug: unhandled: ${stackOf(reason)}`));
  process.on('uncaughtException', (error) => {
    engine.log(`bug: uncaught: ${stackOf(error)}`);
    process.exitCode = 1;
    void stopWithin(engine);
  });
}

/** Stops the engine and ends the process where that takes too long or fails. */
export async function stopWithin(engine: RunningEngine, timeoutMs = stopTimeoutMs): Promise<void> {
  const timer = setTimeout(() => {
    engine.log(`the engine did not stop within ${timeoutMs} ms`);
    process.exit(1);
  }, timeoutMs);
  try {
    await engine.stop();
  } catch (error) {
    engine.log(`bug: the stop failed: ${stackOf(error)}`);
    process.exitCode = 1;
  }
  clearTimeout(timer);
}
