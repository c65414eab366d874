import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test as base, type Page } from '@playwright/test';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { launchChromium, viewport } from '../harness/chromium.ts';
import { openElectron, type ElectronShell } from './electron.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const cliPath = join(root, 'dist', 'cli', 'forkyard.js');

/** The app in one of its two shells, on a data folder of its own, with the command line beside it. */
export interface App {
  readonly page: Page;
  readonly data: string;
  /** Runs a command with `--json` and gives what it printed. */
  cli(...args: string[]): Promise<unknown>;
  /** There in Electron's window alone. */
  readonly electron?: ElectronShell;
  /** Starts the engine again after it was killed, where nobody else does: in the browser. The page is the same. */
  revive(): Promise<void>;
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
    const electron = info.project.name === 'electron' ? await openElectron(env) : undefined;
    const shell: Shell = electron ?? (await openBrowser(cli));
    const { page } = shell;
    const revive = async () => {
      if (electron === undefined) await page.goto(((await cli('up', '--detach')) as { url: string }).url);
    };
    try {
      await use({ page, data, cli, revive, ...(electron === undefined ? {} : { electron }) });
    } finally {
      if (info.status !== info.expectedStatus) {
        await shell.page.screenshot({ path: info.outputPath('window.png'), timeout: 5_000 }).catch(() => {});
        await tellLogs(data);
      }
      await shell.close();
      await cli('down');
      await expect.poll(() => serversUnder(folder), 'servers left running').toEqual([]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

/** What servers and engine said last: the folder goes with the test. */
async function tellLogs(data: string): Promise<void> {
  const files = await readdir(data, { recursive: true }).catch(() => []);
  for (const file of files.filter((name) => name.endsWith('.log'))) {
    const lines = (await readFile(join(data, file), 'utf8').catch(() => '')).trimEnd().split('\n');
    console.log(`${file}\n${lines.slice(-25).join('\n')}`);
  }
}

interface Shell {
  readonly page: Page;
  close(): Promise<void>;
}

async function openBrowser(cli: App['cli']): Promise<Shell> {
  const { url } = (await cli('up', '--detach')) as { url: string };
  const browser = await launchChromium();
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  await page.goto(url);
  return { page, close: () => browser.close() };
}
