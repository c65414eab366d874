import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPointer } from '../local/data.ts';
import { lockDataFolder } from './lock.ts';

let data: string;
let socket: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'forkyard-lock-'));
  socket = join(data, 'engine.sock');
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const claim = (number: number, content: object): void =>
  writeFileSync(join(data, `engine.claim-${number}`), JSON.stringify(content));

test('a second engine on the folder is refused with a sentence that names the first', async () => {
  const lock = await lockDataFolder(data, socket);
  await expect(lockDataFolder(data, socket)).rejects.toMatchObject({
    code: 'engine_running',
    message: expect.stringMatching(new RegExp(`process ${process.pid}.*${data}`)),
  });
  await lock.release();
});

test('the folder is announced once and free again after a clean stop', async () => {
  const first = await lockDataFolder(data, socket);
  expect(await readPointer(data)).toBeUndefined();
  await first.announce();
  expect(await readPointer(data)).toMatchObject({ pid: process.pid, socket });
  await first.retire();
  expect(await readPointer(data)).toBeUndefined();
  await first.release();
  await (await lockDataFolder(data, socket)).release();
  expect(readdirSync(data)).toEqual(['engine.claim-2']);
});

test('who comes while the owner stops waits for its release', async () => {
  const first = await lockDataFolder(data, socket);
  await first.retire();
  let released = false;
  const second = lockDataFolder(data, socket).then((lock) => {
    expect(released).toBe(true);
    return lock;
  });
  released = true;
  await first.release();
  await (await second).release();
});

test('a dead owner is followed, also where its pid is another process by now', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  claim(1, { pid: child.pid, startTime: '1', socket });
  await (await lockDataFolder(data, socket)).release();
  claim(7, { pid: process.pid, startTime: 'another start', socket });
  await (await lockDataFolder(data, socket)).release();
  expect(readdirSync(data)).toEqual(['engine.claim-8']);
});

test('a zombie owner counts as dead', async () => {
  // `exec sleep` never waits for the child it inherits, so that child stays a zombie.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    claim(1, { pid: Number(line.toString()), startTime: '1', socket });
    await (await lockDataFolder(data, socket)).release();
  } finally {
    parent.kill();
  }
});

test('an owner that cannot be seen but answers on its socket still holds the folder', async () => {
  const server = createServer((connection) => connection.destroy()).listen(socket);
  await once(server, 'listening');
  try {
    claim(1, { pid: 2 ** 22 - 1, startTime: '1', socket });
    await expect(lockDataFolder(data, socket)).rejects.toMatchObject({ code: 'engine_running' });
  } finally {
    server.close();
  }
});

test('a claim cut short by a crash of the machine is followed', async () => {
  writeFileSync(join(data, 'engine.claim-3'), '{"pid":');
  await (await lockDataFolder(data, socket)).release();
});

test('of many that find the same dead owner exactly one gets the folder', async () => {
  claim(4, { pid: 2 ** 22 - 1, startTime: '1', socket });
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataFolder(data, socket)));
  const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(won).toHaveLength(1);
  await won[0]?.release();
});

test('what a process left that died while claiming is tidied away', async () => {
  writeFileSync(join(data, `engine.private-${2 ** 22 - 1}-aa`), '{}');
  writeFileSync(join(data, `engine.private-${process.pid}-bb`), '{}');
  await (await lockDataFolder(data, socket)).release();
  expect(readdirSync(data)).toEqual(['engine.claim-1', `engine.private-${process.pid}-bb`]);
});
