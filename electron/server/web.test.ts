import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connect } from '../../shared/rpc/connect.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { serve } from '../../shared/rpc/serve.ts';
import { serveWeb } from './web.ts';
import { webKeyProtocol, webProtocol } from '../../shared/rpc/web-socket.ts';
import type { Web } from './web.ts';
import { webSocketServerTransport } from './web-socket.ts';

let outside: string;
let web: Web;
let accepted: number;
beforeEach(async () => {
  outside = mkdtempSync(join(tmpdir(), 'forkyard-web-'));
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  const root = join(outside, 'renderer');
  mkdirSync(root);
  writeFileSync(join(root, 'index.html'), '<p>app</p>');
  accepted = 0;
  web = await serveWeb({
    root,
    accept(transport) {
      accepted += 1;
      serve(transport, { engine: { call: async (_method, input) => input as never }, events: new EventRing() });
    },
  });
});
afterEach(async () => {
  await web.close(1000);
  rmSync(outside, { recursive: true });
});

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}
/** `fetch` would not send these hosts and paths as they are. */
async function ask(path: string, { method = 'GET', headers = {} }: Asked = {}) {
  const sent = request({ host: '127.0.0.1', port: web.port, path, method, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode, headers: response.headers, text };
}
const origin = () => `http://127.0.0.1:${web.port}`;
const token = () => new URLSearchParams(new URL(web.url).hash.slice(1)).get('token') ?? '';
const key = () => webKeyProtocol(token());

interface Upgrade {
  readonly headers?: Record<string, string>;
  readonly protocols?: string[];
  readonly path?: string;
}
/** The status with which an upgrade was refused, or the open socket. By default the app's own page asks. */
function upgrade({ headers = {}, protocols = [webProtocol, key()], path = '/rpc' }: Upgrade = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${web.port}${path}`, protocols, {
    headers: { origin: origin(), ...headers },
  });
  return new Promise<number | WebSocket>((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    socket.on('error', reject);
  });
}

test('the link opens the app and its key the engine, more than once', async () => {
  const page = await ask('/');
  expect(page).toMatchObject({ status: 200, text: '<p>app</p>' });
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("script-src 'self';"),
  });
  for (let time = 0; time < 2; time += 1) {
    const socket = (await upgrade()) as WebSocket;
    expect(socket.protocol).toBe(webProtocol);
    const client = connect(webSocketServerTransport(socket));
    expect(await client.call('log.list', { branch: 'b' })).toEqual({ branch: 'b' });
    client.close();
    await client.closed;
  }
});

test('nothing is ever a cookie, which browsers would send to every other port of this machine', async () => {
  for (const path of ['/', '/session', '/rpc']) expect((await ask(path)).headers['set-cookie']).toBeUndefined();
  const cookie = `forkyard=${token()}; forkyard_${web.port}=${token()}`;
  expect(await upgrade({ headers: { cookie }, protocols: [webProtocol] })).toBe(401);
});

test('MC-08: another host name is refused on every request and upgrade', async () => {
  for (const host of ['evil.example', `evil.example:${web.port}`, '127.0.0.1', `127.0.0.1.evil.example:${web.port}`]) {
    expect((await ask('/', { headers: { host } })).status).toBe(403);
    expect(await upgrade({ headers: { host } })).toBe(403);
  }
});

test('MC-08: another origin, a null one, and none where something could be done, are refused', async () => {
  for (const evil of ['https://evil.example', 'null', `https://127.0.0.1:${web.port}`, 'http://127.0.0.1:1']) {
    expect((await ask('/', { headers: { origin: evil } })).status).toBe(403);
    expect(await upgrade({ headers: { origin: evil } })).toBe(403);
  }
  expect((await ask('/', { method: 'POST' })).status).toBe(403);
  const without = new WebSocket(`ws://127.0.0.1:${web.port}/rpc`, [webProtocol, key()]);
  const [, response] = (await once(without, 'unexpected-response')) as [unknown, IncomingMessage];
  expect(response.statusCode).toBe(403);
  response.destroy();
});

test('without the key the engine is out of reach', async () => {
  const wrong = [[], [webProtocol], [token()], [webKeyProtocol('x'.repeat(43))], [webKeyProtocol('x'), webProtocol]];
  for (const protocols of wrong) expect(await upgrade({ protocols })).toBe(401);
  expect(accepted).toBe(0);
});

test('no path leads out of the app', async () => {
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '//../secret.txt',
    '/..\\secret.txt',
  ]) {
    const answer = await ask(path);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('secret');
  }
});

test('only reading and /rpc are answered', async () => {
  expect((await ask('/', { method: 'DELETE', headers: { origin: origin() } })).status).toBe(405);
  expect(await upgrade({ path: '/other' })).toBe(404);
});

test('a frame that is too large, or binary, ends that connection alone', async () => {
  const [large, binary, good] = (await Promise.all([upgrade(), upgrade(), upgrade()])) as [
    WebSocket,
    WebSocket,
    WebSocket,
  ];
  const ends = [large, binary].map(async (socket) => (await once(socket, 'close'))[0] as number);
  large.send('x'.repeat(33 * 1024 * 1024));
  binary.send(Buffer.from([1, 2, 3]));
  expect(await Promise.all(ends)).toEqual([1009, 1003]);
  const client = connect(webSocketServerTransport(good));
  expect(await client.call('log.list', {})).toEqual({});
  client.close();
});

test('a taken port is refused with a sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    await expect(serveWeb({ port, root: outside, accept: () => {} })).rejects.toMatchObject({
      code: 'web_refused',
      message: expect.stringContaining(String(port)),
    });
  } finally {
    taken.close();
  }
});

test('closing ends an open page’s connection', async () => {
  const socket = (await upgrade()) as WebSocket;
  const closed = once(socket, 'close');
  await web.close(1000);
  await closed;
  web = await serveWeb({ root: outside, accept: () => {} });
});
