import { connect, createServer } from 'node:net';

/** Ports handed out in this process and perhaps not bound yet: two starts at once must not get the same one. */
const handedOut = new Set<number>();

/**
 * A port on 127.0.0.1 that is free at this moment. Another program may still take it before the server binds:
 * the caller starts again with a new one when the server says so.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await probe(0);
    if (port === undefined || handedOut.has(port)) continue;
    handedOut.add(port);
    setTimeout(() => handedOut.delete(port), 60_000).unref();
    return port;
  }
}

/** True where nothing listens on the port, so that a saved URI can go on working. */
export async function isFree(port: number): Promise<boolean> {
  return (await probe(port)) !== undefined;
}

function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
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
