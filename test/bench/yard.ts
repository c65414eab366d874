import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { MongoClient } from 'mongodb';
import type { Output } from '../../shared/api.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { connect, type Client } from '../../shared/rpc/connect.ts';
import { engineFlags } from '../../electron/local/engine-flags.ts';
import { waitForEngine } from '../../electron/local/find.ts';
import { streamTransport } from '../../electron/local/ndjson.ts';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { Profiler } from './profile.ts';
import type { BenchRun } from './run.ts';

/** Above every sequence: asks for what is last without reading it. */
const beyond = Number.MAX_SAFE_INTEGER;
const stopDeadlineMs = 60_000;
const captureDeadlineMs = 120_000;

/** A folder of its own for data, removed at the end. */
export function dataFolderFor(run: BenchRun, name: string): string {
  const made = { folder: '' };
  run.cleanup.add(() => rmSync(made.folder, { recursive: true, force: true, maxRetries: 5 }));
  made.folder = realpathSync(mkdtempSync(join(run.asked.folder, `forkyard-bench-${name}-`)));
  return join(made.folder, 'data');
}

/** What one yard has open; filled as it opens, so that it can be undone at any moment. */
interface Opened {
  child?: ChildProcess;
  client?: Client;
  profiler?: Profiler;
  readonly mongos: Map<string, MongoClient>;
}

/** The engine's real process on a data folder, spoken to through its socket as the command line does. */
export class BenchYard {
  readonly run: BenchRun;
  readonly data: string;
  readonly client: Client;
  readonly pid: number;
  /** Stops the engine and its servers; the folder stays. */
  readonly close: () => Promise<void>;
  private readonly opened: Opened;
  private forks = 0;

  private constructor(
    run: BenchRun,
    data: string,
    client: Client,
    pid: number,
    opened: Opened,
    close: () => Promise<void>,
  ) {
    this.run = run;
    this.data = data;
    this.client = client;
    this.pid = pid;
    this.opened = opened;
    this.close = close;
  }

  /** Starts an engine on the folder; made where it does not exist. */
  static async open(run: BenchRun, data: string): Promise<BenchYard> {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const opened: Opened = { mongos: new Map() };
    const close = run.cleanup.add(() => closeAll(data, opened));
    const child = (opened.child = spawnEngine(run, data));
    const inspector = await ready(child);
    const socket = await waitForEngine(data, 10_000);
    if (!socket || child.pid === undefined) throw new Error('the engine does not answer');
    const client = (opened.client = connect(streamTransport(socket)));
    const { profiles } = run.asked;
    if (profiles !== undefined && inspector !== undefined) opened.profiler = await Profiler.open(inspector, profiles);
    return new BenchYard(run, data, client, child.pid, opened, close);
  }

  /** An ordinary client of a branch, by the URI that the engine hands out. */
  async mongo(branch: string): Promise<MongoClient> {
    const known = this.opened.mongos.get(branch);
    if (known) return known;
    const { uri } = await this.client.call('branches.uri', { branch });
    const client = await new MongoClient(uri).connect();
    this.opened.mongos.set(branch, client);
    return client;
  }

  /** Forks main under a name of its own; `ms` is what a caller waits from the request to the answer, URI in hand. */
  async fork(): Promise<Output<'branches.fork'> & { readonly name: string; readonly ms: number }> {
    this.forks += 1;
    const name = `fork-${this.forks}`;
    const asked = performance.now();
    const answer = await this.client.call('branches.fork', { name, ttlMs: null });
    return { ...answer, name, ms: performance.now() - asked };
  }

  /** Ends a branch; gives how long the caller waited. `now` leaves nothing in the trash. */
  async discard(branch: string, now = true): Promise<number> {
    await this.opened.mongos.get(branch)?.close();
    this.opened.mongos.delete(branch);
    const asked = performance.now();
    await this.client.call('branches.discard', { branch, now });
    return performance.now() - asked;
  }

  /** Waits until everything written so far is in the branch's history; gives its last sequence. */
  async settle(branch: string): Promise<number> {
    const deadline = performance.now() + captureDeadlineMs;
    while (performance.now() < deadline) {
      const query = { branch, after: beyond, limit: 1, settle: true };
      const { last, complete } = await this.client.call('changes.page', query);
      if (complete) return last;
    }
    throw new Error(`the history of ${branch} does not catch up`);
  }

  /** Waits until the branch's history has come to a sequence. */
  async reached(branch: string, seq: number): Promise<void> {
    const deadline = performance.now() + captureDeadlineMs;
    while (performance.now() < deadline) {
      const query = { branch, after: seq - 1, limit: 1, waitMs: 10_000 };
      if ((await this.client.call('changes.page', query)).changes.length > 0) return;
    }
    throw new Error(`the history of ${branch} does not come to ${seq}`);
  }

  /** Leaves nothing for the disk to do, so that one run does not pay for the one before. */
  async quietDisk(): Promise<void> {
    await this.run.cleanup.command('sync', '-f', this.data);
  }

  /** Does what is measured, under the profiler where one was asked for. */
  async measured<T>(name: string, work: () => Promise<T>): Promise<T> {
    await this.opened.profiler?.start();
    try {
      return await work();
    } finally {
      const told = await this.opened.profiler?.stop(name);
      if (told !== undefined) this.run.say(`profile ${told}`);
    }
  }
}

/** As `forkyard up` starts it: it ends with this process, however this process ends. */
function spawnEngine({ asked: { root, profiles } }: BenchRun, data: string): ChildProcess {
  const program = join(root, 'dist', 'engine', 'engine.js');
  const flags = [...engineFlags, ...(profiles === undefined ? [] : ['--inspect=127.0.0.1:0'])];
  // Detached, so that Ctrl-C reaches this process alone, which then stops the engine in order.
  return spawn(process.execPath, [...flags, program, '--data', data, '--report', '--with-parent'], {
    detached: true,
    stdio: 'pipe',
  });
}

/** Waits for the engine's report; gives the inspector's address where there is one. */
async function ready(child: ChildProcess): Promise<string | undefined> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(0, 4_000)));
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    const report = JSON.parse(line) as { ready?: true; error?: ErrorBody };
    if (report.error) throw new Error(`the engine did not start: ${report.error.message}`);
    // Printed before the program begins, so it is here by now.
    if (report.ready) return /ws:\/\/\S+/.exec(said)?.[0];
  }
  throw new Error(`the engine ended while it was starting: ${said}`);
}

async function closeAll(data: string, { child, client, profiler, mongos }: Opened): Promise<void> {
  for (const mongo of mongos.values()) await mongo.close();
  profiler?.close();
  client?.close();
  // Asked by the end of its input, then made to.
  if (child && child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.stdin?.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
    await ended;
    clearTimeout(timer);
  }
  for (const { pid } of await serversUnder(data)) process.kill(pid, 'SIGKILL');
}
