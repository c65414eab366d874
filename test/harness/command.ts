import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/cli/forkyard.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The built command on a data folder of its own. */
export class CommandYard {
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;

  private constructor(data: string, env: NodeJS.ProcessEnv) {
    this.data = data;
    this.env = { ...process.env, ...env, FORKYARD_DATA: data };
  }

  /** `name` is the folder's, under a temporary one. */
  static async open(name = 'data', env: NodeJS.ProcessEnv = {}): Promise<CommandYard> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'fy-')));
    return new CommandYard(join(folder, name), env);
  }

  /** The command on a folder that is somebody else's to close. */
  static on(data: string): CommandYard {
    return new CommandYard(data, {});
  }

  /** Starts a command and leaves it running. */
  start(...args: string[]): RunningCommand {
    return new RunningCommand(spawn(process.execPath, [program, ...args], { env: this.env, stdio: 'pipe' }));
  }

  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ended> {
    return this.start(...args).ended;
  }

  /** Runs a command with `--json` that must succeed; gives its value. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, out, err } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`forkyard ${args.join(' ')} exited ${code}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Stops the engine and removes the folder. */
  async close(): Promise<void> {
    await this.run('down');
    await rm(join(this.data, '..'), { recursive: true, force: true });
  }
}

export class RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out = '';
  err = '';

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdin?.end();
    child.stdout?.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    this.ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out: this.out, err: this.err }));
  }
}
