import { realpath } from 'node:fs/promises';
import { ForkyardError } from '../../../shared/errors.ts';
import { storeBaseCatalog } from '../changes/base-catalog.ts';
import { History } from '../home/history.ts';
import { Home } from '../home/home.ts';
import { logEntry, type NewEntry } from '../home/log-entry.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { setAccounts } from '../mongod/accounts.ts';
import { DiskSpace, roomHint } from '../mongod/disk-space.ts';
import { serversUnder, type LeftServer } from '../mongod/identity.ts';
import { GuardProcess } from '../mongod/lock-guard.ts';
import { lastWriteTime, reconfigure, serverEnded, type EngineCredentials } from '../mongod/replica.ts';
import { Server } from '../mongod/server.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import { branchFolder, makeFolders } from './folders.ts';
import { HomeServer } from './home-server.ts';
import { freeLeft, stopLeft } from './left-servers.ts';
import { coverAll, LocalBranch, startBranchServer, type Yard } from './local-branch.ts';
import { openBranches } from './opening.ts';
import { Restarts } from './restarts.ts';
import { engineCredentials } from './secret.ts';
import { Turns } from './turns.ts';

export interface WorkspaceOptions {
  readonly data: string;
  readonly binary: string;
  /** Cache of a server that is started now, MB. */
  readonly cacheMB: () => number;
  readonly log: (line: string) => void;
  /** How much of the disk is left alone, MB. */
  readonly diskReserveMB: () => number;
  /** A branch's history grew. */
  readonly onChanges: (branchId: string, seq: number) => void;
  /** The branch list changed in another way. */
  readonly onBranches: () => void;
  readonly onLog: (entry: LogRecord) => void;
}

const homePauseMs = 50;

/** A data folder with its home database and the branches that run. */
export class Workspace implements Yard {
  readonly data: string;
  readonly binary: string;
  readonly credentials: EngineCredentials;
  readonly home: Home;
  readonly guard: GuardProcess;
  readonly turns = new Turns();
  readonly disk: DiskSpace;
  readonly options: WorkspaceOptions;
  private readonly homeServer: HomeServer;
  /** Branches whose server runs, by id. */
  readonly live = new Map<string, LocalBranch>();
  readonly restarts = new Restarts(this);
  private readonly closing = new AbortController();
  /** Servers that are being started: a stop waits for them, so that none comes up behind it. */
  private readonly starting = new Set<Promise<unknown>>();

  private constructor(
    options: WorkspaceOptions,
    credentials: EngineCredentials,
    home: Home,
    homeServer: HomeServer,
    disk: DiskSpace,
  ) {
    this.options = options;
    this.data = options.data;
    this.binary = options.binary;
    this.credentials = credentials;
    this.home = home;
    this.homeServer = homeServer;
    this.disk = disk;
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
    const disk = new DiskSpace({
      folder: options.data,
      reserveBytes: () => options.diskReserveMB() * 1024 * 1024,
      log: options.log,
    });
    const homeServer = await HomeServer.open(options, credentials, left);
    const client = await reconfigure(homeServer.current, credentials);
    const workspace = new Workspace(options, credentials, await Home.open(client), homeServer, disk);
    homeServer.keepRunning(workspace.closing.signal, disk, (work) => workspace.whileOpen(work));
    await openBranches(workspace, left, homeServer.current.folder.db);
    return workspace;
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
    const branch = await this.attach(await this.notePort(record, server.port), server, client);
    if (record.accountsDue) await this.makeDueAccounts(branch);
    return branch;
  }

  /**
   * Gives a branch's server the users that the catalog has: of one that was just given its name, when the catalog is decided
   * and capture runs, so that no write is lost to either; and where a change of them was cut off.
   */
  async makeDueAccounts(branch: LocalBranch): Promise<void> {
    const { branches } = this.home;
    const { _id } = branch.record;
    for (;;) {
      const { accounts } = this.noted(await this.patiently(() => branches.findOne({ _id })));
      await setAccounts(branch.client, accounts, this.credentials.user);
      // What was decided meanwhile is made too.
      const made = await this.patiently(() =>
        branches.findOneAndUpdate({ _id, accounts }, { $unset: { accountsDue: 1 } }, { returnDocument: 'after' }),
      );
      if (!made) continue;
      this.noted(made);
      return;
    }
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
    this.watch(branch);
    return branch;
  }

  /** Has a branch's server started again that ends by itself, or has; again once its record says that it is to run. */
  watch(branch: LocalBranch): void {
    branch.server.exited.then(() => this.serverEnded(branch)).catch(() => undefined);
  }

  /** A branch by name; its record alone where it is not running. @throws ForkyardError `unknown_branch` */
  async record(name: string): Promise<BranchRecord> {
    const record = await this.origin(name);
    if (!record.pin) return record;
    throw new ForkyardError('unknown_branch', `"${name}" is a pin of ${record.pin.of}, not a branch.`, {
      hint: `Fork it: "forkyard fork NAME --from ${name}".`,
    });
  }

  /** What can be forked: a branch or a pin, by name. @throws ForkyardError `unknown_branch` */
  async origin(name: string): Promise<BranchRecord> {
    const record = await this.home.branches.findOne({ name, active: true });
    if (record && !(record.pin && record.state === 'starting')) return record;
    const names = await this.home.branches
      .find({ active: true, pin: { $exists: false } }, { projection: { name: 1 } })
      .toArray();
    throw new ForkyardError('unknown_branch', `There is no branch "${name}".`, {
      hint: `The branches are: ${names.map((branch) => branch.name).join(', ')}.`,
    });
  }

  /** A running branch by name. @throws ForkyardError `unknown_branch`, `branch_not_live` */
  async branch(name: string): Promise<LocalBranch> {
    let record = await this.record(name);
    const branch = await this.running(record._id);
    if (branch) return branch;
    // Waited for a reset, its name is another's now.
    record = await this.record(name);
    const successor = this.live.get(record._id);
    if (successor) return successor;
    if (record.state === 'live' && this.disk.isShort) throw this.waitsForRoom();
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
    await this.restarts.settled(branchId);
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
    if (this.disk.isShort) throw this.waitsForRoom();
    const record = await this.home.branches.findOne({ _id: parent });
    throw new ForkyardError(
      'branch_not_live',
      `${name} was forked from ${record?.name ?? 'a branch that is gone'}, which does not run.`,
      {
        hint: record ? `Wake it with "forkyard wake ${record.name}".` : 'Nothing can be compared or adopted any more.',
      },
    );
  }

  private waitsForRoom(): ForkyardError {
    return new ForkyardError('no_space', 'A server that a full disk ended is started again when the disk has room.', {
      hint: roomHint,
      retry: true,
    });
  }

  async children(branchId: string): Promise<BranchRecord[]> {
    return this.home.branches.find({ parent: branchId, active: true, pin: { $exists: false } }).toArray();
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
    return this.noted(record);
  }

  /** A record that changed in the catalog is so wherever it is held. */
  noted(record: BranchRecord | null): BranchRecord {
    if (!record) throw new ForkyardError('unknown_branch', 'This branch is gone.');
    const branch = this.live.get(record._id);
    if (branch) branch.record = record;
    this.options.onBranches();
    return record;
  }

  /** Logs what was done and tells it. */
  async logEntry(entry: NewEntry): Promise<LogRecord> {
    const record = logEntry(entry);
    await this.home.log.insertOne(record);
    this.options.onLog(record);
    return record;
  }

  /** Does what must be done in home although its server ended: again until that runs, or the workspace is closed. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnreachable(error) || this.closing.signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, homePauseMs));
      }
    }
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

  /** The same by id, and also where its server had ended by itself and is just being started again. */
  async stopRunning(branchId: string, how: 'stop' | 'kill'): Promise<void> {
    await this.restarts.over(branchId);
    const branch = this.live.get(branchId);
    if (branch) await this.stopBranch(branch, how);
  }

  /** Resolves when the disk has room for what would fill it, or the workspace is closed; `onWait` is told where that takes time. */
  async room(onWait?: () => void): Promise<void> {
    await this.disk.room(this.closing.signal, onWait);
  }

  private async serverEnded(branch: LocalBranch): Promise<void> {
    const { _id, state } = branch.record;
    // One that is being made is its fork's business.
    if (branch.stopping || this.closing.signal.aborted || state === 'starting') return;
    if (this.live.get(_id) !== branch) return;
    this.live.delete(_id);
    await this.restarts.begin(branch);
  }

  /** A branch cannot be brought up: what runs of it goes on, and its row says why. */
  async failed(record: BranchRecord, error: unknown): Promise<void> {
    if (this.closing.signal.aborted) return;
    const note = error instanceof Error ? error.message : String(error);
    this.log(`${record.name} failed: ${note}`);
    await this.patiently(() => this.update(record._id, { state: 'failed', note }));
  }

  /** Stops every server, sandboxes first, home last. */
  async close(): Promise<void> {
    this.closing.abort(new ForkyardError('engine_stopped', 'The engine was stopped.', { retry: true }));
    this.disk.stop();
    while (this.starting.size > 0) await Promise.all(this.starting);
    await Promise.all([...this.live.values()].map((branch) => this.stopBranch(branch, 'stop')));
    this.guard.stop();
    await this.home.client.close();
    await this.homeServer.current.stop();
  }

  /** Process ids of all servers, home included. */
  get serverPids(): number[] {
    return [this.homeServer.current.pid, ...[...this.live.values()].map((branch) => branch.server.pid)];
  }
}

/** Most collections have images already; one that cannot get them now gets them soon. */
async function coverSoon(client: LocalBranch['client']): Promise<void> {
  const covered = coverAll(client).catch(() => undefined);
  await Promise.race([covered, new Promise((resolve) => setTimeout(resolve, 300).unref())]);
}
