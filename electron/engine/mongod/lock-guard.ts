import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EngineCredentials } from './replica.ts';
import type { LockGuard } from './writer-lock.ts';

/** What the guard's process is told, one JSON a line on its standard input: never in its arguments. */
export type GuardMessage =
  { readonly credentials: EngineCredentials } | { readonly arm: number } | { readonly disarm: number };

/** A guard that does not answer by then is gone on without. */
const armDeadlineMs = 1_000;

/**
 * A small process of its own that lets go of a server when the engine dies while it holds the writer lock or has a
 * transaction open: its standard input then closes. Neither is tied to a connection, so without it the user's writers
 * would wait for the next start of the engine, or a minute.
 * Where no such process can be had (inside a packaged Electron) the next start does the same, at once.
 */
export class GuardProcess implements LockGuard {
  private readonly credentials: EngineCredentials;
  private child: ChildProcess | undefined;
  private readonly armed = new Map<number, () => void>();
  private isReady: () => void = () => undefined;
  private ready: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(credentials: EngineCredentials) {
    this.credentials = credentials;
    this.start();
  }

  async arm(port: number): Promise<void> {
    // One that was killed is followed by another.
    if (!this.child) this.start();
    const answered = this.ready.then(() => this.ask(port));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, armDeadlineMs)));
    await Promise.race([answered, patience]);
    clearTimeout(timer);
  }

  disarm(port: number): void {
    this.armed.get(port)?.();
    this.send({ disarm: port });
  }

  /** Ends the guard; nothing may be armed any more. */
  stop(): void {
    this.stopped = true;
    const { child } = this;
    this.child = undefined;
    child?.stdin?.end();
  }

  private async ask(port: number): Promise<void> {
    if (!this.child) return;
    const answer = new Promise<void>((resolve) => this.armed.set(port, resolve));
    this.send({ arm: port });
    await answer;
    this.armed.delete(port);
  }

  private send(message: GuardMessage): void {
    this.child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  private start(): void {
    const script = guardScript();
    if (this.stopped || process.versions['electron'] !== undefined || script === undefined) return;
    const child = spawn(process.execPath, ['--max-old-space-size=32', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.child = child;
    this.ready = new Promise((resolve) => (this.isReady = resolve));
    child.stdin.on('error', () => undefined);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line === 'ready') this.isReady();
        else this.armed.get(Number(line))?.();
      }
    });
    child.once('exit', () => this.gone(child));
    child.once('error', () => this.gone(child));
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.();
    (child.stdout as unknown as { unref?: () => void }).unref?.();
    this.send({ credentials: this.credentials });
  }

  /** A guard that was killed must not stop forks: they go on without, as on a platform that has none. */
  private gone(child: ChildProcess): void {
    if (this.child !== child) return;
    this.child = undefined;
    this.isReady();
    for (const answered of this.armed.values()) answered();
  }
}

/** Built beside the engine. */
function guardScript(): string | undefined {
  const path = fileURLToPath(new URL('./lock-guard.js', import.meta.url));
  return existsSync(path) ? path : undefined;
}
