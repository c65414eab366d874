import { join } from 'node:path';
import { Binary, BSON, MongoClient } from 'mongodb';
import { engineCredentials } from '../../electron/engine/branches/secret.ts';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { connectTo } from '../../electron/engine/mongod/replica.ts';

/**
 * Has the record of a sleeping branch go on from a position that its change log does not hold, as one that has rolled over
 * does not: that of a write to main, which no sandbox ever saw. The server finds out at the next write to the sandbox.
 */
export async function loseLog(data: string, main: string, branchId: string): Promise<void> {
  const server = (await serversUnder(data)).find(({ dbPath }) => dbPath.startsWith(join(data, 'home')));
  if (server === undefined) throw new Error(`no home server works on ${data}`);
  const token = await positionOfWrite(main);
  const home = await connectTo(server.port, await engineCredentials(data)).connect();
  try {
    const states = home.db('forkyard').collection<{ _id: string }>('capture');
    const { matchedCount } = await states.updateOne({ _id: branchId }, { $set: { token: new Binary(token) } });
    if (matchedCount !== 1) throw new Error(`nothing was ever recorded of ${branchId}`);
  } finally {
    await home.close();
  }
}

async function positionOfWrite(uri: string): Promise<Uint8Array> {
  const client = await new MongoClient(uri).connect();
  try {
    const notes = client.db('shop').collection('notes');
    const stream = notes.watch();
    // Answers with the first, empty batch: from here on nothing is missed.
    await stream.tryNext();
    await notes.insertOne({ text: 'only in main' });
    const { _id } = await stream.next();
    await stream.close();
    return BSON.serialize(_id as BSON.Document);
  } finally {
    await client.close();
  }
}
