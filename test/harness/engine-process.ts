import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import type { Input, Method, Output } from '../../shared/api.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { connect, type Client } from '../../shared/rpc/connect.ts';
import { until } from './until.ts';
import { findEngine } from '../../electron/local/find.ts';
import { streamTransport } from '../../electron/local/ndjson.ts';
import {
  isAlive,
  serversUnder,
  startTimeOf,
  waitForExit,
  type LeftServer,
  type ProcessIdentity,
} from '../../electron/engine/mongod/identity.ts';
import type { EngineCredentials } from '../../electron/engine/mongod/replica.ts';

const program = fileURLToPath(new URL('../../dist/engine/engine.js', import.meta.url));
const guardName = 'lock-guard.js';

/** The built engine as a process of its own, on a data folder of its own; it can be killed and started again. */
export class EngineProcess {
  readonly data: string;
  private readonly ownsFolder: boolean;
  private child: ChildProcess | undefined;
  private connection: Client | undefined;
  private readonly clients: MongoClient[] = [];
  /** Every guard seen, so that the end can tell whether one stayed. */
  private readonly guards: ProcessIdentity[] = [];

  private constructor(data: string, ownsFolder: boolean) {
    this.data = data;
    this.ownsFolder = ownsFolder;
  }

  /** Starts an engine, on a temporary folder unless one is given; a given one is left in place at the end. */
  static async open(folder?: string): Promise<EngineProcess> {
    const engine = await EngineProcess.on(folder);
    await engine.start();
    return engine;
  }

  /** The same without starting it. */
  static async on(folder?: string): Promise<EngineProcess> {
    const data = folder ?? (await mkdtemp(join(tmpdir(), 'fy-')));
    return new EngineProcess(await realpath(data), folder === undefined);
  }

  /** Starts the engine on its folder and connects to it. */
  async start(): Promise<void> {
    await this.launch();
    const socket = await findEngine(this.data);
    if (!socket) throw new Error('the engine does not answer');
    this.connection = connect(streamTransport(socket));
    const guard = await this.guard();
    if (guard) this.guards.push(guard);
  }

  /** Starts the engine and kills it as soon as `reached` is true, whether it was ready by then or not. */
  async startAndKill(reached: () => Promise<boolean>): Promise<void> {
    const child = spawn(process.execPath, [program, '--data', this.data], { stdio: 'ignore', env: process.env });
    const ended = once(child, 'exit');
    await until('the step', reached);
    child.kill('SIGKILL');
    await ended;
  }

  private async launch(): Promise<void> {
    const child = spawn(process.execPath, [program, '--data', this.data, '--report'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: process.env,
    });
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const report = JSON.parse(line) as { ready?: true; error?: ErrorBody };
      if (report.error) throw ForkyardError.from(report.error);
      if (report.ready) break;
    }
    if (child.exitCode !== null) throw new Error(`the engine exited with ${child.exitCode}`);
  }

  /** Ends the engine's process at once and nothing else; its servers go on. */
  async kill(): Promise<void> {
    const { child, connection } = this;
    this.child = undefined;
    this.connection = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await connection?.closed;
  }

  call<M extends Method>(method: M, input: Input<M>): Promise<Output<M>> {
    if (!this.connection) throw new Error('the engine does not run');
    return this.connection.call(method, input);
  }

  /** The error a call ends in; fails where it succeeds. */
  async refusal<M extends Method>(method: M, input: Input<M>): Promise<ForkyardError> {
    const outcome = await this.call(method, input).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (outcome instanceof ForkyardError) return outcome;
    throw outcome ?? new Error(`${method} succeeded`);
  }

  /** All living servers on this folder. */
  servers(): Promise<LeftServer[]> {
    return serversUnder(this.data);
  }

  /** The server of home, main or a sandbox (by id), as the operating system knows it. */
  async server(of: string): Promise<LeftServer> {
    const dbPath = join(this.data, of === 'home' ? 'home' : join('branches', of), 'db');
    const server = (await this.servers()).find((each) => each.dbPath === dbPath);
    if (!server) throw new Error(`no server runs on ${dbPath}`);
    return server;
  }

  /** The engine's own user. */
  async credentials(): Promise<EngineCredentials> {
    return JSON.parse(await readFile(join(this.data, 'engine.secret'), 'utf8')) as EngineCredentials;
  }

  /** A connection string with the engine's own user. */
  async insideUri(of: string): Promise<string> {
    const { user, password } = await this.credentials();
    return `mongodb://${user}:${password}@127.0.0.1:${(await this.server(of)).port}/?directConnection=true`;
  }

  /** A client with the engine's own user: what looks inside without asking the engine. Closed at the end. */
  async inside(of: string): Promise<MongoClient> {
    const client = new MongoClient(await this.insideUri(of), { appName: 'test' });
    this.clients.push(client);
    return client.connect();
  }

  /** A client with a connection string, as a user's program has it. Closed at the end. */
  async outside(
    branch: string,
    options: { appName?: string; serverSelectionTimeoutMS?: number } = {},
  ): Promise<MongoClient> {
    const { uri } = await this.call('branches.uri', { branch });
    const client = new MongoClient(uri, options);
    this.clients.push(client);
    return client.connect();
  }

  /** The engine's lock guard, a child process of it. */
  async guard(): Promise<ProcessIdentity | undefined> {
    for (const pid of await childrenOf(this.child?.pid)) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const startTime = await startTimeOf(pid);
      if (command.includes(guardName) && startTime !== undefined) return { pid, startTime };
    }
    return undefined;
  }

  /** Resolves when every guard seen so far but the running engine's has gone. */
  async oldGuardsGone(): Promise<boolean> {
    const current = await this.guard();
    const old = this.guards.filter(({ pid }) => pid !== current?.pid);
    return (await Promise.all(old.map((guard) => waitForExit(guard, 30_000)))).every(Boolean);
  }

  /** Asks the engine to stop and waits until its process has gone. */
  async down(): Promise<void> {
    const { child, connection } = this;
    // One that never came up, or answers no more, is not asked.
    if (!child || !connection) return this.kill();
    this.child = undefined;
    const ended = once(child, 'exit');
    await connection.call('engine.stop', {}).catch(() => undefined);
    await ended;
  }

  /** Ends everything; fails where the engine leaves a process behind. */
  async close(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.close()));
    if (this.child) await this.down();
    const left = await this.servers();
    for (const server of left) process.kill(server.pid, 'SIGKILL');
    await Promise.all(left.map((server) => waitForExit(server, 30_000)));
    const guards = (await this.oldGuardsGone()) ? 0 : 1;
    if (this.ownsFolder) await rm(this.data, { recursive: true, force: true });
    if (left.length + guards > 0) {
      throw new Error(`left behind: ${left.map(({ dbPath }) => dbPath).join(', ')} and ${guards} guards`);
    }
  }
}

/** Living processes whose parent is this one. */
async function childrenOf(parent: number | undefined): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      const ppid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return ppid === parent ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** True while the same process lives. */
export function stillRuns(server: ProcessIdentity): Promise<boolean> {
  return isAlive(server);
}
