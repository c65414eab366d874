import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MongoClient } from 'mongodb';
import { EngineProcess } from '../engine-process.ts';
import { until } from '../until.ts';
import { Armed, useStoppableServers, type Stop } from './stops.ts';

/** Who is killed: the engine, or the server of home, of main, of a sandbox (by id), or of whatever sandboxes run then. */
export type Victim = 'engine' | 'home' | 'main' | 'sandboxes' | { readonly sandbox: string };

/** So many ends within a minute and the engine leaves a server alone: it is started anew before. */
const restartsPerMinute = 3;
/** A command that is held up while the engine dies is done later, if it is not ended. */
const heldBehindEngineMs = 2_000;
/** Another server dies meanwhile and is on its way back. */
const heldBesideMs = 700;
const heldForGoodMs = 60_000;
const loggedLines = 30;

export interface Crash<T> {
  /** False where the work ended without coming by the stop. */
  readonly reached: boolean;
  /** The command that was held up. */
  readonly command: string | undefined;
  /** What the call was answered; undefined where the engine was the victim. */
  readonly answer: { readonly value: T } | { readonly error: Error } | undefined;
}

/** An engine and servers that can be killed at a step of their work. */
export class CrashYard {
  readonly engine: EngineProcess;
  private readonly restore: () => Promise<void>;
  /** By server, with the port: one that was killed may come back with another. */
  private readonly clients = new Map<string, { readonly port: number; readonly client: MongoClient }>();
  private readonly ends = new Map<string, number>();

  private constructor(engine: EngineProcess, restore: () => Promise<void>) {
    this.engine = engine;
    this.restore = restore;
  }

  static async open(): Promise<CrashYard> {
    const restore = await useStoppableServers();
    return new CrashYard(await EngineProcess.open(), restore);
  }

  /** A server as the engine sees it: home, main or a sandbox by id. */
  async inside(of: string): Promise<MongoClient> {
    const known = this.clients.get(of);
    const { port } = await this.engine.server(of);
    if (known?.port === port) return known.client;
    const client = await this.engine.inside(of);
    this.clients.set(of, { port, client });
    return client;
  }

  /**
   * Begins work, kills the victim where the work comes by the stop, and waits until everything runs again.
   * @param whileDead what is done while the engine is dead, where that is the victim
   */
  async crash<T>(
    begin: () => Promise<T>,
    stop: Stop,
    victim: Victim,
    whileDead?: () => Promise<void>,
  ): Promise<Crash<T>> {
    await this.makeKillable(victim);
    const armed = await Armed.arm(await this.inside(stop.server), stop, holdMs(stop, victim));
    const answered = begin().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: error as Error }),
    );
    const reached = await armed.reached(answered);
    if (reached) await this.kill(victim);
    if (reached && victim === 'engine') {
      await answered;
      await whileDead?.();
      const started = this.engine.start();
      await Promise.all([started, armed.disarm()]);
    } else await armed.disarm();
    const answer = victim === 'engine' && reached ? undefined : await answered;
    await this.settled();
    return { reached, command: armed.command, answer };
  }

  /**
   * Starts an engine that was killed, and kills it again where it comes by the stop.
   * @returns whether it did; else it is ready, and was killed all the same
   */
  async killAtStart(stop: Stop): Promise<boolean> {
    const armed = await Armed.arm(await this.inside(stop.server), stop, heldBehindEngineMs);
    const started = this.engine.start();
    // Killed, it never says that it is ready.
    const ended = started.catch(() => undefined);
    const reached = await armed.reached(ended);
    await this.engine.kill();
    await ended;
    await armed.disarm();
    return reached;
  }

  /** Resolves when home answers, and every branch that is to run. */
  private async settled(): Promise<void> {
    await until('home answers', () => this.answers('home'));
    const branches = (await this.inside('home'))
      .db('forkyard')
      .collection<{ _id: string; name: string; state: string }>('branches');
    for (const { _id, name } of await branches.find().toArray()) {
      await until(`${name} answers`, async () => {
        const row = await branches.findOne({ _id });
        return row?.state !== 'live' || (await this.answers(_id));
      });
    }
  }

  /** Whether a server answers now: one that is just being stopped is not waited for. */
  private async answers(of: string): Promise<boolean> {
    let client: MongoClient | undefined;
    try {
      client = new MongoClient(await this.engine.insideUri(of), { serverSelectionTimeoutMS: 1_000 });
      await client.db('admin').command({ ping: 1 });
      return true;
    } catch {
      return false;
    } finally {
      await client?.close();
    }
  }

  /** The last lines of the engine's log: what it did about what does not hold. */
  async engineLog(): Promise<string> {
    const text = await readFile(join(this.engine.data, 'engine.log'), 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-loggedLines).join('\n');
  }

  private async kill(victim: Victim): Promise<void> {
    if (victim === 'engine') return this.engine.kill();
    const key = nameOf(victim);
    const isOthers = ({ dbPath }: { dbPath: string }) => ['home', 'main'].includes(basename(dirname(dbPath)));
    const servers =
      victim === 'sandboxes'
        ? (await this.engine.servers()).filter((server) => !isOthers(server))
        : [await this.engine.server(key)];
    for (const { pid } of servers) process.kill(pid, 'SIGKILL');
    this.ends.set(key, (this.ends.get(key) ?? 0) + 1);
  }

  private async makeKillable(victim: Victim): Promise<void> {
    if (victim !== 'engine' && (this.ends.get(nameOf(victim)) ?? 0) < restartsPerMinute) return;
    this.ends.clear();
    if (victim === 'engine') return;
    await this.engine.kill();
    await this.engine.start();
  }

  async close(): Promise<void> {
    try {
      await this.engine.close();
    } finally {
      await this.restore();
    }
  }
}

function nameOf(victim: Victim): string {
  return typeof victim === 'string' ? victim : victim.sandbox;
}

function holdMs(stop: Stop, victim: Victim): number {
  if (victim === 'engine') return heldBehindEngineMs;
  return nameOf(victim) === stop.server ? heldForGoodMs : heldBesideMs;
}
