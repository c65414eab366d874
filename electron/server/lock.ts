/**
 * One engine for a data folder.
 *
 * Claims are files `engine.claim-N`, each made by link() from a private file, so that it is there whole or not at all.
 * The highest N decides; it is never removed, so numbers only grow and two processes that find the same dead owner cannot
 * both follow it: both try to link N + 1 and one succeeds. A clean stop marks the claim as released.
 */
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { ForkyardError } from '../../shared/errors.ts';
import { pointerFile } from '../local/data.ts';
import type { EnginePointer } from '../local/data.ts';
import { isAlive, startTimeOf } from '../engine/mongod/identity.ts';

export interface EngineLock {
  /** Writes `engine.json`: from now on others find this engine. Call it once the socket listens. */
  announce(): Promise<void>;
  /** Takes `engine.json` away and lets who wants the folder wait for the release. Call it when the stop begins. */
  retire(): Promise<void>;
  /** Gives the folder to the next engine. */
  release(): Promise<void>;
}

interface Claim extends EnginePointer {
  /** On its way out: whoever wants the folder waits. */
  readonly retiring?: true;
  readonly released?: true;
}

const retiringPollMs = 20;
const claimName = /^engine\.claim-(\d+)$/;
const privateName = /^engine\.private-(\d+)-/;

/**
 * Takes the data folder (real path) for this process; waits for an engine that is just stopping. Throws `engine_running`
 * where another living engine has it.
 */
export async function lockDataFolder(data: string, socket: string): Promise<EngineLock> {
  const startTime = await startTimeOf(process.pid);
  if (startTime === undefined) throw new Error('this process has no start time');
  const own: Claim = { pid: process.pid, startTime, socket };

  for (;;) {
    const last = await highestClaim(data);
    if (last > 0) {
      const claim = await readClaim(data, last);
      // Gone or still unread: a newer owner is tidying up. Look again.
      if (claim === undefined) continue;
      if (await holds(claim)) {
        if (claim.retiring !== true) throw running(claim, data);
        await delay(retiringPollMs);
        continue;
      }
    }
    const mine = last + 1;
    if (!(await linkClaim(data, mine, own))) continue;
    // A number can be free again only where a higher one was claimed since we looked.
    if ((await highestClaim(data)) > mine) {
      await rm(claimPath(data, mine), { force: true });
      continue;
    }
    await tidy(data, mine);
    return {
      announce: () => replaceFile(data, pointerFile(data), own),
      async retire() {
        await rm(pointerFile(data), { force: true });
        await replaceFile(data, claimPath(data, mine), { ...own, retiring: true });
      },
      async release() {
        await replaceFile(data, claimPath(data, mine), { ...own, released: true });
      },
    };
  }
}

const claimPath = (data: string, number: number): string => join(data, `engine.claim-${number}`);

async function claims(data: string): Promise<number[]> {
  const names = await readdir(data);
  return names.flatMap((name) => Number(claimName.exec(name)?.[1] ?? []));
}

async function highestClaim(data: string): Promise<number> {
  return Math.max(0, ...(await claims(data)));
}

async function readClaim(data: string, number: number): Promise<Claim | undefined> {
  try {
    return JSON.parse(await readFile(claimPath(data, number), 'utf8')) as Claim;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    // Cut short by a crash of the machine: its owner went with it.
    if (error instanceof SyntaxError) return { pid: 0, startTime: '', socket: '', released: true };
    throw error;
  }
}

/**
 * Whether the owner still works: its process lives, or its socket answers. The second finds an engine whose process
 * cannot be seen from here, as in another container that shares the folder.
 */
async function holds(claim: Claim): Promise<boolean> {
  if (claim.released === true) return false;
  return (await isAlive(claim)) || (await answers(claim.socket));
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    const settle = (answer: boolean) => () => {
      connection.destroy();
      resolve(answer);
    };
    connection.once('connect', settle(true));
    connection.once('error', settle(false));
  });
}

async function privateFile(data: string, claim: Claim): Promise<string> {
  const path = join(data, `engine.private-${process.pid}-${randomBytes(6).toString('hex')}`);
  await writeFile(path, JSON.stringify(claim), { mode: 0o600, flag: 'wx' });
  return path;
}

/** False where the number was taken in the meantime. */
async function linkClaim(data: string, number: number, claim: Claim): Promise<boolean> {
  const path = await privateFile(data, claim);
  try {
    await link(path, claimPath(data, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

async function replaceFile(data: string, target: string, claim: Claim): Promise<void> {
  await rename(await privateFile(data, claim), target);
}

/** Removes older claims, and what a process that died between two of the steps above left behind. */
async function tidy(data: string, mine: number): Promise<void> {
  const names = await readdir(data);
  for (const name of names) {
    const claimed = claimName.exec(name);
    const left = privateName.exec(name);
    const dead = left !== null && (await startTimeOf(Number(left[1]))) === undefined;
    if (dead || (claimed !== null && Number(claimed[1]) < mine)) await rm(join(data, name), { force: true });
  }
}

function running(claim: Claim, data: string): ForkyardError {
  return new ForkyardError('engine_running', `An engine (process ${claim.pid}) already works on ${data}.`, {
    hint: 'Use that one, stop it with `forkyard down`, or choose another folder with --data.',
    details: { pid: claim.pid, data },
  });
}
