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
  readonly body?: string;
}
/** `fetch` would not send these hosts and paths as they are. */
async function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const sent = request({ host: '127.0.0.1', port: web.port, path, method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode, headers: response.headers, text };
}
const origin = () => `http://127.0.0.1:${web.port}`;
const token = () => new URLSearchParams(new URL(web.url).hash.slice(1)).get('token') ?? '';
const signIn = (headers: Record<string, string> = { origin: origin() }, key = token()) =>
  ask('/session', { method: 'POST', headers, body: JSON.stringify({ token: key }) });

async function cookie(): Promise<string> {
  return (await signIn()).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
/** The status with which an upgrade was refused, or the open socket. */
function upgrade(headers: Record<string, string>, path = '/rpc'): Promise<number | WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${web.port}${path}`, { headers });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    socket.on('error', reject);
  });
}

test('the link opens the app, its key becomes a cookie, and the cookie opens the engine', async () => {
  const page = await ask('/');
  expect(page).toMatchObject({ status: 200, text: '<p>app</p>' });
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("script-src 'self';"),
  });
  const signedIn = await signIn();
  expect(signedIn.status).toBe(204);
  expect(signedIn.headers['set-cookie']?.[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);

  const socket = await upgrade({ origin: origin(), cookie: await cookie() });
  const client = connect(webSocketServerTransport(socket as WebSocket));
  expect(await client.call('log.list', { branch: 'b' })).toEqual({ branch: 'b' });
  client.close();
  await client.closed;
});

test('the link works a second time', async () => {
  expect((await signIn()).status).toBe(204);
  expect((await signIn()).status).toBe(204);
});

test('a wrong key, and a body that is none, get nothing', async () => {
  expect((await signIn(undefined, 'x'.repeat(43))).status).toBe(401);
  for (const body of ['', '{', '[]', 'null', '{"token":7}', `{"token":"${'x'.repeat(2000)}"}`]) {
    const answer = await ask('/session', { method: 'POST', headers: { origin: origin() }, body });
    expect(answer.status).toBe(401);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
});

test('MC-08: another host name is refused on every request and upgrade', async () => {
  for (const host of ['evil.example', `evil.example:${web.port}`, '127.0.0.1', `127.0.0.1.evil.example:${web.port}`]) {
    expect((await ask('/', { headers: { host } })).status).toBe(403);
    expect((await signIn({ origin: origin(), host })).status).toBe(403);
    expect(await upgrade({ origin: origin(), host, cookie: await cookie() })).toBe(403);
  }
});

test('MC-08: another origin, a null one, and none where something could be done, are refused', async () => {
  for (const evil of ['https://evil.example', 'null', `https://127.0.0.1:${web.port}`, 'http://127.0.0.1:1']) {
    expect((await ask('/', { headers: { origin: evil } })).status).toBe(403);
    expect((await signIn({ origin: evil })).status).toBe(403);
    expect(await upgrade({ origin: evil, cookie: await cookie() })).toBe(403);
  }
  expect((await signIn({})).status).toBe(403);
  expect(await upgrade({ cookie: await cookie() })).toBe(403);
});

test('without the cookie the engine is out of reach', async () => {
  const good = await cookie();
  for (const bad of ['', 'forkyard=x', `${good}x`, good.replace('forkyard_', 'other_')]) {
    expect(await upgrade({ origin: origin(), ...(bad === '' ? {} : { cookie: bad }) })).toBe(401);
  }
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

test('only reading, signing in and /rpc are answered', async () => {
  expect((await ask('/', { method: 'DELETE', headers: { origin: origin() } })).status).toBe(405);
  expect(await upgrade({ origin: origin(), cookie: await cookie() }, '/other')).toBe(404);
});

test('a frame that is too large, or binary, ends that connection alone', async () => {
  const headers = { origin: origin(), cookie: await cookie() };
  const [large, binary, good] = (await Promise.all([upgrade(headers), upgrade(headers), upgrade(headers)])) as [
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
  const socket = (await upgrade({ origin: origin(), cookie: await cookie() })) as WebSocket;
  const closed = once(socket, 'close');
  await web.close(1000);
  await closed;
  web = await serveWeb({ root: outside, accept: () => {} });
});
