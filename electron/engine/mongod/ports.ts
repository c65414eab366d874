import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/** Ports handed out in this process and perhaps not bound yet: two starts at once must not get the same one. */
const handedOut = new Set<number>();

/**
 * Below the range from which systems take the ports of outgoing connections (32768 and up on Linux, 49152 elsewhere): one
 * out of it may be some connection's own by the time a server starts again, and a saved URI would break.
 */
const firstPort = 20_000;
const portCount = 12_000;

/**
 * A port on 127.0.0.1 that is free at this moment. Another program may still take it before the server binds:
 * the caller starts again with a new one when the server says so.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + randomInt(portCount);
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    setTimeout(() => handedOut.delete(port), 60_000).unref();
    return port;
  }
}

/** True where nothing listens on the port, so that a saved URI can go on working. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** True as soon as something accepts connections on the port; false where it refuses. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
