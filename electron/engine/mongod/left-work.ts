import type { Document, MongoClient } from 'mongodb';
import { engineProgram } from './replica.ts';

/** What cannot be interrupted has ended by then. */
const patienceMs = 10_000;
const pauseMs = 10;

/**
 * Ends what an engine that is gone had a server do, and waits until none of its connections is left: a command that waits for
 * a lock (a rename behind somebody's transaction) would else be done later, when what was cut off has long been settled. A
 * command that is being ended is done or not at all. Its writer lock is none of this: ending that would end the server.
 */
export async function endLeftWork(client: MongoClient): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await connectionsOfEngine(client);
    if (left.length === 0 || performance.now() > deadline) return;
    const running = left.filter(({ active, command }) => active === true && !isLock(command as Document | undefined));
    for (const { opid } of running) await client.db('admin').command({ killOp: 1, op: opid as number });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function connectionsOfEngine(client: MongoClient): Promise<Document[]> {
  return client
    .db('admin')
    .aggregate([
      { $currentOp: { allUsers: true, idleConnections: true } },
      { $match: { appName: engineProgram, type: 'op' } },
      { $project: { opid: 1, active: 1, command: 1 } },
    ])
    .toArray();
}

function isLock(command: Document | undefined): boolean {
  return command !== undefined && ('fsync' in command || 'fsyncUnlock' in command);
}
