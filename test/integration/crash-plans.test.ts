import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrashYard, type Victim } from '../harness/crash/crash-yard.ts';
import { PlanCrashes, type Story } from '../harness/crash/plan-crashes.ts';
import { mainWrites, planFamilies } from '../harness/crash/plan-stops.ts';
import { isChaos } from '../harness/crash/rows.ts';
import { Armed, type Stop } from '../harness/crash/stops.ts';

/** `npm run chaos` takes every step, `npm test` those named here. */
const victims = ['engine', 'main', 'home', 'sandbox'] as const;
type Who = (typeof victims)[number];

/** Which step of which kind, and who is killed there: each kind and each victim comes up. */
const chosen: Record<Story, readonly (readonly [family: number, skip: number, who: Who])[]> = {
  steps: [
    [0, 0, 'engine'],
    [0, 3, 'main'],
    [0, 6, 'home'],
    [0, 9, 'sandbox'],
    [1, 1, 'main'],
    [1, 5, 'engine'],
    [2, 0, 'engine'],
    [3, 0, 'home'],
    [3, 4, 'engine'],
    [5, 0, 'home'],
    [7, 0, 'main'],
  ],
  pieces: [
    [0, 3, 'main'],
    [3, 3, 'home'],
  ],
};

/** All that settling what a killed engine left writes; `npm test` takes the first. */
const settling: readonly ((skip: number) => Stop)[] = [
  (skip) => ({ server: 'home', ns: 'forkyard.log', commands: ['insert'], skip }),
  (skip) => ({ server: 'home', ns: 'forkyard.plans', commands: ['update'], skip }),
  (skip) => ({ server: 'main', commands: mainWrites, skip }),
];

/** Where it is killed first: in an early step, in the documents, in a late step. */
const cutOffAt = isChaos ? ['renameCollection', 'commitTransaction', 'createIndexes'] : ['commitTransaction'];

const victimOf = (crashes: PlanCrashes, who: Who): Victim => (who === 'sandbox' ? { sandbox: crashes.sandbox } : who);

describe.each(['steps', 'pieces'] as const)('a plan of many %s that is applied, and taken back', (story) => {
  let yard: CrashYard;
  let crashes: PlanCrashes;
  const begin = async () => {
    yard = await CrashYard.open();
    crashes = await PlanCrashes.open(yard, story);
    await crashes.rehearse();
  };
  beforeAll(begin);
  afterAll(() => yard.close());

  /** Both ways, one behind the other. */
  async function bothWays(family: number, skip: number, who: Who): Promise<string[]> {
    const { stop } = planFamilies[family]!;
    const found: string[] = [];
    for (let half = 0; half < 2; half += 1) {
      const way = crashes.isAdopted ? 'undo' : 'adopt';
      const { reached, command } = await crashes.turn(
        (plan) => ({ ...stop(plan, crashes.sandbox), skip }),
        victimOf(crashes, who),
      );
      if (reached) found.push(`${way} at ${command ?? 'a step of its own'}`);
    }
    return found;
  }

  if (!isChaos) {
    describe('at steps of each kind', () => {
      const named = chosen[story].map(
        ([family, skip, who]) => [who, planFamilies[family]!.name, skip + 1, family] as const,
      );
      it.each(named)(
        'is whole or not there, once, and says which: %s killed %s (%d)',
        async (who, _name, nth, family) => {
          expect(await bothWays(family, nth - 1, who)).not.toEqual([]);
        },
      );
    });
  }

  if (isChaos) {
    describe('at every step', () => {
      const every = victims.flatMap((who) => planFamilies.map(({ name }, family) => [who, name, family] as const));
      it.each(every)(
        'is whole or not there, once, and says which: %s killed %s',
        async (who, _name, family) => {
          const failed: string[] = [];
          let turns = 0;
          for (let skip = 0; ; skip += 1) {
            try {
              const found = await bothWays(family, skip, who);
              turns += found.length;
              if (found.length > 0)
                console.log(`${who}, ${planFamilies[family]!.name}, ${skip + 1}: ${found.join(', ')}`);
              if (found.length === 0) break;
            } catch (error) {
              turns += 1;
              failed.push(`${skip + 1}: ${String(error)}`);
              console.log(`DOES NOT HOLD: ${who}, ${planFamilies[family]!.name}, ${failed.at(-1)!}`);
              console.log(await yard.engineLog());
              // What it left is of no use any more.
              await yard.close().catch((problem: unknown) => console.log(String(problem)));
              await begin();
            }
          }
          console.log(`${turns} crashes`);
          expect(failed).toEqual([]);
        },
        3_600_000,
      );
    });
  }

  if (story === 'steps') {
    it.each(cutOffAt)(
      'is whole or not there, and says which once, when the engine is killed at %s and again while it settles that',
      async (command) => {
        const first: Stop = { server: 'main', commands: [command] };
        let killed = 0;
        for (const stopAt of settling.slice(0, isChaos ? undefined : 1)) {
          for (let skip = 0, reached = true; reached; skip += 1) {
            reached = false;
            for (let half = 0; half < 2; half += 1) {
              const { reachedAgain } = await crashes.turn(first, 'engine', stopAt(skip));
              if (reachedAgain) killed += 1;
              reached ||= isChaos && reachedAgain;
            }
          }
        }
        if (!isChaos) expect(killed).toBe(2);
        else console.log(`${killed} crashes`);
      },
      3_600_000,
    );

    it('what a plan had made, and somebody wrote to, stays where the engine is killed while it takes it away', async () => {
      const { engine } = yard;
      const main = await yard.inside('main');
      const items = main.db('leaving').collection('items');
      await items.insertOne({ _id: 1 as never, n: 1 });
      await engine.call('branches.fork', { name: 'leaving', ttlMs: null });
      const sandbox = (await engine.outside('leaving')).db('leaving');
      await sandbox.createCollection('made');
      await sandbox.collection('items').createIndex({ n: 1 }, { unique: true });
      const { plan } = await engine.call('plan.create', { branch: 'leaving' });
      const made = main.db('leaving').collection('made');
      // The index is refused then, and what was made before it is taken back.
      await items.insertOne({ _id: 2 as never, n: 1 });
      const index = await Armed.arm(main, { server: 'main', inside: 'hangAfterStartingIndexBuild' }, 0);
      const applying = engine.call('plan.apply', { plan }).catch((error: unknown) => error);
      expect(await index.reached(applying)).toBe(true);
      await made.insertOne({ _id: 'mine' as never });
      const goOn = () => index.disarm().then(() => applying);
      const looked: Stop = { server: 'main', ns: `leaving.forkyard.aside.${plan}.0.leaving`, commands: ['find'] };
      const crash = await yard.crash(goOn, looked, 'engine');
      expect(crash.reached).toBe(true);

      const names = (await main.db('leaving').listCollections({}, { nameOnly: true }).toArray()).map(
        ({ name }) => name,
      );
      expect(names.sort()).toEqual(['items', 'made']);
      expect(await made.find().toArray()).toEqual([{ _id: 'mine' }]);
      const said = (await engine.call('log.list', {})).filter(
        ({ kind, branch }) => kind === 'recover' && branch === 'leaving',
      );
      expect(said).toMatchObject([{ text: expect.stringMatching(/was cut off and nothing of it was applied/) }]);
      await engine.call('branches.discard', { branch: 'leaving', now: true });
      await main.db('leaving').dropDatabase();
    });
  }
});
