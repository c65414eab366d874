import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Engine, EngineOptions } from '../engine/service/contract.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { connect } from '../../shared/rpc/connect.ts';
import { socketPath } from '../local/data.ts';
import { findEngine, waitForEngine } from '../local/find.ts';
import { streamTransport } from '../local/ndjson.ts';
import { runEngine } from './run.ts';

const patience = { timeout: 30_000 };

let data: string;
beforeEach(() => (data = mkdtempSync(join(tmpdir(), 'forkyard-run-'))));
afterEach(() => rmSync(data, { recursive: true }));

/** An engine that answers what the endpoints themselves need. */
function engineOf(over: Partial<Engine> = {}) {
  return async (options: EngineOptions): Promise<Engine> => ({
    async call(method, input) {
      if (method === 'engine.stop') options.onStop?.();
      if (method === 'engine.web') return (await options.web?.((input as { port?: number }).port)) as never;
      return { stopped: true } as never;
    },
    onEvent: () => () => {},
    stop: async () => {},
    ...over,
  });
}
const run = (startEngine = engineOf()) => runEngine({ data, startEngine, appRoot: data });

async function client() {
  const socket = await findEngine(data);
  return connect(streamTransport(socket as NonNullable<typeof socket>));
}

test('an engine is found by its folder, stops when asked, and the asker hears of both', async () => {
  const engine = await run();
  const caller = await client();
  expect(await caller.call('engine.stop', {})).toEqual({ stopped: true });
  await caller.closed;
  await engine.stopped;
  expect(await findEngine(data)).toBeUndefined();
  await (await run()).stop();
});

test('by the time the asker’s connection ends the folder is free', async () => {
  await run();
  const caller = await client();
  await caller.call('engine.stop', {});
  await caller.closed;
  const next = await run();
  await next.stop();
});

test('who comes while it stops gets the next engine, not the one that goes', async () => {
  let go = (): void => {};
  const engine = await run(engineOf({ stop: () => new Promise((resolve) => (go = resolve)) }));
  const caller = await client();
  const stopped = engine.stop();
  await vi.waitFor(async () => expect(await findEngine(data)).toBeUndefined(), patience);
  await expect(caller.call('engine.web', {})).rejects.toMatchObject({ code: 'engine_unreachable', retry: true });
  const next = run();
  go();
  await stopped;
  await (await next).stop();
});

test('a second engine on the folder is refused and leaves the first alone', async () => {
  const engine = await run();
  await expect(run()).rejects.toMatchObject({ code: 'engine_running' });
  const caller = await client();
  expect(await caller.call('engine.status', {})).toEqual({ stopped: true });
  await engine.stop();
});

test('an engine that cannot start says why and frees the folder', async () => {
  const missing = new ForkyardError('mongod_missing', 'No mongod.');
  await expect(run(() => Promise.reject(missing))).rejects.toBe(missing);
  expect(readFileSync(join(data, 'engine.log'), 'utf8')).toContain('No mongod.');
  await (await run()).stop();
});

test.skipIf(process.platform === 'win32')('nothing is put into a folder that others can write', async () => {
  chmodSync(data, 0o777);
  const start = vi.fn(engineOf());
  await expect(run(start)).rejects.toMatchObject({ code: 'usage' });
  expect(start).not.toHaveBeenCalled();
  expect(readdirSync(data)).toEqual([]);
});

test('who comes while it starts waits for it', async () => {
  let go = (): void => {};
  const started = new Promise<void>((resolve) => (go = resolve));
  const running = run(async (options) => {
    await started;
    return engineOf()(options);
  });
  expect(await findEngine(data)).toBeUndefined();
  const found = waitForEngine(data, 10_000);
  go();
  expect(await found).toBeDefined();
  (await found)?.destroy();
  await (await running).stop();
});

test('the web is turned on once and answers the same link', async () => {
  const engine = await run();
  const caller = await client();
  const first = await caller.call('engine.web', {});
  const { port } = new URL(first.url);
  expect(await caller.call('engine.web', { port: Number(port) })).toEqual(first);
  await expect(caller.call('engine.web', { port: 1 })).rejects.toMatchObject({ code: 'web_refused' });
  await engine.stop();
  await expect(fetch(first.url)).rejects.toThrow();
});

test('stopping twice stops once, and a stop that fails still frees the folder', async () => {
  const stop = vi.fn(() => Promise.reject(new Error('stuck')));
  const engine = await run(engineOf({ stop }));
  const results = await Promise.allSettled([engine.stop(), engine.stop()]);
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(stop).toHaveBeenCalledOnce();
  await (await run()).stop();
});

test.skipIf(process.platform === 'win32')(
  'a socket that has no room in a long data folder leaves nothing behind',
  async () => {
    const long = join(data, 'x'.repeat(120));
    const engine = await runEngine({ data: long, startEngine: engineOf(), appRoot: data });
    const socket = socketPath(engine.data);
    expect(socket.startsWith(tmpdir())).toBe(true);
    (await waitForEngine(engine.data, 0))?.destroy();
    await engine.stop();
    expect(existsSync(dirname(socket))).toBe(false);
  },
);
