import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ForkyardError } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { connect } from '../../shared/rpc/connect.ts';
import type { Client } from '../../shared/rpc/connect.ts';
import { createDataFolder } from '../local/data.ts';
import { engineFlags } from '../local/engine-flags.ts';
import { findEngine, waitForEngine } from '../local/find.ts';
import { streamTransport } from '../local/ndjson.ts';
import type { Printer } from './print.ts';

/** The engine's program beside this one. */
const program = fileURLToPath(new URL('../engine/engine.js', import.meta.url));

/** How long an engine that somebody else is starting may take: a first start may fetch a server. */
const foreignStartTimeoutMs = 300_000;

interface StartOptions {
  readonly print: Printer;
  readonly env: NodeJS.ProcessEnv;
  /** Gives up waiting; an engine on its way goes on starting. */
  readonly signal: AbortSignal;
  /** Stop the engine when this process ends, however it ends. */
  readonly withParent?: boolean;
}

/** The engine of a data folder, or undefined where none runs. */
export async function runningEngine(data: string): Promise<Client | undefined> {
  const socket = await findEngine(data);
  return socket === undefined ? undefined : clientOf(socket);
}

/** The engine of a data folder, started in the background where none runs, which is said. */
export async function engineOf(asked: string, options: StartOptions): Promise<Client> {
  const data = createDataFolder(asked);
  const running = await runningEngine(data);
  if (running !== undefined) return running;
  options.print.notice(`Starting the engine of ${data} in the background; \`forkyard down\` stops it.`);
  return startEngine(data, options);
}

/**
 * Starts an engine as a process of its own and waits until it is ready. Where another one is just starting on the same
 * folder, waits for that. Throws what kept it from starting.
 */
export async function startEngine(data: string, options: StartOptions): Promise<Client> {
  const own = options.withParent === true ? ['--with-parent'] : [];
  const args = [...engineFlags, program, '--data', data, '--report', ...own];
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: [options.withParent === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
    env: options.env,
  });
  const failed = await startReport(child, options);
  if (failed !== undefined && failed.code !== 'engine_running') throw ForkyardError.from(failed);
  const socket = await waitForEngine(data, foreignStartTimeoutMs);
  if (socket !== undefined) return clientOf(socket);
  throw new ForkyardError('engine_unreachable', `The engine of ${data} does not answer.`, {
    hint: 'Stop it with `forkyard down`, or end its process, and try again.',
    retry: true,
  });
}

function clientOf(socket: Socket): Client {
  return connect(streamTransport(socket));
}

/** Undefined once the engine is ready, else what kept it. Lets go of the child either way. */
async function startReport(child: ChildProcess, { print, signal }: StartOptions): Promise<ErrorBody | undefined> {
  const [out, err] = [child.stdout as Readable, child.stderr as Readable];
  let tail = '';
  err.on('data', (chunk: Buffer) => (tail = `${tail}${chunk.toString()}`.slice(-2000)));
  const exited = new Promise<void>((resolve) => child.on('error', () => resolve()).on('close', () => resolve()));
  const giveUp = (): unknown => out.destroy(new Error('interrupted'));
  signal.addEventListener('abort', giveUp);
  try {
    for await (const line of createInterface({ input: out })) {
      const report = JSON.parse(line) as { log?: string; ready?: true; error?: ErrorBody };
      if (report.log !== undefined) print.progress(report.log);
      if (report.ready === true) return undefined;
      if (report.error !== undefined) return report.error;
    }
    await exited;
    return {
      code: 'internal',
      message: 'The engine ended while it was starting.',
      hint: tail.trim().split('\n').at(-1) || 'Its log, engine.log in the data folder, has more.',
      retry: false,
    };
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new ForkyardError('aborted', 'Interrupted while the engine was starting.', { cause });
  } finally {
    signal.removeEventListener('abort', giveUp);
    out.destroy();
    err.destroy();
    child.unref();
    (child.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null)?.unref?.();
  }
}
