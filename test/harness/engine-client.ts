import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { engineCredentials } from '../../electron/engine/branches/secret.ts';
import { connectTo } from '../../electron/engine/mongod/replica.ts';
import type { TestYard } from './in-process.ts';
import { serversIn } from './killable.ts';

/** A branch's server as the engine reaches it: for what no actor may do. The caller closes it. */
export async function engineClient(yard: TestYard, branch: string): Promise<MongoClient> {
  const row = (await yard.call('branches.list', {})).find(({ name }) => name === branch);
  return connectTo(row!.port!, await engineCredentials(yard.data)).connect();
}

/** Home, as the engine reaches it. The caller closes it. */
export async function homeClient(yard: Pick<TestYard, 'data'>): Promise<MongoClient> {
  const pid = [...(await serversIn(join(yard.data, 'home'))).keys()][0]!;
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  return connectTo(Number(args[args.indexOf('--port') + 1]), await engineCredentials(yard.data)).connect();
}

/** Gives a sandbox's time another end, whatever it was given; the engine does not notice. */
export async function setDeadline(yard: Pick<TestYard, 'data'>, branch: string, expiresAt: Date): Promise<void> {
  const home = await homeClient(yard);
  await home.db('forkyard').collection('branches').updateOne({ name: branch, active: true }, { $set: { expiresAt } });
  await home.close();
}

/** Makes a sandbox's time be up now, or in a moment, whatever it was given, and tells the engine. */
export async function endTime(yard: Pick<TestYard, 'data' | 'call'>, branch: string, inMs = 0): Promise<void> {
  await setDeadline(yard, branch, new Date(Date.now() + inMs));
  // More time, and be it this little, has the engine look at all deadlines.
  await yard.call('branches.extend', { branch, ttlMs: 1 });
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
