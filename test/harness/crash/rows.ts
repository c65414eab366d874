import { expect } from 'vitest';
import type { Crash, Victim } from './crash-yard.ts';
import type { Stop } from './stops.ts';

/** `npm run chaos` kills everybody at every step, `npm test` one at some. */
export const isChaos = process.env['FORKYARD_CRASHES'] === 'all';
/** Of one row, milliseconds. */
export const limitMs = 1_800_000;

export type Who = 'engine' | 'home' | 'main' | 'sandbox';
const everybody: readonly Who[] = ['engine', 'home', 'main', 'sandbox'];

/** Who is killed in a row of its own: these, or everybody. */
export function rows(some: readonly Who[]): readonly Who[] {
  return isChaos ? everybody : some;
}

export function victimOf(who: Who, id: string): Victim {
  return who === 'sandbox' ? { sandbox: id } : who;
}

const writes = ['insert', 'update', 'findAndModify', 'delete'];
type StopAt = (skip: number) => Stop;

/** The engine's writes to home's catalog, and to its log. */
export const atHome = {
  branches: (skip: number): Stop => ({ server: 'home', ns: 'forkyard.branches', commands: writes, skip }),
  log: (skip: number): Stop => ({ server: 'home', ns: 'forkyard.log', commands: writes, skip }),
};

/** Runs a crash at one step behind the other until it is not reached any more; at the first alone in `npm test`. */
export async function throughout(
  first: number,
  stops: readonly StopAt[],
  one: (stop: Stop) => Promise<Crash<unknown>>,
): Promise<void> {
  let reached = 0;
  for (const stopAt of stops) {
    for (let skip = first; (await one(stopAt(skip))).reached; skip += 1) {
      reached += 1;
      if (!isChaos) break;
    }
  }
  expect(reached).toBeGreaterThan(0);
}
