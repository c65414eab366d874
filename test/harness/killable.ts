import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import type { Input, Method, Output } from '../../shared/api.ts';
import { connect } from '../../shared/rpc/connect.ts';
import type { Client } from '../../shared/rpc/connect.ts';
import { findEngine } from '../../electron/local/find.ts';
import { streamTransport } from '../../electron/local/ndjson.ts';
import { until } from './until.ts';
import { isAlive, startTimeOf, type ProcessIdentity } from '../../electron/engine/mongod/identity.ts';

const program = fileURLToPath(new URL('../../dist/engine/engine.js', import.meta.url));

/** The built engine as a process of its own, which a test may kill and start again on the same data. */
export class KillableYard {
  readonly data: string;
  private engine: { readonly client: Client; readonly identity: ProcessIdentity } | undefined;
  private readonly clients: MongoClient[] = [];

  private constructor(data: string) {
    this.data = data;
  }

  static async open(): Promise<KillableYard> {
    const yard = new KillableYard(await realpath(await mkdtemp(join(tmpdir(), 'fy-'))));
    await yard.start();
    return yard;
  }

  /** Starts an engine and waits until it is ready. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [program, '--data', this.data, '--report'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let last = '';
    for await (const line of createInterface({ input: child.stdout })) {
      last = line;
      if (!('log' in (JSON.parse(line) as object))) break;
    }
    if (!('ready' in (JSON.parse(last || '{}') as object))) throw new Error(`the engine did not start: ${last}`);
    const identity = { pid: child.pid!, startTime: (await startTimeOf(child.pid!)) ?? 'gone' };
    const socket = await findEngine(this.data);
    this.engine = { client: connect(streamTransport(socket!)), identity };
  }

  get pid(): number {
    return this.running.identity.pid;
  }

  private get running() {
    if (!this.engine) throw new Error('the engine does not run');
    return this.engine;
  }

  call<M extends Method>(method: M, input: Input<M>): Promise<Output<M>> {
    return this.running.client.call(method, input);
  }

  /** A program's own client; closed with the yard. It outlives the engine, as the servers do. */
  async client(branch: string, actor?: string, options: { w?: number } = {}): Promise<MongoClient> {
    const { uri } = await this.call('branches.uri', { branch, ...(actor === undefined ? {} : { actor }) });
    const client = await new MongoClient(uri, options).connect();
    this.clients.push(client);
    return client;
  }

  /** kill -9 of the engine alone; resolves when it is gone. Its servers go on. */
  async kill(): Promise<void> {
    const { identity, client } = this.running;
    this.engine = undefined;
    process.kill(identity.pid, 'SIGKILL');
    await until('the end of the killed engine', async () => !(await isAlive(identity)));
    client.close();
  }

  /** A clean stop; resolves when the process has gone. */
  async stop(): Promise<void> {
    const { identity, client } = this.running;
    this.engine = undefined;
    await client.call('engine.stop', {});
    await until('the end of the engine', async () => !(await isAlive(identity)));
  }

  async log(): Promise<string> {
    return readFile(join(this.data, 'engine.log'), 'utf8');
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    if (!this.engine) await this.start();
    await this.stop();
    await rm(this.data, { recursive: true, force: true });
  }
}

/** Living processes whose `--dbpath` is in this folder, by pid. */
export async function serversIn(folder: string): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const args = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const path = args[args.indexOf('--dbpath') + 1];
    if (args.includes('--dbpath') && path?.startsWith(`${folder}/`)) found.set(Number(name), path);
  }
  return found;
}

/** A process of another program; ended by `end`. */
export function otherProgram(...args: string[]) {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', '--', ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return {
    pid: child.pid!,
    running: () => child.exitCode === null && child.signalCode === null,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
