import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { chromium, expect, test, type Page } from '@playwright/test';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { startXvfb } from './electron.ts';
import { askEngine } from './engine.ts';
import { cutPrices, prices } from './script.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** What the packed app starts with: no server but the bundled one, and nothing of this machine's. */
function ownEnvironment(folder: string): Record<string, string> {
  const env = { ...process.env, FORKYARD_DATA: join(folder, 'data'), FORKYARD_CACHE: join(folder, 'cache') };
  // With these an Electron without its fuses would be a Node that loads what it is told to.
  const hostile = { ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '--require /nonexistent.js' };
  return { ...env, FORKYARD_OFFLINE: '1', FORKYARD_MONGOD: '', ...hostile } as Record<string, string>;
}

test('the packed app has its fuses, takes the server inside it, and forks, reviews and adopts', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'fyp-')));
  const program = join(folder, 'app', 'linux-unpacked', 'forkyard');
  const display = process.env['DISPLAY'] ? undefined : await startXvfb();
  let child: ChildProcess | undefined;
  try {
    const pack = ['scripts/package.mjs', '--no-build', '--with-mongod', '--out', join(folder, 'app')];
    await run(process.execPath, pack, { cwd: root, maxBuffer: 1 << 26 });
    expect(await getCurrentFuseWire(program)).toMatchObject(fuses);

    const env = { ...ownEnvironment(folder), ...(display ? { DISPLAY: display.name } : {}) };
    child = spawn(program, ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const browser = await chromium.connectOverCDP(await debuggerOf(child), {
      // What a browser has and an app has not: downloads of its own.
      noDefaults: true,
    });
    const [context] = browser.contexts();
    if (context === undefined) throw new Error('the packed app has no window');
    // The debugger listens before there is a window.
    const page = context.pages()[0] ?? (await context.waitForEvent('page'));
    await adoptOne(page, env);
    await browser.close();
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    display?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  expect(await serversUnder(folder), 'servers left running').toEqual([]);
});

/** As the wire has them in the binary: the characters 0 and 1. */
const [off, on] = [48, 49];
/** An Electron of today has one more, which `flipFuses` would not know how to set in the tests' old one. */
const fuses = {
  [FuseV1Options.RunAsNode]: off,
  [FuseV1Options.EnableCookieEncryption]: on,
  [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: off,
  [FuseV1Options.EnableNodeCliInspectArguments]: off,
  [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: on,
  [FuseV1Options.OnlyLoadAppFromAsar]: on,
  [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: off,
};

/** Where Chromium's own debugger listens, which it says on stderr. */
function debuggerOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(`the packed app ended: ${said.slice(-2_000)}`)));
  });
}

async function adoptOne(page: Page, env: Record<string, string>): Promise<void> {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  const cli = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [join(root, 'dist', 'cli', 'forkyard.js'), ...args, '--json'], {
      env: { ...env, NODE_OPTIONS: '' },
    });
    return JSON.parse(stdout) as { uri: string };
  };
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = await cli('fork', 'price-update');
  await cutPrices(uri);
  await page.getByRole('treeitem', { name: /^price-update/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: '3 documents in 1 collection' })).toBeVisible();
  await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 3 changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Adopt 3 changes' }).click();
  await expect(page.getByText('Adopted 3 changes into main')).toBeVisible();
  expect(await prices((await cli('uri', 'main')).uri)).toEqual({ p1: 44, p2: 80 });
  const status = await askEngine(env['FORKYARD_DATA'] ?? '', (client) => client.call('engine.status', {}));
  expect(status.mongod.source).toBe('bundled');
}
