import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readPointer } from './data.ts';

/** A connection to the engine that works on the data folder (real path), or undefined where none does. */
export async function findEngine(data: string): Promise<Socket | undefined> {
  const pointer = await readPointer(data);
  if (pointer === undefined) return undefined;
  const socket = createConnection(pointer.socket);
  // Whatever goes wrong later, 'close' tells.
  socket.on('error', () => {});
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

/** The same for an engine that is just starting: looks again until it answers, or gives undefined after `timeoutMs`. */
export async function waitForEngine(data: string, timeoutMs: number): Promise<Socket | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const socket = await findEngine(data);
    if (socket !== undefined || performance.now() > deadline) return socket;
    await delay(25);
  }
}
