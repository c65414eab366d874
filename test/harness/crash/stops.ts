import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document, MongoClient } from 'mongodb';
import { resolveMongod } from '../../../electron/engine/mongod/binary/resolve.ts';
import { engineProgram } from '../../../electron/engine/mongod/replica.ts';

/**
 * Has every engine that is started from here on run its servers with the server's own test commands, by which a command can
 * be held up right before it is done. The engine is the one that is shipped: nothing in it knows.
 * @returns what takes it back
 */
export async function useStoppableServers(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'fy-mongod-'));
  const { path } = await resolveMongod({ dataDir: folder });
  const script = join(folder, 'mongod-with-stops');
  await writeFile(script, `#!/bin/sh\nexec '${path}' --setParameter enableTestCommands=1 "$@"\n`);
  await chmod(script, 0o755);
  const before = { FORKYARD_MONGOD: process.env['FORKYARD_MONGOD'], FORKYARD_CACHE: process.env['FORKYARD_CACHE'] };
  Object.assign(process.env, { FORKYARD_MONGOD: script, FORKYARD_CACHE: folder });
  return async () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await rm(folder, { recursive: true, force: true });
  };
}

/** Where the engine is stopped: a command that it sends to one of its servers, right before the server does it. */
export interface Stop {
  /** Home, main, or a sandbox by id. */
  readonly server: string;
  readonly commands?: readonly string[];
  /** Only of this collection. */
  readonly ns?: string;
  /** A point inside the server, instead of a command. */
  readonly inside?: 'hangBeforeWaitingForWriteConcern' | 'hangAfterStartingIndexBuild';
  /** Not the first such command, but the one after so many. */
  readonly skip?: number;
}

const patienceMs = 60_000;

/** One armed stop. */
export class Armed {
  /** The command that is held up, as far as the server tells. */
  command: string | undefined;
  private readonly admin: MongoClient;
  private readonly point: string;
  private readonly from: number;

  private constructor(admin: MongoClient, point: string, from: number) {
    this.admin = admin;
    this.point = point;
    this.from = from;
  }

  /** @param holdMs how long the command is held up */
  static async arm(admin: MongoClient, stop: Stop, holdMs: number): Promise<Armed> {
    const point = stop.inside ?? 'failCommand';
    const data: Document = {
      failCommands: stop.commands ?? [],
      appName: engineProgram,
      blockConnection: true,
      blockTimeMS: holdMs,
      ...(stop.ns === undefined ? {} : { namespace: stop.ns }),
    };
    const mode = stop.skip ? { skip: stop.skip } : stop.inside ? 'alwaysOn' : { times: 1 };
    const { count } = await admin
      .db('admin')
      .command({ configureFailPoint: point, mode, ...(stop.inside ? {} : { data }) });
    return new Armed(admin, point, Number(count));
  }

  /** Resolves with whether the command came, as soon as it did or `over` has ended without it. */
  async reached(over: Promise<unknown>): Promise<boolean> {
    let ended = false;
    const end = over.then(
      () => (ended = true),
      () => (ended = true),
    );
    while (!ended) {
      if ((await Promise.race([this.came(patienceMs), end.then(() => undefined)])) !== true) continue;
      this.command = await this.heldUp();
      return true;
    }
    // The news of both may have come together.
    return this.came(1);
  }

  private async came(withinMs: number): Promise<boolean> {
    const wait = { waitForFailPoint: this.point, timesEntered: this.from + 1, maxTimeMS: withinMs };
    return this.admin
      .db('admin')
      .command(wait)
      .then(
        () => true,
        () => false,
      );
  }

  private async heldUp(): Promise<string | undefined> {
    const running = await this.admin
      .db('admin')
      .aggregate([
        { $currentOp: { allUsers: true } },
        { $match: { appName: engineProgram, active: true, 'command.hello': { $exists: false } } },
        { $match: { 'command.getMore': { $exists: false }, 'command.aggregate': { $exists: false } } },
      ])
      .toArray();
    const [name] = Object.keys((running[0]?.['command'] as Document | undefined) ?? {});
    return name;
  }

  /** Lets everything go on. A server that was killed has no stops any more. */
  async disarm(): Promise<void> {
    await this.admin
      .db('admin')
      .command({ configureFailPoint: this.point, mode: 'off' })
      .catch(() => undefined);
  }
}
