import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import type { BranchRow, Status } from '../../shared/api.ts';
import { connect } from '../../shared/rpc/connect.ts';
import { findEngine } from '../../electron/local/find.ts';
import { streamTransport } from '../../electron/local/ndjson.ts';
import { isAlive, startTimeOf } from '../../electron/engine/mongod/identity.ts';
import type { ProcessIdentity } from '../../electron/engine/mongod/identity.ts';
import { CommandYard } from '../harness/command.ts';

const yards: CommandYard[] = [];
afterEach(async () => {
  for (const yard of yards.splice(0)) await yard.close();
});

async function open(name?: string, env?: NodeJS.ProcessEnv): Promise<CommandYard> {
  const yard = await CommandYard.open(name, env);
  yards.push(yard);
  return yard;
}

const wait = { timeout: 100_000, interval: 20 };

async function identity(pid: number): Promise<ProcessIdentity> {
  return { pid, startTime: (await startTimeOf(pid)) ?? 'gone' };
}
/** Gone altogether: its servers too. */
async function ended(engine: ProcessIdentity, yard: CommandYard): Promise<void> {
  await vi.waitFor(async () => {
    expect(await isAlive(engine)).toBe(false);
    expect(await serversOn(yard.data)).toEqual([]);
  }, wait);
}
/** The command lines of living servers on a data folder. */
async function serversOn(data: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(`--dbpath\0${data}/`));
}

test('two commands that find no engine start one, and both are answered', async () => {
  const yard = await open();
  const results = await Promise.all([yard.run('branches', '--json'), yard.run('branches', '--json')]);
  expect(results.map(({ code }) => code)).toEqual([0, 0]);
  for (const { out } of results) expect((JSON.parse(out) as BranchRow[]).map(({ name }) => name)).toEqual(['main']);
  expect((await readdir(yard.data)).filter((name) => name.startsWith('engine.claim-'))).toHaveLength(1);
});

test('the engine goes on after the command that started it, and a second one is refused with a sentence', async () => {
  const yard = await open();
  expect((await yard.run('branches')).err).toContain('in the background');
  expect((await yard.run('branches')).err).toBe('');
  const program = fileURLToPath(new URL('../../dist/engine/engine.js', import.meta.url));
  const second = spawn(process.execPath, [program, '--data', yard.data], { env: yard.env, stdio: 'pipe' });
  let said = '';
  second.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(second, 'close')) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(/^An engine \(process \d+\) already works on .*\.\n$/);
});

test('up stays in front until it is interrupted, and leaves nothing running', async () => {
  const yard = await open();
  const up = yard.start('up', '--json');
  await vi.waitFor(() => expect(up.out).toContain('\n'), wait);
  const { url, pid, data } = JSON.parse(up.out) as { url: string; pid: number; data: string };
  expect(data).toBe(yard.data);
  expect((await fetch(url)).status).toBe(200);
  const engine = await identity(pid);
  expect(await yard.json('up')).toEqual({ url, pid, data });
  up.child.kill('SIGINT');
  // A terminal and a parent may both pass it on.
  up.child.kill('SIGINT');
  expect((await up.ended).code).toBe(0);
  await ended(engine, yard);
});

test('when the front dies the engine does not stay behind', async () => {
  const yard = await open();
  const up = yard.start('up', '--json');
  await vi.waitFor(() => expect(up.out).toContain('\n'), wait);
  const engine = await identity((JSON.parse(up.out) as { pid: number }).pid);
  up.child.kill('SIGKILL');
  await ended(engine, yard);
});

test('up --detach returns, and down ends it all', async () => {
  const yard = await open();
  const { pid } = await yard.json<{ pid: number }>('up', '--detach');
  const engine = await identity(pid);
  expect(await yard.json('down')).toEqual({ stopped: true });
  await ended(engine, yard);
  expect(await yard.json('down')).toEqual({ stopped: false });
});

test('PR-02: an engine that was killed is followed by one that finds the data and no leftovers', async () => {
  const yard = await open();
  await yard.json('import', 'sample:three', '--into', 'main');
  const before = await status(yard);
  const engine = await identity(before.pid);
  process.kill(before.pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await isAlive(engine)).toBe(false), wait);
  const rows = await yard.json<BranchRow[]>('branches');
  expect(rows.map(({ name, state }) => [name, state])).toEqual([['main', 'live']]);
  expect((await status(yard)).pid).not.toBe(before.pid);
  // Home and main, each once.
  expect(await serversOn(yard.data)).toHaveLength(2);
});

async function status(yard: CommandYard): Promise<Status> {
  const socket = await findEngine(yard.data);
  if (socket === undefined) throw new Error('no engine');
  const client = connect(streamTransport(socket));
  try {
    return await client.call('engine.status', {});
  } finally {
    client.close();
  }
}

test('PR-12: a long and odd data folder works, its socket elsewhere', async () => {
  const yard = await open(`Jörg & "Co" 测试 ${'x'.repeat(120)}`);
  expect((await yard.run('branches')).code).toBe(0);
});

test('a server that is missing is told in one sentence, on stderr as JSON too', async () => {
  const yard = await open('data', { FORKYARD_MONGOD: '/nowhere/mongod' });
  const { code, out, err } = await yard.run('branches', '--json');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  const last = err.trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({ error: { code: 'mongod_missing', hint: expect.any(String) } });
});

test('a follower ends well when interrupted, and when nobody reads any more', async () => {
  const yard = await open();
  const file = join(yard.data, '..', 'p.json');
  await writeFile(file, '{"_id":1}\n');
  await yard.json('import', file, '--into', 'main', '--db', 'a', '--collection', 'b');
  const follower = yard.start('changes', 'main', '--follow');
  await vi.waitFor(() => expect(follower.out).toContain('"op":"import"'), wait);
  follower.child.kill('SIGINT');
  expect((await follower.ended).code).toBe(0);

  const unread = yard.start('changes', 'main');
  unread.child.stdout?.destroy();
  expect(await unread.ended).toMatchObject({ code: 0, err: '' });
});
