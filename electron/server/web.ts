/**
 * The app for a browser on this machine. Off unless asked for; 127.0.0.1 only. The app's files are for anybody who can
 * ask; the engine behind `/rpc` only for who has the link, whose fragment carries a key that is valid for the engine's life.
 * The page names it as a subprotocol when it opens its WebSocket. It is never a cookie: browsers send the cookies of
 * 127.0.0.1 to whatever listens on any port of it, and what a page keeps for its origin stays with host and port.
 * Every request and upgrade must name this host and, where a browser says who asks, this origin: pages from elsewhere, and
 * names that resolve to this machine, are refused before anything else is looked at.
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
import { webKeyProtocol, webProtocol } from '../../shared/rpc/web-socket.ts';
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
  /** Connections that carry pages; a WebSocket leaves this set. */
  const pages = new Set<Duplex>();
  const upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: maxRequestBytes,
    perMessageDeflate: false,
    // Never the key, which must not come back in a header.
    handleProtocols: () => webProtocol,
  });
  const server = createServer();
  await listen(server, asked);
  const { port } = server.address() as AddressInfo;
  const guard = new Guard(port, token);

  server.on('connection', (socket) => {
    pages.add(socket);
    socket.on('close', () => pages.delete(socket));
  });
  server.on('request', (request, response) => {
    const answer = respond({ request, guard, root });
    void answer.then(
      (reply) => send(response, reply, port, request.method === 'HEAD'),
      () => send(response, text(500, 'Something went wrong.'), port, false),
    );
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    const refused = guard.refuse(request, true) ?? (pathOf(request) === '/rpc' ? guard.hasKey(request) : 404);
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

/** Who may ask: the allow-lists of hosts and origins, and the key. */
class Guard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #key: string;

  constructor(port: number, key: string) {
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    this.#hosts = new Set(hosts);
    this.#origins = new Set(hosts.map((host) => `http://${host}`));
    this.#key = key;
  }

  /** 403 where the request names another host or comes from another origin; `mustNameOrigin` where it could do something. */
  refuse(request: IncomingMessage, mustNameOrigin: boolean): 403 | undefined {
    const { host, origin } = request.headers;
    if (host === undefined || !this.#hosts.has(host)) return 403;
    if (origin === undefined) return mustNameOrigin ? 403 : undefined;
    return this.#origins.has(origin) ? undefined : 403;
  }

  hasKey(request: IncomingMessage): 401 | undefined {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
    return offered.some((each) => equal(each, webKeyProtocol(this.#key))) ? undefined : 401;
  }
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
}

const text = (status: number, body: string): Reply => ({ status, type: 'text/plain; charset=utf-8', body });

async function respond(context: { request: IncomingMessage; guard: Guard; root: string }): Promise<Reply> {
  const { request, guard, root } = context;
  const path = pathOf(request);
  const reading = request.method === 'GET' || request.method === 'HEAD';
  if (guard.refuse(request, !reading) !== undefined) return text(403, 'This address is for Forkyard’s own page.');
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
  });
  response.end(headOnly ? undefined : reply.body);
}

/** As it was sent, dots and encodings included: `new URL` would resolve them before they are checked. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?')[0] ?? '';
}

/** Takes as long for any two texts, so that nothing can be learned by timing. */
function equal(given: string, wanted: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
