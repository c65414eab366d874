import type { MongoClient } from 'mongodb';
import { engineCredentials } from '../../electron/engine/branches/secret.ts';
import { connectTo } from '../../electron/engine/mongod/replica.ts';
import type { TestYard } from './in-process.ts';

/** A branch's server as the engine reaches it: for what no actor may do. The caller closes it. */
export async function engineClient(yard: TestYard, branch: string): Promise<MongoClient> {
  const row = (await yard.call('branches.list', {})).find(({ name }) => name === branch);
  return connectTo(row!.port!, await engineCredentials(yard.data)).connect();
}

/** Holds up every write of a branch's server while `work` goes on. */
export async function withWritesHeld<T>(yard: TestYard, branch: string, work: () => Promise<T>): Promise<T> {
  const client = await engineClient(yard, branch);
  const admin = client.db('admin');
  await admin.command({ fsync: 1, lock: true });
  try {
    return await work();
  } finally {
    await admin.command({ fsyncUnlock: 1 });
    await client.close();
  }
}
