import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { createDataFolder, dataFolder, socketPath } from './data.ts';
import { streamTransport } from './ndjson.ts';

const patience = { timeout: 30_000 };

test('the folder asked for wins over the environment, and that over the user’s own', () => {
  expect(dataFolder('x', { FORKYARD_DATA: '/y' })).toBe(join(process.cwd(), 'x'));
  expect(dataFolder(undefined, { FORKYARD_DATA: '/y' })).toBe('/y');
  expect(dataFolder(undefined, { FORKYARD_DATA: '' })).toMatch(/forkyard$/i);
  expect(() => dataFolder('', { FORKYARD_DATA: '/y' })).toThrow(expect.objectContaining({ code: 'usage' }));
});

test.runIf(process.platform === 'linux')('the user’s own folder follows XDG, absolute values only', () => {
  expect(dataFolder(undefined, { XDG_DATA_HOME: '/xdg' })).toBe('/xdg/forkyard');
  expect(dataFolder(undefined, { XDG_DATA_HOME: 'xdg' })).toMatch(/\.local\/share\/forkyard$/);
});

test('a data folder is made for its owner alone and named by its real path', () => {
  const root = mkdtempSync(join(tmpdir(), 'forkyard-data-'));
  try {
    const made = createDataFolder(join(root, 'Jörg & "Co" 测试'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
    symlinkSync(made, join(root, 'link'));
    expect(createDataFolder(join(root, 'link'))).toBe(made);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test.runIf(process.platform === 'linux').each(['/proc/nope/x', '/etc/passwd', '/etc/passwd/x', '/dev/null/x'])(
  '%s cannot be a data folder, and that is said at once',
  (path) => {
    expect(() => createDataFolder(path)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(path) }),
    );
  },
);

test('missing parents of a data folder are made too', () => {
  const root = mkdtempSync(join(tmpdir(), 'forkyard-data-'));
  try {
    expect(createDataFolder(join(root, 'a', 'b', 'c'))).toBe(join(realpathSync(root), 'a', 'b', 'c'));
  } finally {
    rmSync(root, { recursive: true });
  }
});

test.skipIf(process.platform === 'win32')('a socket path never passes what the system can bind', () => {
  expect(socketPath('/data')).toBe('/data/engine.sock');
  const long = `/${'ü'.repeat(60)}`;
  const path = socketPath(long);
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
  expect(path).toBe(socketPath(long));
  expect(path).not.toBe(socketPath(`${long}x`));
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Both ends of a real connection. */
async function wire(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  const [near] = (await once(server, 'connection')) as [Socket];
  far.on('error', () => {});
  ends.push(
    () => far.destroy(),
    () => near.destroy(),
    () => server.close(),
  );
  return [near, far];
}

test('frames survive any cut of the bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
        { minLength: 1 },
      ),
      fc.integer({ min: 1, max: 7 }),
      async (frames, size) => {
        const stream = new PassThrough();
        const got: string[] = [];
        streamTransport(stream).onMessage((text) => got.push(text));
        const bytes = Buffer.from(frames.map((frame) => `${frame}\n`).join(''));
        for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
        await vi.waitFor(() => expect(got).toEqual(frames), { ...patience, interval: 1 });
        stream.destroy();
      },
    ),
    { numRuns: 50 },
  );
});

test('a frame that is too long ends the connection without being kept', async () => {
  const [near, far] = await wire();
  const transport = streamTransport(near, 10);
  const got = vi.fn();
  const closed = vi.fn();
  transport.onMessage(got);
  transport.onClose(closed);
  far.write('12345\n');
  await vi.waitFor(() => expect(got).toHaveBeenCalledWith('12345'), patience);
  far.write('x'.repeat(11));
  await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce(), patience);
  expect(got).toHaveBeenCalledOnce();
});

test('what was sent before the close still arrives', async () => {
  const [near, far] = await wire();
  const got: string[] = [];
  streamTransport(far).onMessage((text) => got.push(text));
  const transport = streamTransport(near);
  transport.send('a');
  transport.close();
  transport.send('b');
  await vi.waitFor(() => expect(got).toEqual(['a']), patience);
});
