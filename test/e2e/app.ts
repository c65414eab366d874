import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  _electron,
  chromium,
  expect,
  test as base,
  type Browser,
  type ElectronApplication,
  type Page,
} from '@playwright/test';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const cliPath = join(root, 'dist', 'cli', 'forkyard.js');

/** The app in one of its two shells, on a data folder of its own, with the command line beside it. */
export interface App {
  readonly page: Page;
  readonly data: string;
  /** Runs a command with `--json` and gives what it printed. */
  cli(...args: string[]): Promise<unknown>;
}

/** `app` is open when a test begins; when it ends, every process and file of it is gone. */
export const test = base.extend<{ app: App }>({
  // Playwright reads the pattern: it names the fixtures this one is made from, none.
  // eslint-disable-next-line no-empty-pattern
  app: async ({}, use, info) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'fye-')));
    // The window shows its name.
    const data = join(folder, 'acme-shop');
    const env = { ...process.env, FORKYARD_DATA: data } as Record<string, string>;
    const cli = async (...args: string[]) => {
      const { stdout } = await run(process.execPath, [cliPath, ...args, '--json'], { env, maxBuffer: 1 << 26 });
      return JSON.parse(stdout) as unknown;
    };
    const shell = info.project.name === 'electron' ? await openElectron(env) : await openBrowser(cli);
    try {
      await use({ page: shell.page, data, cli });
    } finally {
      if (info.status !== info.expectedStatus)
        await info.attach('window', { body: await shell.page.screenshot(), contentType: 'image/png' });
      await shell.close();
      await cli('down');
      await rm(folder, { recursive: true, force: true });
    }
    expect(await serversUnder(folder), 'servers left running').toEqual([]);
  },
});

interface Shell {
  readonly page: Page;
  close(): Promise<void>;
}

async function openBrowser(cli: App['cli']): Promise<Shell> {
  const { url } = (await cli('up', '--detach')) as { url: string };
  const browser: Browser = await chromium.launch({
    executablePath: process.env['FORKYARD_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  return { page, close: () => browser.close() };
}

async function openElectron(env: Record<string, string>): Promise<Shell> {
  const display = env['DISPLAY'] ? undefined : await startXvfb();
  const { stdout } = await run(process.execPath, [join(root, 'scripts', 'electron-shell.mjs')], { cwd: root });
  const app: ElectronApplication = await _electron.launch({
    executablePath: stdout.trim(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...env, ...(display ? { DISPLAY: display.name } : {}) },
    timeout: 60_000,
  });
  const page = await app.firstWindow();
  return {
    page,
    async close() {
      await app.close();
      display?.stop();
    },
  };
}

async function startXvfb(): Promise<{ name: string; stop: () => void }> {
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
