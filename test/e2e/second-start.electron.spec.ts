import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { flags, openElectron, shellProgram, startXvfb, type ElectronShell } from './electron.ts';
import { askEngine, lastOf } from './engine.ts';
import { withItems } from './items.ts';

interface Place {
  /** A data folder that is not there yet. */
  readonly data: string;
  readonly env: Record<string, string>;
  /** Ended when the test is over, however it went. */
  readonly started: (ChildProcess | ElectronShell)[];
}

const test = base.extend<{ place: Place }>({
  // Playwright reads the pattern: it names the fixtures this one is made from, none.
  // eslint-disable-next-line no-empty-pattern
  place: async ({}, use) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'fye-')));
    const data = join(folder, 'acme-shop');
    const display = process.env['DISPLAY'] ? undefined : await startXvfb();
    const env = { ...process.env, ...(display ? { DISPLAY: display.name } : {}), FORKYARD_DATA: data };
    const started: Place['started'] = [];
    try {
      await use({ data, env: env as Record<string, string>, started });
    } finally {
      for (const one of started) await (isShell(one) ? one.close() : ended(one, 'SIGTERM'));
      display?.stop();
      await rm(folder, { recursive: true, force: true });
    }
    expect(await serversUnder(folder), 'servers left running').toEqual([]);
  },
});

function isShell(one: ChildProcess | ElectronShell): one is ElectronShell {
  return 'page' in one;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

const branchesOf = (data: string): Promise<string[]> =>
  askEngine(data, async (client) => (await client.call('branches.list', {})).map(({ name }) => name));

/** How many apps have said that they work on the folder. */
async function appsOn(data: string): Promise<number> {
  return (await readFile(join(data, 'app.log'), 'utf8')).split(' works on ').length - 1;
}

test('EL-02: two starts in one moment, on a folder that does not exist, are one app with one engine', async ({
  place,
}) => {
  const { data, env, started } = place;
  const program = await shellProgram();
  const starts = [1, 2].map(() => {
    const child = spawn(program, flags, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    started.push(child);
    const start = { child, said: '', code: undefined as number | null | undefined };
    child.stderr.on('data', (chunk: Buffer) => (start.said += chunk.toString()));
    child.once('close', (code) => (start.code = code));
    return start;
  });
  await expect.poll(() => starts.filter(({ code }) => code !== undefined).length).toBe(1);
  const second = starts.find(({ code }) => code !== undefined);
  expect(second?.code).toBe(0);
  expect(second?.said).toContain(`Forkyard is open on ${data} already`);
  await expect.poll(() => branchesOf(data)).toEqual(['main']);
  expect(await appsOn(data)).toBe(1);
  // One server for the home, one for main.
  expect(await serversUnder(data)).toHaveLength(2);
});

test('EL-02: an app that was killed starts again with everything that was there', async ({ place }) => {
  const { data, env, started } = place;
  const first = await openElectron(env);
  const killed = first.app.process();
  started.push(killed);
  const uri = await askEngine(data, async (client) => {
    await client.call('transfer.import', { source: 'sample:three', into: 'main' });
    return (await client.call('branches.fork', { name: 'price-update' })).uri;
  });
  await ended(killed, 'SIGKILL');
  // Its servers go on, as does what writes to them.
  await withItems(uri, async (items) => void (await items.insertOne({ _id: 1, n: 0 })));
  const again = await openElectron(env);
  started.push(again);
  await again.page.getByRole('treeitem', { name: /^price-update/ }).click();
  const rows = again.page.getByRole('treegrid', { name: /Writes/ }).getByRole('row', { name: /items 1/ });
  await expect(rows.first()).toBeVisible();
  expect(await lastOf(data, 'price-update')).toBe(2);
  expect(await serversUnder(data)).toHaveLength(3);
});
