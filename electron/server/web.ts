/**
 * The app for a browser on this machine. Off unless asked for; 127.0.0.1 only. The app's files are for anybody who can
 * ask; the engine behind `/rpc` only for who has the link: the page trades the key in its fragment, valid for the engine's
 * life so that the same user can open it again, for a cookie that scripts cannot read. Every request and upgrade must name
 * this host and, where a browser says who asks, this origin: pages from elsewhere, and names that resolve to this machine,
 * are refused before anything else is looked at.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { contentSecurityPolicy } from '../../shared/csp.ts';
import { ForkyardError } from '../../shared/errors.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { readAsset } from '../local/assets.ts';
import { maxRequestBytes } from '../local/ndjson.ts';
import type { Endpoint } from './socket.ts';
import { webSocketServerTransport } from './web-socket.ts';

export interface WebOptions {
  /** 0 or left out: any free one. */
  readonly port?: number | undefined;
  /** The built app, `dist/renderer`. */
  readonly root: string;
  readonly accept: (transport: Transport) => void;
}

export interface Web extends Endpoint {
  readonly port: number;
  /** Carries the key in its fragment. */
  readonly url: string;
}

/** Throws `web_refused` where the port is taken. */
export async function serveWeb({ port: asked = 0, root, accept }: WebOptions): Promise<Web> {
  const token = randomBytes(32).toString('base64url');
  const session = randomBytes(32).toString('base64url');
  /** Connections that carry pages; a WebSocket leaves this set. */
  const pages = new Set<Duplex>();
  const upgrader = new WebSocketServer({ noServer: true, maxPayload: maxRequestBytes, perMessageDeflate: false });
  const server = createServer();
  await listen(server, asked);
  const { port } = server.address() as AddressInfo;
  const guard = new Guard(port, session);

  server.on('connection', (socket) => {
    pages.add(socket);
    socket.on('close', () => pages.delete(socket));
  });
  server.on('request', (request, response) => {
    const answer = respond({ request, guard, root, token });
    void answer.then(
      (reply) => send(response, reply, port, request.method === 'HEAD'),
      () => send(response, text(500, 'Something went wrong.'), port, false),
    );
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    const refused = guard.refuse(request, true) ?? (pathOf(request) === '/rpc' ? guard.signedIn(request) : 404);
    if (refused !== undefined) {
      socket.end(`HTTP/1.1 ${refused} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    pages.delete(socket);
    upgrader.handleUpgrade(request, socket, head, (webSocket) => accept(webSocketServerTransport(webSocket)));
  });

  return {
    port,
    url: `http://127.0.0.1:${port}/#token=${token}`,
    async close(timeoutMs) {
      const closed = once(server, 'close');
      server.close();
      for (const socket of pages) socket.destroy();
      for (const client of upgrader.clients) client.close(1001);
      const timer = setTimeout(() => upgrader.clients.forEach((client) => client.terminate()), timeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new ForkyardError('web_refused', `The app cannot be served on port ${port}: ${(cause as Error).message}.`, {
      hint: 'Choose another with --port, or leave it out to get a free one.',
      cause,
    });
  }
}

/** Who may ask: the allow-lists of hosts and origins, and the cookie. */
class Guard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** Named by port, since browsers share cookies between the ports of a host. */
  readonly cookie: string;
  readonly session: string;

  constructor(port: number, session: string) {
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    this.#hosts = new Set(hosts);
    this.#origins = new Set(hosts.map((host) => `http://${host}`));
    this.cookie = `forkyard_${port}`;
    this.session = session;
  }

  /** 403 where the request names another host or comes from another origin; `mustNameOrigin` where it could do something. */
  refuse(request: IncomingMessage, mustNameOrigin: boolean): 403 | undefined {
    const { host, origin } = request.headers;
    if (host === undefined || !this.#hosts.has(host)) return 403;
    if (origin === undefined) return mustNameOrigin ? 403 : undefined;
    return this.#origins.has(origin) ? undefined : 403;
  }

  signedIn(request: IncomingMessage): 401 | undefined {
    const given = (request.headers.cookie ?? '')
      .split(';')
      .map((each) => each.trim().split('='))
      .filter(([name]) => name === this.cookie);
    return given.some(([, value]) => equal(value ?? '', this.session)) ? undefined : 401;
  }
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly cookie?: string;
}

const text = (status: number, body: string): Reply => ({ status, type: 'text/plain; charset=utf-8', body });

async function respond(context: {
  request: IncomingMessage;
  guard: Guard;
  root: string;
  token: string;
}): Promise<Reply> {
  const { request, guard, root, token } = context;
  const path = pathOf(request);
  const reading = request.method === 'GET' || request.method === 'HEAD';
  if (guard.refuse(request, !reading) !== undefined) return text(403, 'This address is for Forkyard’s own page.');
  if (request.method === 'POST' && path === '/session') {
    if (!equal(tokenIn(await body(request, 1024)), token)) return text(401, 'This key is not the engine’s.');
    const cookie = `${guard.cookie}=${guard.session}; Path=/; HttpOnly; SameSite=Strict`;
    return { status: 204, type: 'text/plain', body: '', cookie };
  }
  if (!reading) return text(405, 'Only reading is answered here.');
  const asset = await readAsset(root, path);
  return asset === undefined
    ? text(404, 'There is nothing here.')
    : { status: 200, type: asset.type, body: asset.bytes };
}

function send(response: ServerResponse, reply: Reply, port: number, headOnly: boolean): void {
  response.writeHead(reply.status, {
    'content-type': reply.type,
    'content-length': Buffer.byteLength(reply.body),
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy([`ws://127.0.0.1:${port}`, `ws://localhost:${port}`]),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(reply.cookie === undefined ? {} : { 'set-cookie': reply.cookie }),
  });
  response.end(headOnly ? undefined : reply.body);
}

/** As it was sent, dots and encodings included: `new URL` would resolve them before they are checked. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?')[0] ?? '';
}

/** The body as text, or nothing where it is longer than `maxBytes`. */
async function body(request: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > maxBytes) return '';
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function tokenIn(json: string): string {
  try {
    const { token } = JSON.parse(json) as { token?: unknown };
    return typeof token === 'string' ? token : '';
  } catch {
    return '';
  }
}

/** Takes as long for any two texts, so that nothing can be learned by timing. */
function equal(given: string, wanted: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
