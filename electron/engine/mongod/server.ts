import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, startTimeOf, waitForExit, type ProcessIdentity } from './identity.ts';
import { accepts, freePort, isFree } from './ports.ts';
import { isUnexplainedAbort, portInUseExitCode, startFailure, type Exit } from './start-failure.ts';

/** The folder of one server: `db/` (the files that a fork clones), `key`, `mongod.log`. */
export interface ServerFolder {
  readonly root: string;
  readonly db: string;
  readonly key: string;
  readonly log: string;
}

export function serverFolder(root: string): ServerFolder {
  return {
    root,
    db: join(root, 'db'),
    key: join(root, 'key'),
    log: join(root, 'mongod.log'),
  };
}

export interface StartOptions {
  readonly binary: string;
  readonly folder: ServerFolder;
  /** The port of last time; taken again where it is free, so that URIs keep working. */
  readonly preferredPort?: number | undefined;
  readonly cacheGB?: number;
  readonly oplogMB?: number;
  /** Lets TTL indexes expire documents. */
  readonly ttl?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly log: (line: string) => void;
}

/** The replica set's name is the same everywhere: a clone's stored configuration carries it. */
export const replicaSetName = 'forkyard';

/** Recovery of a large journal is waited for as long as the server makes progress; this is the ceiling. */
const startDeadlineMs = 10 * 60_000;

/** One running mongod of this workspace, started here or left by an engine that was killed. */
export class Server {
  readonly folder: ServerFolder;
  readonly port: number;
  readonly identity: ProcessIdentity;
  /** Resolves when the process has gone, for whatever reason. */
  readonly exited: Promise<void>;

  constructor(folder: ServerFolder, port: number, identity: ProcessIdentity, child?: ChildProcess) {
    this.folder = folder;
    this.port = port;
    this.identity = identity;
    this.exited = child ? childExit(child) : watchExit(identity);
  }

  get pid(): number {
    return this.identity.pid;
  }

  /** Ends the process at once. Journaled writes survive it. */
  async kill(): Promise<void> {
    if (await isAlive(this.identity)) process.kill(this.pid, 'SIGKILL');
    await waitForExit(this.identity, 60_000);
  }

  /** Asks the process to stop and waits; past the deadline it is killed. */
  async stop(deadlineMs = 10_000): Promise<void> {
    if (await isAlive(this.identity)) process.kill(this.pid, 'SIGTERM');
    if (!(await waitForExit(this.identity, deadlineMs))) await this.kill();
  }
}

/**
 * Starts a server on its folder and waits until it accepts connections.
 * @throws ForkyardError `mongod_failed` with the cause, or the last lines of its log where it is no known one.
 */
export async function startServer(options: StartOptions): Promise<Server> {
  const { folder, preferredPort, binary } = options;
  await mkdir(folder.db, { recursive: true, mode: 0o700 });
  await ensureKeyFile(folder);
  let port = preferredPort !== undefined && (await isFree(preferredPort)) ? preferredPort : await freePort();
  let isAgain = false;
  for (let attempt = 0; ; attempt += 1) {
    // By the file, not by times: where the clock is set back in between, a server that runs would be waited for.
    const before = await fileOf(folder.log);
    const outcome = await launch(options, port, before);
    if (outcome instanceof Server) return outcome;
    if (outcome.code === portInUseExitCode && attempt < 10) {
      port = await freePort();
      continue;
    }
    const failed = { exit: outcome, log: (await writtenSince(folder.log, before)) ?? '', binary, folder };
    // Seen once in some thousands of starts, of a fresh clone; why is not known.
    if (isAgain || !isUnexplainedAbort(failed)) throw startFailure(failed);
    isAgain = true;
    options.log(`${startFailure(failed).message} It is started once more.`);
  }
}

/** `before` is the log as it was: what it held then is not this server's. */
async function launch(options: StartOptions, port: number, before: Stats | undefined): Promise<Server | Exit> {
  options.signal?.throwIfAborted();
  const child = spawn(options.binary, serverArguments(options, port), {
    stdio: 'ignore',
    // Ctrl-C in a terminal goes to the whole group: the engine stops its servers itself, in order.
    detached: true,
    windowsHide: true,
  });
  let exit: Exit | undefined;
  child.once('error', (spawnError) => (exit = { code: null, signal: null, spawnError }));
  child.once('exit', (code, signal) => (exit ??= { code, signal }));
  const { pid } = child;
  const startTime = pid === undefined ? undefined : await startTimeOf(pid);
  const deadline = performance.now() + startDeadlineMs;
  for (;;) {
    if (exit) return exit;
    // What accepts may be another program that took the port in between: then ours is about to exit with 48.
    if ((await accepts(port)) && (await saysItListens(options.folder.log, port, before))) break;
    if (options.signal?.aborted || performance.now() > deadline) {
      child.kill('SIGKILL');
      await childExit(child);
      options.signal?.throwIfAborted();
      return { code: null, signal: 'SIGKILL', late: true };
    }
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  if (exit) return exit;
  if (pid === undefined || startTime === undefined) return { code: null, signal: null };
  child.unref();
  return new Server(options.folder, port, { pid, startTime }, child);
}

const engineConfig = [
  // An empty node is 9 MB instead of 315: every clone copies its journal.
  'log=(prealloc=false,file_max=8MB)',
  // 90 MB of memory a node instead of 121: sessions are laid out at the start.
  'session_max=5000',
  // An adoption of 10,000 documents holds more unwritten pages than a cache of 0.25 GB takes by default before the server
  // rolls its transaction back.
  'eviction_dirty_target=50,eviction_dirty_trigger=80',
  'eviction_updates_target=50,eviction_updates_trigger=80',
];

function serverArguments(options: StartOptions, port: number): string[] {
  const { folder, cacheGB = 0.25, oplogMB = 256, ttl = false } = options;
  return [
    ...['--dbpath', folder.db],
    ...['--port', String(port)],
    ...['--bind_ip', '127.0.0.1'],
    ...['--replSet', replicaSetName],
    ...['--keyFile', folder.key],
    ...['--logpath', folder.log, '--quiet'],
    ...['--wiredTigerCacheSizeGB', String(cacheGB)],
    ...['--wiredTigerEngineConfigString', engineConfig.join(',')],
    // Fewer than the sessions above, each of which a connection may need.
    ...['--maxConns', '4000'],
    // Passwords are random, so stretching them buys nothing: 5,000 rounds instead of 15,000 for every connection.
    ...['--setParameter', 'scramSHA256IterationCount=5000'],
    // Change streams show only journaled writes: 5 ms instead of 100 until a write with w: 1 is seen.
    ...['--journalCommitInterval', '3'],
    ...['--oplogSize', String(oplogMB)],
    ...['--setParameter', `ttlMonitorEnabled=${ttl}`],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=0'],
    ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
  ];
}

/** A key of its own for every server: with a shared one, a clone would authenticate at its parent while it boots. */
async function ensureKeyFile(folder: ServerFolder): Promise<void> {
  if ((await readFile(folder.key).catch(() => undefined))?.length) return;
  const half = `${folder.key}.${process.pid}`;
  await writeFile(half, randomBytes(96).toString('base64'), { mode: 0o600 });
  await chmod(half, 0o600);
  await rename(half, folder.key);
}

const waitingForConnections = 23016;

/** Whether a server has told its log that it listens on the port; what the file held `before` it was started does not count. */
async function saysItListens(log: string, port: number, before: Stats | undefined): Promise<boolean> {
  const text = await writtenSince(log, before);
  if (text === undefined) return false;
  return text.split('\n').some((line) => {
    if (!line.includes(`"id":${waitingForConnections},`) || !line.endsWith('}')) return false;
    const { attr } = JSON.parse(line) as { attr: { port: number } };
    return attr.port === port;
  });
}

/** What a log got since it was `before`; undefined where there is none. */
async function writtenSince(log: string, before: Stats | undefined): Promise<string | undefined> {
  // In this order: a server puts an older log aside and begins a new file, at any moment.
  const now = await fileOf(log);
  const bytes = now && (await readFile(log).catch(() => undefined));
  return now && bytes?.subarray(now.ino === before?.ino ? before.size : 0).toString('utf8');
}

function fileOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

function childExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Not our child, so the system does not tell us: look twice a second. */
async function watchExit(identity: ProcessIdentity): Promise<void> {
  while (await isAlive(identity)) {
    await new Promise<void>((resolve) => setTimeout(resolve, 500).unref());
  }
}
