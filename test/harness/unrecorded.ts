import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MongoClient } from 'mongodb';
import { branchFolder } from '../../electron/engine/branches/folders.ts';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { freePort } from '../../electron/engine/mongod/ports.ts';

/**
 * Writes to a branch's files by a server of its own that keeps no oplog, so that no capture can ever see it. Only while
 * the engine and its servers stand still (`TestYard.restart`).
 */
export async function unrecorded(
  data: string,
  branchId: string,
  work: (client: MongoClient) => Promise<unknown>,
): Promise<void> {
  const { path } = await resolveMongod({ dataDir: data, onProgress: () => undefined });
  const port = await freePort();
  const folder = branchFolder(data, branchId);
  const args = ['--dbpath', folder.db, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'];
  const server = spawn(path, args, { stdio: 'ignore' });
  const ended = once(server, 'exit');
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.close();
    server.kill('SIGTERM');
    await ended;
  }
}
