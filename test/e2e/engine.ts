import { setTimeout as delay } from 'node:timers/promises';
import { readPointer } from '../../electron/local/data.ts';
import { waitForEngine } from '../../electron/local/find.ts';
import { streamTransport } from '../../electron/local/ndjson.ts';
import { connect, type Client } from '../../shared/rpc/connect.ts';
import { endTime } from '../harness/engine-client.ts';

const deadlineMs = 100_000;

/** Asks the engine of a data folder through its socket, as the command line does. */
export async function askEngine<T>(data: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const socket = await waitForEngine(data, deadlineMs);
  if (socket === undefined) throw new Error(`no engine answers for ${data}`);
  const client = connect(streamTransport(socket));
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

/** The number of the branch's last change, once everything written so far is in its history. */
export function lastOf(data: string, branch: string): Promise<number> {
  return askEngine(data, async (client) => {
    for (;;) {
      const page = await client.call('changes.page', {
        branch,
        after: Number.MAX_SAFE_INTEGER,
        limit: 1,
        settle: true,
      });
      if (page.complete) return page.last;
    }
  });
}

/** Makes a sandbox's time be up, whatever it was given. */
export function expire(data: string, branch: string): Promise<void> {
  return askEngine(data, (client) => endTime({ data, call: (method, input) => client.call(method, input) }, branch));
}

/** Ends the engine as a crash would, and waits until it is gone. */
export async function killEngine(data: string): Promise<void> {
  const pointer = await readPointer(data);
  if (pointer === undefined) throw new Error(`no engine works on ${data}`);
  process.kill(pointer.pid, 'SIGKILL');
  for (const end = performance.now() + deadlineMs; performance.now() < end; await delay(10)) {
    try {
      process.kill(pointer.pid, 0);
    } catch {
      return;
    }
  }
  throw new Error(`the engine ${pointer.pid} does not end`);
}
