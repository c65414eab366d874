import { randomBytes } from 'node:crypto';
import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import { recoverPlan } from '../adopt/recover.ts';
import { storeBaseCatalog } from '../changes/catalog.ts';
import { History } from '../home/history.ts';
import { Home } from '../home/home.ts';
import { PlanStore } from '../home/plans.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { createAccount, dropInheritedAccounts, newAccount } from '../mongod/accounts.ts';
import { serversUnder, waitForExit, type LeftServer } from '../mongod/identity.ts';
import { firstStart, needsFirstStart } from '../mongod/first-start.ts';
import { GuardProcess } from '../mongod/lock-guard.ts';
import {
  connectTo,
  initiate,
  lastWriteTime,
  reconfigure,
  serverEnded,
  type EngineCredentials,
} from '../mongod/replica.ts';
import { Server, serverFolder, startServer } from '../mongod/server.ts';
import { letGo } from '../mongod/writer-lock.ts';
import { branchFolder, makeFolders } from './folders.ts';
import { coverAll, LocalBranch, startBranchServer, type Yard } from './local-branch.ts';
import { engineCredentials } from './secret.ts';
import { Turns } from './turns.ts';

export interface WorkspaceOptions {
  readonly data: string;
  readonly binary: string;
  /** Cache of a server that is started now, MB. */
  readonly cacheMB: () => number;
  readonly log: (line: string) => void;
  /** A branch's history grew. */
  readonly onChanges: (branchId: string, seq: number) => void;
  /** The branch list changed in another way. */
  readonly onBranches: () => void;
  readonly onLog: (entry: LogRecord) => void;
}

export const mainId = 'main';
export const mainName = 'main';

/** A server that keeps ending by itself is left alone after so many starts within a minute. */
const restartsPerMinute = 3;

/** A data folder with its home database and the branches that run. */
export class Workspace implements Yard {
  readonly data: string;
  readonly binary: string;
  readonly credentials: EngineCredentials;
  readonly home: Home;
  readonly guard: GuardProcess;
  readonly turns = new Turns();
  readonly options: WorkspaceOptions;
  private readonly homeServer: Server;
  /** Branches whose server runs, by id. */
  readonly live = new Map<string, LocalBranch>();
  private readonly restarts = new Map<string, number[]>();
  /** Servers that ended by themselves and are being started again, by branch. */
  private readonly restarting = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();
  /** Servers that are being started: a stop waits for them, so that none comes up behind it. */
  private readonly starting = new Set<Promise<unknown>>();

  private constructor(options: WorkspaceOptions, credentials: EngineCredentials, home: Home, homeServer: Server) {
    this.options = options;
    this.data = options.data;
    this.binary = options.binary;
    this.credentials = credentials;
    this.home = home;
    this.homeServer = homeServer;
    this.guard = new GuardProcess(credentials);
  }

  readonly cacheMB = (): number => this.options.cacheMB();
  readonly log = (line: string): void => this.options.log(line);
  readonly onChanges = (branchId: string, seq: number): void => this.options.onChanges(branchId, seq);

  /**
   * Opens a data folder. Servers that a killed engine left running are taken over where the catalog knows them, so that
   * nobody connected to them notices, and stopped where it does not.
   */
  static async open(given: WorkspaceOptions): Promise<Workspace> {
    await makeFolders(given.data);
    const options = { ...given, data: await realpath(given.data) };
    const credentials = await engineCredentials(options.data);
    const left = await serversUnder(options.data);
    // First of all: a fork or an adoption that was cut off may keep writers waiting.
    await Promise.all(left.map((server) => freeLeft(server, credentials)));
    const homeServer = await openHomeServer(options, credentials, left);
    const client = await reconfigure(homeServer, credentials);
    const workspace = new Workspace(options, credentials, await Home.open(client), homeServer);
    homeServer.exited.then(() => workspace.homeEnded()).catch(() => undefined);
    await workspace.openBranches(left);
    return workspace;
  }

  private async openBranches(left: readonly LeftServer[]): Promise<void> {
    await this.removeHalfMade();
    const records = await this.home.branches.find({ state: 'live' }).toArray();
    const kept = new Set(records.map(({ _id }) => branchFolder(this.data, _id).db));
    kept.add(this.homeServer.folder.db);
    await Promise.all(left.filter(({ dbPath }) => !kept.has(dbPath)).map(stopLeft));
    const main = records.find(({ _id }) => _id === mainId);
    if (main) await this.openBranch(main, left);
    else await this.createMain();
    await Promise.all(
      records
        .filter(({ _id }) => _id !== mainId)
        .map((record) => this.openBranch(record, left).catch((error: unknown) => this.failed(record, error))),
    );
    await this.recoverPlans();
  }

  /** What a fork that was cut off left: nothing of it stays. */
  private async removeHalfMade(): Promise<void> {
    const records = await this.home.branches.find({}, { projection: { state: 1 } }).toArray();
    const starting = records.filter(({ state }) => state === 'starting');
    const known = new Set(records.filter(({ state }) => state !== 'starting').map(({ _id }) => _id));
    const left = await serversUnder(join(this.data, 'branches'));
    for (const name of await readdir(join(this.data, 'branches'))) {
      if (known.has(name) || name === mainId) continue;
      const folder = branchFolder(this.data, name);
      await Promise.all(left.filter(({ dbPath }) => dbPath === folder.db).map(stopLeft));
      await rm(folder.root, { recursive: true, force: true });
    }
    // The row goes last: cut off again, the next start finds it.
    for (const { _id } of starting) {
      await new History(this.home, _id).drop();
      await this.home.branches.deleteOne({ _id });
    }
  }

  private async createMain(): Promise<void> {
    const folder = branchFolder(this.data, mainId);
    if (await needsFirstStart(folder)) await firstStart(folder, () => this.noteMain(true));
    // Its data is there and the catalog is not: it is taken up as it is.
    else await this.noteMain(false);
  }

  private async noteMain(fresh: boolean): Promise<void> {
    const { server, client } = await startBranchServer(this, { _id: mainId, ttlIndexes: false }, fresh);
    const account = newAccount('owner', 'schema');
    await dropInheritedAccounts(client, this.credentials.user);
    await createAccount(client, account);
    await new History(this.home, mainId).create();
    const record: BranchRecord = {
      _id: mainId,
      name: mainName,
      state: 'live',
      access: 'schema',
      accounts: [account],
      port: server.port,
      forkedAt: new Date(),
      ttlIndexes: false,
      active: true,
    };
    await this.attach(record, server, client, true);
    await this.home.branches.insertOne(record);
  }

  /** Starts or takes over the server of a branch that the catalog has as live. */
  openBranch(record: BranchRecord, left: readonly LeftServer[] = []): Promise<LocalBranch> {
    return this.whileOpen((signal) => this.startOrTakeOver(record, left, signal));
  }

  /**
   * Runs work that starts a server. A stop of the workspace aborts it and waits for its end.
   * @throws ForkyardError `engine_stopped`
   */
  async whileOpen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.closing.signal.throwIfAborted();
    const job = work(this.closing.signal);
    const settled = job.catch(() => undefined);
    this.starting.add(settled);
    try {
      return await job;
    } finally {
      this.starting.delete(settled);
    }
  }

  private async startOrTakeOver(
    record: BranchRecord,
    left: readonly LeftServer[],
    signal: AbortSignal,
  ): Promise<LocalBranch> {
    const folder = branchFolder(this.data, record._id);
    const running = left.find(({ dbPath }) => dbPath === folder.db);
    const started = running ? await this.takeOver(running, record).catch(() => undefined) : undefined;
    const { server, client } = started ?? (await startBranchServer(this, record, false, signal));
    return this.attach(await this.notePort(record, server.port), server, client);
  }

  /** A port that another program took meanwhile is left to it; whoever has the old connection string is told why. */
  private async notePort(record: BranchRecord, port: number): Promise<BranchRecord> {
    if (port === record.port) return record.note === undefined ? record : this.update(record._id, {}, ['note']);
    if (record.port === undefined) return this.update(record._id, { port });
    const note = `Another program has taken port ${record.port}, so the connection string is a new one, with port ${port}.`;
    this.log(`${record.name}: ${note}`);
    return this.update(record._id, { port, note });
  }

  private async takeOver(running: LeftServer, record: BranchRecord) {
    const server = new Server(branchFolder(this.data, record._id), running.port, running);
    try {
      return { server, client: await reconfigure(server, this.credentials) };
    } catch (error) {
      // It does not answer as ours: stopped, then started anew on its files.
      await stopLeft(running);
      throw error;
    }
  }

  /** Begins capture on a running server and watches over both. Resolves when capture is live. */
  async attach(
    record: BranchRecord,
    server: Server,
    client: LocalBranch['client'],
    withBase = false,
  ): Promise<LocalBranch> {
    const history = new History(this.home, record._id);
    if (withBase) {
      await Promise.all([storeBaseCatalog(this.home, record._id, client), coverSoon(client)]);
    } else void coverAll(client).catch(() => undefined);
    const state = (withBase ? undefined : await history.state()) ?? (await history.begin(await lastWriteTime(client)));
    const branch = new LocalBranch(this, record, server, client, state);
    try {
      const ended = server.exited.then(() => Promise.reject(serverEnded(server)));
      await Promise.race([branch.capture.live, ended]);
    } catch (error) {
      await branch.release();
      throw error;
    }
    this.live.set(record._id, branch);
    server.exited.then(() => this.serverEnded(branch)).catch(() => undefined);
    return branch;
  }

  /** A branch by name; its record alone where it is not running. @throws ForkyardError `unknown_branch` */
  async record(name: string): Promise<BranchRecord> {
    const record = await this.home.branches.findOne({ name, active: true });
    if (record) return record;
    const names = await this.home.branches.find({ active: true }, { projection: { name: 1 } }).toArray();
    throw new ForkyardError('unknown_branch', `There is no branch "${name}".`, {
      hint: `The branches are: ${names.map((branch) => branch.name).join(', ')}.`,
    });
  }

  /** A running branch by name. @throws ForkyardError `unknown_branch`, `branch_not_live` */
  async branch(name: string): Promise<LocalBranch> {
    const record = await this.record(name);
    const branch = await this.running(record._id);
    if (branch) return branch;
    throw new ForkyardError(
      'branch_not_live',
      `The branch "${name}" is ${record.state}, so its database does not run.`,
      {
        hint:
          record.state === 'expired'
            ? `Bring it back with "forkyard extend ${name} --ttl 1h".`
            : `Wake it with "forkyard wake ${name}".`,
      },
    );
  }

  /** A branch that runs, by id. One whose server ended by itself is waited for while it is started again. */
  async running(branchId: string): Promise<LocalBranch | undefined> {
    await this.restarting.get(branchId);
    return this.live.get(branchId);
  }

  /** The running parent of a sandbox. @throws ForkyardError `usage` for main, `branch_not_live` */
  async parentOf(branch: LocalBranch): Promise<LocalBranch> {
    const { parent, name } = branch.record;
    if (parent === undefined) {
      throw new ForkyardError('usage', `${name} has no parent to compare with.`, { hint: 'Name a sandbox.' });
    }
    const running = await this.running(parent);
    if (running) return running;
    const record = await this.home.branches.findOne({ _id: parent });
    throw new ForkyardError(
      'branch_not_live',
      `${name} was forked from ${record?.name ?? 'a branch that is gone'}, which does not run.`,
      {
        hint: record ? `Wake it with "forkyard wake ${record.name}".` : 'Nothing can be compared or adopted any more.',
      },
    );
  }

  async children(branchId: string): Promise<BranchRecord[]> {
    return this.home.branches.find({ parent: branchId, active: true }).toArray();
  }

  /** Changes a record in the catalog and wherever it is held. */
  async update(
    branchId: string,
    set: Partial<BranchRecord>,
    unset: readonly (keyof BranchRecord)[] = [],
  ): Promise<BranchRecord> {
    const update = {
      ...(Object.keys(set).length > 0 ? { $set: set } : {}),
      ...(unset.length > 0 ? { $unset: Object.fromEntries(unset.map((name) => [name, 1])) } : {}),
    };
    const record = await this.home.branches.findOneAndUpdate({ _id: branchId }, update as never, {
      returnDocument: 'after',
    });
    if (!record) throw new ForkyardError('unknown_branch', 'This branch is gone.');
    const branch = this.live.get(branchId);
    if (branch) branch.record = record;
    this.options.onBranches();
    return record;
  }

  async logEntry(entry: Omit<LogRecord, '_id' | 'time'>): Promise<LogRecord> {
    const record = { _id: `${entry.kind}-${randomBytes(4).toString('hex')}`, time: new Date(), ...entry };
    await this.home.log.insertOne(record);
    this.options.onLog(record);
    return record;
  }

  /** Stops a branch's server for good or for now; its files stay. */
  async stopBranch(branch: LocalBranch, how: 'stop' | 'kill'): Promise<void> {
    branch.stopping = true;
    this.live.delete(branch.record._id);
    await branch.capture.stop();
    if (how === 'kill') {
      // Acknowledged writes are journaled first: the files may be brought back.
      const flush = branch.client
        .db('admin')
        .command({ appendOplogNote: 1, data: { forkyard: 'stop' }, writeConcern: { w: 1, j: true } });
      await flush.catch(() => undefined);
    }
    // Before the server: closing says goodbye to it, and would wait for one that is gone.
    await branch.client.close();
    await (how === 'kill' ? branch.server.kill() : branch.server.stop());
  }

  private async recoverPlans(): Promise<void> {
    const store = new PlanStore(this.home);
    for (const plan of await store.plans.find({ state: 'applying' }).toArray()) {
      const parent = this.live.get(plan.parentId);
      if (!parent) continue;
      const branch = await this.home.branches.findOne({ _id: plan.branchId });
      const history = branch ? new History(this.home, plan.branchId) : undefined;
      const { outcome } = await parent.guarded(() => recoverPlan(this.home, plan, parent, history));
      this.log(`${plan._id} was cut off: ${outcome}`);
      if (outcome !== 'applied') {
        await this.logEntry({
          kind: 'recover',
          branch: plan.branchName,
          branchId: plan.branchId,
          text: `An adoption from ${plan.branchName} into ${plan.parentName} was cut off and ${outcome === 'not applied' ? 'nothing of it was applied' : 'could only be taken back in part'}`,
        });
      }
    }
  }

  /** A server ended that nobody stopped: it is started again on its files, which recover by themselves. */
  private async serverEnded(branch: LocalBranch): Promise<void> {
    const { _id, state } = branch.record;
    // One that is being made is its fork's business.
    if (branch.stopping || this.closing.signal.aborted || state === 'starting') return;
    this.live.delete(_id);
    const restart = this.restart(branch).catch((error: unknown) => this.log(`restart: ${String(error)}`));
    this.restarting.set(_id, restart);
    await restart;
    if (this.restarting.get(_id) === restart) this.restarting.delete(_id);
    this.options.onBranches();
  }

  private async restart(branch: LocalBranch): Promise<void> {
    const { _id, name } = branch.record;
    await branch.release().catch(() => undefined);
    const now = Date.now();
    const recent = [...(this.restarts.get(_id) ?? []), now].filter((time) => now - time < 60_000);
    this.restarts.set(_id, recent);
    this.log(`the server of ${name} ended; starting it again`);
    if (recent.length > restartsPerMinute) {
      await this.failed(branch.record, new Error('its server ended several times within a minute'));
      return;
    }
    await this.openBranch(branch.record).catch((error: unknown) => this.failed(branch.record, error));
  }

  private async failed(record: BranchRecord, error: unknown): Promise<void> {
    if (this.closing.signal.aborted) return;
    const note = error instanceof Error ? error.message : String(error);
    this.log(`${record.name} failed: ${note}`);
    await this.update(record._id, { state: 'failed', note });
  }

  /** Home is where everything is kept: it is started again on the same port, and its clients go on by themselves. */
  private homeEnded(): void {
    if (this.closing.signal.aborted) return;
    this.log('home ended; starting it again');
    const options = { binary: this.binary, folder: this.homeServer.folder, preferredPort: this.homeServer.port };
    this.whileOpen(async (signal) => {
      const server = await startServer({ ...options, signal });
      server.exited.then(() => this.homeEnded()).catch(() => undefined);
      this.restartedHome = server;
    }).catch((error: unknown) => this.log(`home does not start: ${String(error)}`));
  }

  private restartedHome: Server | undefined;

  /** Stops every server, sandboxes first, home last. */
  async close(): Promise<void> {
    this.closing.abort(new ForkyardError('engine_stopped', 'The engine was stopped.', { retry: true }));
    while (this.starting.size > 0) await Promise.all(this.starting);
    await Promise.all([...this.live.values()].map((branch) => this.stopBranch(branch, 'stop')));
    this.guard.stop();
    await this.home.client.close();
    await (this.restartedHome ?? this.homeServer).stop();
  }

  /** Process ids of all servers, home included. */
  get serverPids(): number[] {
    return [this.homeServer.pid, ...[...this.live.values()].map((branch) => branch.server.pid)];
  }
}

async function openHomeServer(
  options: WorkspaceOptions,
  credentials: EngineCredentials,
  left: readonly LeftServer[],
): Promise<Server> {
  const folder = serverFolder(join(options.data, 'home'));
  const running = left.find(({ dbPath }) => dbPath === folder.db);
  const start = { binary: options.binary, folder, oplogMB: 64 };
  if (await needsFirstStart(folder)) {
    if (running) await stopLeft(running);
    return firstStart(folder, async () => {
      const server = await startServer(start);
      await (await initiate(server, credentials)).close();
      return server;
    });
  }
  return running ? new Server(folder, running.port, running) : startServer(start);
}

async function freeLeft(server: LeftServer, credentials: EngineCredentials): Promise<void> {
  const client = connectTo(server.port, credentials);
  try {
    await client.connect();
    await letGo(client);
  } catch {
    // It does not answer, or is not ours any more: its start or its end is decided below.
  } finally {
    await client.close();
  }
}

async function stopLeft(left: LeftServer): Promise<void> {
  const server = new Server(serverFolder(''), left.port, left);
  await server.stop(3_000);
  await waitForExit(left, 5_000);
}

/** Most collections have images already; one that cannot get them now gets them soon. */
async function coverSoon(client: LocalBranch['client']): Promise<void> {
  const covered = coverAll(client).catch(() => undefined);
  await Promise.race([covered, new Promise((resolve) => setTimeout(resolve, 300).unref())]);
}
