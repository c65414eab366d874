import type { Stop } from './stops.ts';

/** Everything by which the engine changes what main holds. */
export const mainWrites: readonly string[] = [
  'renameCollection',
  'applyOps',
  'create',
  'drop',
  'collMod',
  'createIndexes',
  'dropIndexes',
  'insert',
  'update',
  'delete',
  'commitTransaction',
];

/** Stops of one kind: the first such command, the second, and so on until no more come. */
export interface Family {
  readonly name: string;
  readonly stop: (plan: string, sandbox: string) => Stop;
}

/** All that is written, in main or in home, while a plan is applied: every step of it lies between two of these. */
export const planFamilies: readonly Family[] = [
  { name: 'before main does it', stop: () => ({ server: 'main', commands: mainWrites }) },
  { name: 'done in main, not answered', stop: () => ({ server: 'main', inside: 'hangBeforeWaitingForWriteConcern' }) },
  { name: 'within an index build', stop: () => ({ server: 'main', inside: 'hangAfterStartingIndexBuild' }) },
  {
    name: 'before the plan’s progress is noted',
    stop: () => ({ server: 'home', ns: 'forkyard.plans', commands: ['update'] }),
  },
  {
    name: 'before a dropped collection is kept',
    stop: (plan) => ({ server: 'home', ns: `plans.kept_${plan}_0`, commands: ['insert'] }),
  },
  {
    name: 'before bases of documents move',
    stop: (_plan, sandbox) => ({ server: 'home', ns: `history.touched_${sandbox}`, commands: ['update'] }),
  },
  {
    name: 'before the base of the schema moves',
    stop: () => ({ server: 'home', ns: 'forkyard.schemas', commands: ['update'] }),
  },
  {
    name: 'before the log says it',
    stop: () => ({ server: 'home', ns: 'forkyard.log', commands: ['insert', 'update'] }),
  },
];
