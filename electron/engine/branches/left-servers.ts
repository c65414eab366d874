import { serverFolder, Server } from '../mongod/server.ts';
import { waitForExit, type LeftServer } from '../mongod/identity.ts';
import { connectTo, type EngineCredentials } from '../mongod/replica.ts';
import { endLeftWork } from '../mongod/left-work.ts';
import { letGo } from '../mongod/writer-lock.ts';

/** Told apart from the engine that is gone by this name. */
const program = 'forkyard-start';

/**
 * Frees the writers that a fork or an adoption of a killed engine keeps waiting. Afterwards nothing that it had begun goes on:
 * what became of it can be told.
 */
export async function freeLeft(server: LeftServer, credentials: EngineCredentials): Promise<void> {
  const client = connectTo(server.port, credentials, program);
  try {
    await client.connect();
    await letGo(client);
    await endLeftWork(client);
  } catch {
    // It does not answer, or is not ours any more: its start or its end is decided by whoever opens the workspace.
  } finally {
    await client.close();
  }
}

/** Stops a server that a killed engine left running. */
export async function stopLeft(left: LeftServer): Promise<void> {
  const server = new Server(serverFolder(''), left.port, left);
  await server.stop(3_000);
  await waitForExit(left, 5_000);
}
