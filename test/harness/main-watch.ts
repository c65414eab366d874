import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MongoClient } from 'mongodb';
import type { BranchRecord } from '../../electron/engine/home/records.ts';
import { isAlive, type LeftServer } from '../../electron/engine/mongod/identity.ts';
import type { EngineProcess } from './engine-process.ts';
import { MainWriter } from './main-writer.ts';

/** Nobody waits longer for main than this, beyond what a copy takes and what a server waits that nobody touches. */
const stallMs = 500;

/** One writer lock of main, from its own log; times in milliseconds since 1970. */
interface WriterLock {
  readonly askedAt: number;
  readonly lockedAt: number;
  /** Undefined while it is held. */
  readonly unlockedAt: number | undefined;
}

/** A writer on main, and everything that must hold for main and its engine's folder whatever the engine goes through. */
export class MainWatch {
  readonly writer: MainWriter;
  /** Main, as its engine sees it: can look at locks and operations. */
  readonly main: MongoClient;
  readonly home: MongoClient;
  /** Writes to home, which no fork locks: what it has to wait for is the machine's doing. */
  private readonly control: MainWriter;
  private readonly engine: EngineProcess;
  private readonly server: LeftServer;
  private seenLocks = 0;

  private constructor(
    engine: EngineProcess,
    server: LeftServer,
    main: MongoClient,
    home: MongoClient,
    writer: MainWriter,
    control: MainWriter,
  ) {
    this.engine = engine;
    this.server = server;
    this.main = main;
    this.home = home;
    this.writer = writer;
    this.control = control;
  }

  static async start(engine: EngineProcess): Promise<MainWatch> {
    const { uri } = await engine.call('branches.uri', { branch: 'main' });
    const writer = await MainWriter.start(uri);
    const control = await MainWriter.start(await engine.insideUri('home'), 5);
    const [main, home] = await Promise.all([engine.inside('main'), engine.inside('home')]);
    return new MainWatch(engine, await engine.server('main'), main, home, writer, control);
  }

  async stop(): Promise<void> {
    await Promise.all([this.writer.stop(), this.control.stop()]);
  }

  /** Whoever had to wait until now is not looked at any more. */
  forgetStalls(): void {
    this.writer.takeLongestStall();
    this.control.takeLongestStall();
  }

  /** All writer locks of main so far. */
  async locks(): Promise<WriterLock[]> {
    return writerLocks(await readFile(join(this.engine.data, 'branches', 'main', 'mongod.log'), 'utf8'));
  }

  async isLocked(): Promise<boolean> {
    return (await this.main.db('admin').command({ currentOp: 1 }))['fsyncLock'] === true;
  }

  branches(): Promise<BranchRecord[]> {
    return this.home.db('forkyard').collection<BranchRecord>('branches').find().toArray();
  }

  /**
   * What went wrong since the last look, a sentence each: nothing, it is hoped. Call it with the engine running and at
   * rest. `killedAt` is when the engine was killed, if it was: a lock then is no copy any more. `beyondMs` is how long a
   * writer may have waited beyond the copy.
   */
  async harm({ killedAt = Number.POSITIVE_INFINITY, beyondMs = stallMs } = {}): Promise<string[]> {
    await this.writer.writes(3);
    const stall = this.writer.takeLongestStall();
    const controlMs = this.control.takeLongestStall();
    const locks = (await this.locks()).slice(this.seenLocks);
    this.seenLocks += locks.length;
    const copies = locks.map(({ lockedAt, unlockedAt = Date.now() }) => Math.min(unlockedAt, killedAt) - lockedAt);
    const copyMs = Math.max(0, ...copies);
    const lost = await this.writer.lost();
    return [
      ...((await isAlive(this.server)) ? [] : ['the server of main was ended']),
      ...this.writer.failures.splice(0).map((failure) => `a write failed: ${failure}`),
      ...(lost.length > 0 ? [`${lost.length} writes lost: ${lost.slice(0, 3).join('; ')}`] : []),
      ...(stall > beyondMs + copyMs + controlMs
        ? [
            `a writer waited ${Math.round(stall)} ms, one of home ${Math.round(controlMs)} ms; locks: ${JSON.stringify(locks)}`,
          ]
        : []),
      ...((await this.isLocked()) ? ['main is locked'] : []),
      ...(await this.halfMade()),
    ];
  }

  /** Rows, files, histories and processes that do not belong together. */
  private async halfMade(): Promise<string[]> {
    const { data } = this.engine;
    const rows = await this.branches();
    const known = new Set(rows.map(({ _id }) => _id));
    const live = rows.filter(({ state }) => state === 'live').map(({ _id }) => _id);
    const running = (await this.engine.servers()).map(({ dbPath }) => basename(dirname(dbPath)));
    const histories = await this.home.db('history').listCollections({}, { nameOnly: true }).toArray();
    const captures = await this.home.db('forkyard').collection<{ _id: string }>('capture').find().toArray();
    return [
      ...rows.filter(({ state }) => state === 'starting').map(({ name }) => `${name} is in the making`),
      ...rows.filter(({ state }) => state === 'failed').map(({ name, note }) => `${name} failed: ${note}`),
      ...(await readdir(join(data, 'branches'))).filter((name) => !known.has(name)).map((name) => `files ${name}`),
      ...(await readdir(join(data, 'trash'))).filter((name) => !known.has(name)).map((name) => `trash ${name}`),
      ...histories.filter(({ name }) => !known.has(name.split('_')[1] ?? '')).map(({ name }) => `history ${name}`),
      ...captures.filter(({ _id }) => !known.has(_id)).map(({ _id }) => `capture of ${_id}`),
      ...differing(running, ['home', ...live]),
    ];
  }
}

function differing(running: readonly string[], wanted: readonly string[]): string[] {
  const more = running.filter((name, index) => !wanted.includes(name) || running.indexOf(name) !== index);
  const missing = wanted.filter((name) => !running.includes(name));
  return [...more.map((name) => `a server of ${name} too many`), ...missing.map((name) => `no server of ${name}`)];
}

/** The messages by which a server tells of a lock: asked for, had, ended. */
const asked = 20461;
const had = 20462;
const ended = 20466;

function writerLocks(log: string): WriterLock[] {
  const locks: WriterLock[] = [];
  let askedAt = 0;
  for (const line of log.split('\n')) {
    if (!line.includes('"COMMAND"')) continue;
    const { id, t, attr } = parsed(line);
    if (id === asked && attr?.lock === true) askedAt = Date.parse(t.$date);
    else if (id === had) locks.push({ askedAt, lockedAt: Date.parse(t.$date), unlockedAt: undefined });
    else if (id === ended) locks.push({ ...locks.pop()!, unlockedAt: Date.parse(t.$date) });
  }
  return locks;
}

interface LogLine {
  readonly id?: number;
  readonly t: { readonly $date: string };
  readonly attr?: { readonly lock?: boolean };
}

/** The last line may still be being written. */
function parsed(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { t: { $date: '' } };
  }
}
