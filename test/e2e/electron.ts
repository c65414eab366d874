import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { _electron, type ElectronApplication, type Page } from '@playwright/test';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
export const flags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

const patienceMs = 120_000;

/** A real Electron window on a data folder. */
export interface ElectronShell {
  readonly page: Page;
  readonly app: ElectronApplication;
  /** What starts the app again: the program, its first arguments, and its environment. */
  readonly start: { readonly program: string; readonly args: readonly string[]; readonly env: Record<string, string> };
  close(): Promise<void>;
}

export async function openElectron(env: Record<string, string>): Promise<ElectronShell> {
  const display = env['DISPLAY'] ? undefined : await startXvfb();
  const program = await shellProgram();
  const all = { ...env, ...(display ? { DISPLAY: display.name } : {}) };
  const app = await _electron.launch({ executablePath: program, args: flags, env: all, timeout: patienceMs });
  const page = await app.firstWindow({ timeout: patienceMs });
  return {
    page,
    app,
    start: { program, args: flags, env: all },
    async close() {
      await app.close();
      display?.stop();
    },
  };
}

/** The executable whose app is this checkout's. */
export async function shellProgram(): Promise<string> {
  const { stdout } = await run(process.execPath, [join(root, 'scripts', 'electron-shell.mjs')], { cwd: root });
  return stdout.trim();
}

/** Starts the app once more beside the one that runs, and waits for its end: its exit code and what it said. */
export async function startAgain({ start }: ElectronShell, ...args: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(start.program, [...start.args, ...args], { env: start.env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? -1)));
  return { code, said };
}

/** A display for windows on a machine that has none. */
export async function startXvfb(): Promise<{ name: string; stop: () => void }> {
  // The server chooses a free display and writes its number to the descriptor.
  const server: ChildProcess = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1920x1200x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
  });
  return { name: `:${number}`, stop: () => server.kill() };
}
