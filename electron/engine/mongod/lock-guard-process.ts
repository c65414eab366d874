/** The guard's process: see `lock-guard.ts`. */
import { createInterface } from 'node:readline';
import { connectTo, type EngineCredentials } from './replica.ts';
import type { GuardMessage } from './lock-guard.ts';
import { unlock } from './writer-lock.ts';

let credentials: EngineCredentials | undefined;
const armed = new Map<number, ReturnType<typeof connectTo>>();

async function handle(message: GuardMessage): Promise<void> {
  if ('credentials' in message) {
    ({ credentials } = message);
    process.stdout.write('ready\n');
  } else if ('arm' in message) {
    // Connected before the lock: afterwards the engine may be gone at any moment.
    const client = connectTo(message.arm, credentials);
    armed.set(message.arm, client);
    await client.connect().catch(() => undefined);
    process.stdout.write(`${message.arm}\n`);
  } else {
    const client = armed.get(message.disarm);
    armed.delete(message.disarm);
    await client?.close();
  }
}

async function unlockAll(): Promise<void> {
  await Promise.all([...armed.values()].map((client) => unlock(client).finally(() => client.close())));
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void handle(JSON.parse(line) as GuardMessage).catch(() => undefined));
lines.on('close', () => void unlockAll().finally(() => process.exit(0)));
process.stdout.on('error', () => undefined);
