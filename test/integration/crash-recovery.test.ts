import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrashYard } from '../harness/crash/crash-yard.ts';
import { PlanCrashes } from '../harness/crash/plan-crashes.ts';
import { mainWrites } from '../harness/crash/plan-stops.ts';
import { Armed, type Stop } from '../harness/crash/stops.ts';

/** `npm run chaos` kills the engine again at every step of settling what it left, `npm test` at that which says it. */
const all = process.env['FORKYARD_CRASHES'] === 'all';

let yard: CrashYard;
let crashes: PlanCrashes;
beforeAll(async () => {
  yard = await CrashYard.open();
  crashes = await PlanCrashes.open(yard, 'steps');
  await crashes.rehearse();
});
afterAll(() => yard.close());

/** All that settling writes. */
const settling: readonly ((skip: number) => Stop)[] = [
  (skip) => ({ server: 'home', ns: 'forkyard.log', commands: ['insert'], skip }),
  (skip) => ({ server: 'home', ns: 'forkyard.plans', commands: ['update'], skip }),
  (skip) => ({ server: 'main', commands: mainWrites, skip }),
];

/** Where the engine is killed first: an early step, the documents, a late step. */
const firsts: readonly (readonly [commands: readonly string[], skip: number])[] = all
  ? mainWrites.flatMap((command) => [[[command], 0] as const, [[command], 1] as const])
  : [[['commitTransaction'], 0]];

describe('an engine that is killed, and killed again while it settles what it left', () => {
  it.each(firsts)(
    'leaves the plan whole or not there, and says which once: first at %s (%d)',
    async (commands, skip) => {
      let killed = 0;
      for (const stopAt of settling.slice(0, all ? undefined : 1)) {
        for (let again = 0; ; again += 1) {
          // Both ways, one behind the other.
          let reached = 0;
          for (let half = 0; half < 2; half += 1) {
            const first: Stop = { server: 'main', commands, skip };
            const { reachedAgain } = await crashes.turn(first, 'engine', stopAt(again));
            if (reachedAgain) reached += 1;
          }
          killed += reached;
          if (reached === 0 || !all) break;
        }
      }
      if (!all) expect(killed).toBe(2);
    },
    3_600_000,
  );
});

it('what a plan had made, and somebody wrote to, stays where the engine is killed while it takes it away', async () => {
  const { engine } = yard;
  const main = await yard.inside('main');
  const rows = [1, 2].map((_id) => ({ _id: _id as never, n: _id }));
  await main.db('leaving').collection('items').insertMany(rows);
  await engine.call('branches.fork', { name: 'leaving', ttlMs: null });
  const sandbox = (await engine.outside('leaving')).db('leaving');
  await sandbox.createCollection('made');
  await sandbox.collection('items').createIndex({ n: 1 }, { unique: true });
  const { plan } = await engine.call('plan.create', { branch: 'leaving' });
  // The index is refused then, and what was made before it is taken back.
  await main
    .db('leaving')
    .collection('items')
    .insertOne({ _id: 3 as never, n: 1 });

  const made = main.db('leaving').collection('made');
  const index = await Armed.arm(main, { server: 'main', commands: ['createIndexes'] }, 1_500);
  const apply = () => engine.call('plan.apply', { plan });
  const looked: Stop = { server: 'main', ns: `leaving.forkyard.aside.${plan}.0.leaving`, commands: ['find'] };
  const applying = apply().catch((error: unknown) => error);
  expect(await index.reached(applying)).toBe(true);
  await made.insertOne({ _id: 'mine' as never });
  const crash = await yard.crash(() => applying, looked, 'engine');
  expect(crash.reached).toBe(true);

  const names = (await main.db('leaving').listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  expect(names.sort()).toEqual(['items', 'made']);
  expect(await made.find().toArray()).toEqual([{ _id: 'mine' }]);
  const said = (await engine.call('log.list', {})).filter(
    ({ kind, branch }) => kind === 'recover' && branch === 'leaving',
  );
  expect(said).toMatchObject([{ text: expect.stringMatching(/was cut off and nothing of it was applied/) }]);
});
