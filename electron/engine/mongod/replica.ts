import { setTimeout } from 'node:timers/promises';
import { MongoClient, MongoNetworkError, type Document, type Timestamp } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { replicaSetName, type Server } from './server.ts';

/** The engine's own user, the same in every server of a workspace, random per workspace. */
export interface EngineCredentials {
  readonly user: string;
  readonly password: string;
}

/** What the engine calls itself where a server lists its clients. */
export const engineProgram = 'forkyard-engine';

/** A direct connection to one server of ours; no discovery, so a clone never looks for its parent. */
export function connectTo(port: number, credentials?: EngineCredentials, program = engineProgram): MongoClient {
  return new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    ...(credentials
      ? { auth: { username: credentials.user, password: credentials.password }, authSource: 'admin' }
      : {}),
    ...(credentials ? { authMechanism: 'SCRAM-SHA-256' as const } : {}),
    appName: program,
    serverSelectionTimeoutMS: 5_000,
    connectTimeoutMS: 5_000,
    maxPoolSize: 24,
    monitorCommands: false,
  });
}

/**
 * Makes a fresh server a one-node replica set with the engine's user, through the localhost exception, which the server
 * closes by itself with the first user.
 */
export async function initiate(server: Server, credentials: EngineCredentials): Promise<MongoClient> {
  const anonymous = connectTo(server.port);
  try {
    const config = { _id: replicaSetName, members: [{ _id: 0, host: `127.0.0.1:${server.port}` }] };
    await anonymous.db('admin').command({ replSetInitiate: config });
    await waitForPrimary(anonymous);
    await anonymous.db('admin').command({
      createUser: credentials.user,
      pwd: credentials.password,
      roles: ['root'],
      mechanisms: ['SCRAM-SHA-256'],
    });
  } finally {
    await anonymous.close();
  }
  const client = await connectTo(server.port, credentials).connect();
  // The oplog tells who wrote; root alone cannot read it.
  await client.db('admin').command({ grantRolesToUser: credentials.user, roles: [{ role: 'read', db: 'local' }] });
  return client;
}

/**
 * Makes a server whose files came from another (a clone), or whose port changed, the primary of its own set:
 * the stored configuration names a host that is not this one.
 * @throws ForkyardError `mongod_failed` where that does not come about, at once where the server ends
 */
export async function reconfigure(server: Server, credentials: EngineCredentials): Promise<MongoClient> {
  const client = connectTo(server.port, credentials);
  const over = new AbortController();
  let problem: unknown;
  let urgedAt = performance.now();
  const becomePrimary = async () => {
    while (!over.signal.aborted) {
      try {
        await client.connect();
        if (await isOwnPrimary(client, server.port)) return 'primary';
        if (performance.now() - urgedAt > urgeMs) {
          urgedAt = performance.now();
          await client.db('admin').command({ replSetStepUp: 1 });
        }
      } catch (error) {
        // A change of state closes connections; the next turn opens new ones.
        if (!(error instanceof MongoNetworkError)) problem = error;
      }
      await setTimeout(5);
    }
    return 'late';
  };
  const ended = server.exited.then(() => 'ended');
  // A command that is never answered is not waited for longer either.
  const late = setTimeout(primaryDeadlineMs, 'late', { signal: over.signal, ref: false }).catch(() => 'late');
  const outcome = await Promise.race([becomePrimary(), ended, late]);
  over.abort();
  if (outcome === 'primary') return client;
  void client.close().catch(() => undefined);
  if (outcome === 'ended') throw serverEnded(server);
  throw new ForkyardError('mongod_failed', 'The database server started but did not become writable.', {
    hint: `The whole log is in ${server.folder.log}.`,
    retry: true,
    cause: problem,
  });
}

/** A server that went away while it was being made ready. */
export function serverEnded(server: Server): ForkyardError {
  return new ForkyardError('mongod_failed', 'The database server ended while it was being made ready.', {
    hint: `The whole log is in ${server.folder.log}.`,
    retry: true,
  });
}

const primaryDeadlineMs = 60_000;
/** A node alone elects itself as soon as it is configured; one that has not by then is told to stand. Refused where it cannot yet. */
const urgeMs = 5_000;

async function isOwnPrimary(client: MongoClient, port: number): Promise<boolean> {
  const admin = client.db('admin');
  const host = `127.0.0.1:${port}`;
  const hello = await admin.command({ hello: 1 });
  if (hello['isWritablePrimary'] === true && hello['me'] === host) return true;
  const stored = await client.db('local').collection('system.replset').findOne();
  const members = stored?.['members'] as Document[] | undefined;
  if (!stored || members?.[0]?.['host'] === host) return false;
  const config = {
    ...stored,
    version: Number(stored['version']) + 1_000,
    members: [{ ...members?.[0], _id: 0, host, priority: 1, votes: 1 }],
  };
  // Refused while the node still loads its stored configuration; tried again until it takes.
  await admin.command({ replSetReconfig: config, force: true }).catch(() => undefined);
  return false;
}

async function waitForPrimary(client: MongoClient): Promise<void> {
  while ((await client.db('admin').command({ hello: 1 }))['isWritablePrimary'] !== true) {
    await setTimeout(5);
  }
}

/**
 * The cluster time of the server's last write. From `hello`, which always tells: the `operationTime` of other replies is
 * missing while a server that just started has not loaded the keys it signs cluster times with (seen on 6.0.5).
 */
export async function lastWriteTime(client: MongoClient): Promise<Timestamp> {
  const hello = await client.db('admin').command({ hello: 1 });
  return (hello['lastWrite'] as { opTime: { ts: Timestamp } }).opTime.ts;
}
