import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EngineCredentials } from './replica.ts';
import type { LockGuard } from './writer-lock.ts';

/** What the guard's process is told, one JSON a line on its standard input: never in its arguments. */
export type GuardMessage =
  { readonly credentials: EngineCredentials } | { readonly arm: number } | { readonly disarm: number };

/**
 * A small process of its own that unlocks a server when the engine dies between lock and unlock: its standard input
 * then closes. The lock is not tied to a connection, so without it the user's writers would wait for the next start.
 * Where no such process can be had (inside a packaged Electron) the next start unlocks, at once.
 */
export class GuardProcess implements LockGuard {
  private readonly credentials: EngineCredentials;
  private child: ChildProcess | undefined;
  private ready: Promise<void> = Promise.resolve();
  private waiting = new Map<number, () => void>();

  constructor(credentials: EngineCredentials) {
    this.credentials = credentials;
    this.start();
  }

  async arm(port: number): Promise<void> {
    await this.ready;
    if (!this.child) return;
    const armed = new Promise<void>((resolve) => this.waiting.set(port, resolve));
    this.send({ arm: port });
    await armed;
  }

  disarm(port: number): void {
    this.send({ disarm: port });
  }

  /** Ends the guard; nothing may be armed any more. */
  stop(): void {
    const { child } = this;
    this.child = undefined;
    child?.stdin?.end();
  }

  private send(message: GuardMessage): void {
    this.child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  private start(): void {
    const script = guardScript();
    if (process.versions['electron'] !== undefined || script === undefined) return;
    const child = spawn(process.execPath, ['--max-old-space-size=32', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.child = child;
    child.stdin.on('error', () => undefined);
    let isReady!: () => void;
    this.ready = new Promise((resolve) => (isReady = resolve));
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line === 'ready') isReady();
        else this.waiting.get(Number(line))?.();
      }
    });
    child.once('exit', () => {
      // A guard that was killed must not stop forks: they go on without, as on a platform that has none.
      if (this.child === child) this.child = undefined;
      isReady();
      for (const armed of this.waiting.values()) armed();
      this.waiting = new Map();
    });
    child.once('error', () => child.emit('exit'));
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.();
    (child.stdout as unknown as { unref?: () => void }).unref?.();
    this.send({ credentials: this.credentials });
  }
}

/** Built beside the engine. */
function guardScript(): string | undefined {
  const path = fileURLToPath(new URL('./lock-guard.js', import.meta.url));
  return existsSync(path) ? path : undefined;
}
