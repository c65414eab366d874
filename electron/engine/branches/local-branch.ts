import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { Capture } from '../capture/capture.ts';
import { canHaveImages, switchImagesOn } from '../capture/coverage.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import type { BranchRecord } from '../home/records.ts';
import type { DiskSpace } from '../mongod/disk-space.ts';
import type { EngineCredentials } from '../mongod/replica.ts';
import type { LockGuard } from '../mongod/writer-lock.ts';
import { initiate, reconfigure } from '../mongod/replica.ts';
import { startServer, type Server } from '../mongod/server.ts';
import { branchFolder } from './folders.ts';
import { ForkGate } from './fork-gate.ts';
import type { Turns } from './turns.ts';

/** What every branch of a workspace needs to run. */
export interface Yard {
  readonly data: string;
  readonly binary: string;
  /** Cache of a server that is started now, MB. */
  readonly cacheMB: () => number;
  readonly credentials: EngineCredentials;
  readonly home: Home;
  readonly guard: LockGuard;
  readonly turns: Turns;
  readonly disk: DiskSpace;
  readonly log: (line: string) => void;
  readonly onChanges: (branchId: string, seq: number) => void;
}

/** A branch on this machine whose server runs: its client, its history, and the capture that feeds it. */
export class LocalBranch implements Side {
  record: BranchRecord;
  readonly server: Server;
  readonly client: MongoClient;
  readonly history: History;
  readonly capture: Capture;
  readonly gate: ForkGate;
  /** True once its server is meant to stop. */
  stopping = false;
  private readonly yard: Yard;
  private readonly jobs = new Set<Promise<void>>();

  constructor(
    yard: Yard,
    record: BranchRecord,
    server: Server,
    client: MongoClient,
    state: ConstructorParameters<typeof Capture>[0]['state'],
  ) {
    this.yard = yard;
    this.record = record;
    this.server = server;
    this.client = client;
    this.history = new History(yard.home, record._id);
    this.capture = new Capture({
      client,
      home: yard.home,
      history: this.history,
      branchId: record._id,
      state,
      engineUser: yard.credentials.user,
      accounts: () => this.record.accounts,
      ttlIndexes: record.ttlIndexes,
      room: (signal, onWait) => yard.disk.room(signal, onWait),
      onChanges: (seq) => yard.onChanges(record._id, seq),
      log: yard.log,
    });
    this.gate = new ForkGate({
      client,
      port: server.port,
      files: server.folder.db,
      scratch: join(yard.data, 'branches', `.${record._id}.probe`),
      guard: yard.guard,
      beginFork: () => this.capture.beginFork(),
      inTurn: (work) => this.exclusively(work),
    });
  }

  /**
   * Jobs that must not meet on one branch (fork, adopt, discard, expiry) run one after the other.
   * @throws ForkyardError `branch_not_live` where an earlier one ended the branch
   */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { _id, name } = this.record;
    return this.yard.turns.take(_id, () => {
      if (!this.stopping) return work();
      throw new ForkyardError('branch_not_live', `${name} was just ended or stopped.`, { retry: true });
    });
  }

  /** Runs work that has transactions open here; should the engine die in it, they are ended at once. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    await this.yard.guard.arm(this.server.port);
    try {
      return await work();
    } finally {
      this.yard.guard.disarm(this.server.port);
    }
  }

  /** A long job on this branch (an import) that an end of the branch waits for. */
  async duringJob<T>(work: () => Promise<T>): Promise<T> {
    const job = work();
    const settled = job.then(
      () => undefined,
      () => undefined,
    );
    this.jobs.add(settled);
    try {
      return await job;
    } finally {
      this.jobs.delete(settled);
    }
  }

  /** Resolves when no long job runs. */
  async idle(): Promise<void> {
    while (this.jobs.size > 0) await Promise.all(this.jobs);
  }

  /** Lets go of the server without stopping it. */
  async release(): Promise<void> {
    this.stopping = true;
    await this.capture.stop();
    await this.client.close();
  }
}

/** Starts a branch's server on its files. `fresh` ones get their replica set and the engine's user first. */
export async function startBranchServer(
  yard: Yard,
  record: Pick<BranchRecord, '_id' | 'port' | 'ttlIndexes'>,
  fresh: boolean,
  signal?: AbortSignal,
): Promise<{ server: Server; client: MongoClient }> {
  const server = await startServer({
    binary: yard.binary,
    folder: branchFolder(yard.data, record._id),
    preferredPort: record.port,
    cacheGB: yard.cacheMB() / 1024,
    ttl: record.ttlIndexes,
    signal,
    log: yard.log,
  });
  try {
    const client = fresh ? await initiate(server, yard.credentials) : await reconfigure(server, yard.credentials);
    if (fresh) await keepImagesAnHour(client);
    return { server, client };
  } catch (error) {
    await server.kill();
    throw error;
  }
}

/** Home has the images while the branch lives; the server's own store need not grow for ever. */
async function keepImagesAnHour(client: MongoClient): Promise<void> {
  await client
    .db('admin')
    .command({ setClusterParameter: { changeStreamOptions: { preAndPostImages: { expireAfterSeconds: 3_600 } } } });
}

/** Switches images on wherever they are off. Returns the catalog it looked at. */
export async function coverAll(client: MongoClient): Promise<Catalog> {
  const catalog = await readCatalog(client);
  const bare = [...catalog.byNamespace.values()].filter(
    ({ kind, images, name }) => kind === 'collection' && !images && canHaveImages(name),
  );
  const never = new AbortController().signal;
  await Promise.all(bare.map(({ db, name }) => switchImagesOn(client, db, name, never)));
  return catalog;
}
