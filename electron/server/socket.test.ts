import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../../shared/rpc/connect.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { serve } from '../../shared/rpc/serve.ts';
import type { Callable } from '../../shared/rpc/serve.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { streamTransport } from '../local/ndjson.ts';
import { listenOnSocket } from './socket.ts';

const patience = { timeout: 30_000 };

let data: string;
let path: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'forkyard-socket-'));
  path = join(data, 'engine.sock');
});
afterEach(() => rmSync(data, { recursive: true }));

const engine: Callable = { call: async (_method, input) => input as never };
const accept = (transport: Transport): void => serve(transport, { engine, events: new EventRing() });
const client = () => connect(streamTransport(createConnection(path)));

/** Ended by the other side, by a reset too. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.on('error', () => {}).on('close', () => resolve()));

test('calls cross the socket, which is for the owner alone', async () => {
  const endpoint = await listenOnSocket(path, accept);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const caller = client();
  expect(await caller.call('log.list', { branch: 'ü\n' })).toEqual({ branch: 'ü\n' });
  await endpoint.close(1000);
  await caller.closed;
  expect(existsSync(path)).toBe(false);
});

test('a socket file that a dead engine left is replaced', async () => {
  writeFileSync(path, '');
  const endpoint = await listenOnSocket(path, accept);
  const caller = client();
  expect(await caller.call('engine.status', {})).toEqual({});
  caller.close();
  await endpoint.close(1000);
});

test('a folder that anybody can write is refused', async () => {
  chmodSync(data, 0o777);
  await expect(listenOnSocket(path, accept)).rejects.toMatchObject({ code: 'usage' });
});

test('garbage ends its own connection and no other', async () => {
  const endpoint = await listenOnSocket(path, accept);
  const good = client();
  const bad = createConnection(path);
  bad.write('GET / HTTP/1.1\r\n\r\n');
  bad.resume();
  await ended(bad);
  const flood = createConnection(path);
  flood.write('x'.repeat(33 * 1024 * 1024));
  await ended(flood);
  expect(await good.call('engine.status', {})).toEqual({});
  await endpoint.close(1000);
});

test('a connection that never reads does not hold up the end', async () => {
  const transports: Transport[] = [];
  const endpoint = await listenOnSocket(path, (transport) => transports.push(transport));
  const deaf = createConnection(path);
  deaf.pause();
  await vi.waitFor(() => expect(transports).toHaveLength(1), patience);
  transports[0]?.send('x'.repeat(8 * 1024 * 1024));
  await endpoint.close(50);
  deaf.destroy();
});
