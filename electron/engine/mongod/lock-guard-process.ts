/** The guard's process: see `lock-guard.ts`. */
import { createInterface } from 'node:readline';
import type { MongoClient } from 'mongodb';
import { connectTo, engineProgram, type EngineCredentials } from './replica.ts';
import type { GuardMessage } from './lock-guard.ts';
import { letGo } from './writer-lock.ts';

let credentials: EngineCredentials | undefined;
const armed = new Map<number, MongoClient>();

/** A dead engine's connections are closed within milliseconds; a new engine does not lock anything before this. */
const lastCommandsMs = 300;

async function handle(message: GuardMessage): Promise<void> {
  if ('credentials' in message) {
    ({ credentials } = message);
    process.stdout.write('ready\n');
  } else if ('arm' in message) {
    // Connected before the lock: afterwards the engine may be gone at any moment.
    const client = connectTo(message.arm, credentials, 'forkyard-guard');
    armed.set(message.arm, client);
    await client.connect().catch(() => undefined);
    process.stdout.write(`${message.arm}\n`);
  } else {
    const client = armed.get(message.disarm);
    armed.delete(message.disarm);
    await client?.close();
  }
}

/** What the engine sent last may still lie unread in the server's socket: again, until its connections are gone. */
async function release(client: MongoClient): Promise<void> {
  const deadline = performance.now() + lastCommandsMs;
  do {
    await letGo(client);
  } while ((await engineIsConnected(client)) && performance.now() < deadline);
}

async function engineIsConnected(client: MongoClient): Promise<boolean> {
  const pipeline = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { appName: engineProgram, type: 'op' } },
    { $limit: 1 },
  ];
  return (await client.db('admin').aggregate(pipeline).toArray()).length > 0;
}

async function releaseAll(): Promise<void> {
  await Promise.allSettled([...armed.values()].map(release));
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void handle(JSON.parse(line) as GuardMessage).catch(() => undefined));
lines.on('close', () => void releaseAll().finally(() => process.exit(0)));
process.stdout.on('error', () => undefined);
