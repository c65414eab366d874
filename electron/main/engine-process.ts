import { MessageChannelMain, utilityProcess } from 'electron';
import type { MessagePortMain, UtilityProcess } from 'electron';
import { ForkyardError } from '../../shared/errors.ts';
import type { UtilityOrder, UtilityReport } from '../../shared/utility-process.ts';
import { backoff } from './restart.ts';

interface Options {
  /** The built program of the utility process. */
  readonly program: string;
  readonly data: string;
  readonly log: (line: string) => void;
  /** Told when the process has ended: every port handed out before is dead. */
  readonly onEnd: () => void;
}

/** The utility process lets its servers stop for 20 seconds; after this it is ended. */
const stopTimeoutMs = 25_000;

/**
 * Keeps the engine's utility process: starts it, starts it again with growing pauses when it ends by itself, and hands
 * out ports to it. After somebody stopped it on purpose it stays stopped until the window asks a second time.
 */
export class EngineProcess {
  readonly #options: Options;
  readonly #backoff = backoff();
  #child: UtilityProcess | undefined;
  #ready: Promise<UtilityProcess> | undefined;
  #stopped = false;
  #quitting = false;
  #own = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether an engine runs that ends with this app; one that somebody else started does not. */
  get own(): boolean {
    return this.#own && this.#child !== undefined;
  }

  /** A port on which the engine serves. Throws what keeps the engine from starting, `engine_stopped` once after a stop. */
  async connect(): Promise<MessagePortMain> {
    if (this.#stopped) {
      this.#stopped = false;
      throw new ForkyardError('engine_stopped', 'The engine was stopped.', {
        hint: 'Start it again to go on where you were.',
        retry: true,
      });
    }
    const child = await this.#started();
    const { port1, port2 } = new MessageChannelMain();
    child.postMessage({ serve: true } satisfies UtilityOrder, [port1]);
    return port2;
  }

  /** Stops the engine for good, in good order where that is possible in time. */
  async stop(): Promise<void> {
    this.#quitting = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.postMessage({ stop: true } satisfies UtilityOrder);
    const timer = setTimeout(() => child.kill(), stopTimeoutMs);
    await ended;
    clearTimeout(timer);
  }

  #started(): Promise<UtilityProcess> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  #start(): Promise<UtilityProcess> {
    const { log } = this.#options;
    const child = utilityProcess.fork(this.#options.program, ['--data', this.#options.data], {
      serviceName: 'Forkyard engine',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    // What it says in the moment of a crash, its own log cannot have.
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => log(`engine: ${chunk.toString().trimEnd()}`));
    }
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      let failed = false;
      child.on('message', (report: UtilityReport) => {
        if ('ready' in report) {
          this.#own = report.own;
          resolve(child);
        } else if ('stopped' in report) this.#stopped = true;
        else {
          failed = true;
          reject(ForkyardError.from(report.error));
        }
      });
      child.on('exit', (code) => {
        reject(new ForkyardError('engine_unreachable', `The engine ended (code ${code}).`, { retry: true }));
        if (!this.#quitting) log(`the engine's process ended with code ${code}`);
        this.#child = undefined;
        this.#ready = undefined;
        this.#options.onEnd();
        // One that said why it cannot start would say so again: the window asks when something has changed.
        if (!failed && !this.#stopped && !this.#quitting) this.#restartLater(performance.now() - startedAt);
      });
    });
  }

  #restartLater(livedMs: number): void {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, this.#backoff.next(livedMs)));
    this.#ready = pause.then(() => this.#start());
    this.#ready.catch(() => {});
  }
}
