import { once } from 'node:events';
import { lstatSync, mkdirSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { ForkyardError } from '../../shared/errors.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { maxRequestBytes, streamTransport } from '../local/ndjson.ts';

/** An open door of the engine. `close` lets what was sent arrive and then ends every connection, within `timeoutMs`. */
export interface Endpoint {
  close(timeoutMs: number): Promise<void>;
}

/**
 * Listens on the Unix socket or named pipe at `path`, for the owner alone. The caller holds the data folder's lock, so a
 * socket file that is there already is a dead engine's.
 */
export async function listenOnSocket(path: string, accept: (transport: Transport) => void): Promise<Endpoint> {
  const pipe = process.platform === 'win32';
  requireOwnFolder(path);
  if (!pipe) await rm(path, { force: true });
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
    accept(streamTransport(connection, maxRequestBytes));
  });
  server.listen({ path, readableAll: false, writableAll: false });
  await once(server, 'listening');
  if (!pipe) await chmod(path, 0o600);
  return {
    async close(timeoutMs) {
      const closed = once(server, 'close');
      server.close();
      for (const connection of connections) connection.end(() => connection.destroy());
      const timer = setTimeout(() => connections.forEach((connection) => connection.destroy()), timeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Makes the socket's folder, or checks that the one there is ours alone: under the temporary directory anybody may have
 * made it first. The data folder itself is left as its owner set it, as long as it is theirs. Throws `usage`.
 */
export function requireOwnFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  const writableByAll = (stat.mode & 0o002) !== 0;
  if (stat.isDirectory() && stat.uid === process.getuid?.() && !writableByAll) return;
  throw new ForkyardError(
    'usage',
    `The folder ${folder} is not yours alone to write, so the engine will not listen there.`,
    {
      hint: `Make it yours alone with \`chmod 700\`, or choose another data folder with --data.`,
    },
  );
}
