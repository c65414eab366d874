import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrashYard, type Victim } from '../harness/crash/crash-yard.ts';
import { PlanCrashes, type Story } from '../harness/crash/plan-crashes.ts';
import { planFamilies } from '../harness/crash/plan-stops.ts';

/** `npm run chaos` takes every step, `npm test` those named here. */
const all = process.env['FORKYARD_CRASHES'] === 'all';
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

  if (!all) {
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

  if (all) {
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
});
