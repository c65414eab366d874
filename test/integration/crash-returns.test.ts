import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BranchCrashes } from '../harness/crash/branch-crashes.ts';
import { CrashYard } from '../harness/crash/crash-yard.ts';
import type { Stop } from '../harness/crash/stops.ts';
import { atHome, isChaos, limitMs, rows, throughout, victimOf } from '../harness/crash/rows.ts';

/** What gives a branch another state, or looks at all of it, while somebody is killed in it. */
let yard: CrashYard;
let crashes: BranchCrashes;
beforeAll(async () => {
  yard = await CrashYard.open();
  crashes = await BranchCrashes.open(yard);
});
afterAll(() => yard.close());

describe('a reset', () => {
  it.each(rows(['engine', 'home', 'sandbox']))(
    'has given the name to one of both, whole, and says which, with %s killed in it; and so has its undo',
    async (who) => {
      const lock = (skip: number): Stop => ({ server: 'main', commands: ['fsync'], skip });
      await throughout(
        0,
        who === 'main' ? [lock] : isChaos ? [atHome.branches, atHome.log] : [atHome.log],
        async (stop) => {
          const { name, id, uri, contents } = await crashes.sandbox();
          // The one that goes, or the one that comes.
          const victim = who === 'sandbox' ? 'sandboxes' : who;
          const crash = await crashes.crash(() => yard.engine.call('branches.reset', { branch: name }), stop, victim);
          let now = (await crashes.live(name))!;
          const isReset = now._id !== id;
          const entries = (await crashes.log(now._id)).filter(({ kind }) => kind === 'reset');
          expect(entries).toHaveLength(isReset ? 1 : 0);
          if (crash.answer) expect('value' in crash.answer).toBe(isReset);
          expect(await crashes.holds(now._id)).toEqual(isReset ? crashes.main : contents);
          expect((await yard.engine.call('branches.uri', { branch: name })).uri).toBe(uri);
          expect(await crashes.halfMade()).toEqual([]);

          if (!isReset) await yard.engine.call('branches.reset', { branch: name });
          now = (await crashes.live(name))!;
          expect(await crashes.holds(now._id)).toEqual(crashes.main);
          const [entry] = (await crashes.log(now._id)).filter(({ kind }) => kind === 'reset');
          const back = await crashes.crash(
            () => yard.engine.call('log.undo', { entry: entry!.entry }),
            stop.server === 'main' ? atHome.branches(stop.skip ?? 0) : stop,
            victim,
          );
          const after = (await crashes.live(name))!;
          const isBack = after._id === id;
          if (back.answer) expect('value' in back.answer).toBe(isBack);
          if (!isBack) await yard.engine.call('log.undo', { entry: entry!.entry });
          expect(await crashes.live(name)).toMatchObject({ _id: id });
          expect(await crashes.holds(id)).toEqual(contents);
          expect((await yard.engine.call('branches.uri', { branch: name })).uri).toBe(uri);
          for (const { name: left } of await yard.engine.call('branches.list', {}))
            if (left !== 'main') await yard.engine.call('branches.discard', { branch: left, now: true });
          expect(await crashes.halfMade()).toEqual([]);
          return crash;
        },
      );
    },
    limitMs,
  );
});

describe('a restore', () => {
  const plansAt = (skip: number): Stop => ({ server: 'home', ns: 'forkyard.plans', commands: ['update'], skip });

  it.each(rows(['sandbox']))(
    'in place is whole or not there, and says which, with %s killed in it; and so is an undo of changes',
    async (who) => {
      const { name, id, contents } = await crashes.sandbox();
      const commitAt = (skip: number): Stop => ({ server: id, commands: ['commitTransaction'], skip });
      for (const what of ['restore', 'undo'] as const) {
        await throughout(
          what === 'restore' ? 0 : 1,
          [plansAt, ...(what === 'restore' ? [commitAt] : [])],
          async (stop) => {
            const { plan } =
              what === 'restore'
                ? await yard.engine.call('restore.plan', { branch: name, to: { seq: 0 } })
                : await yard.engine.call('changes.undo', { branch: name, what: { from: 1, to: 500 } });
            const known = (await crashes.log(id)).map(({ entry }) => entry);
            const crash = await crashes.crash(() => yard.engine.call('plan.apply', { plan }), stop, victimOf(who, id));
            expect(await crashes.live(name)).toMatchObject({ _id: id });
            const held = await crashes.holds(id);
            const said = (await crashes.log(id)).filter(({ entry }) => !known.includes(entry));
            const isWhole = said.some(({ undoable }) => undoable);
            expect(said.length).toBeLessThanOrEqual(1);
            expect(held).toEqual(isWhole ? crashes.main : contents);
            if (crash.answer) expect('value' in crash.answer).toBe(isWhole);
            const { entry } = isWhole ? said[0]! : await yard.engine.call('plan.apply', { plan });
            expect(await crashes.holds(id)).toEqual(crashes.main);
            await yard.engine.call('log.undo', { entry: entry! });
            expect(await crashes.holds(id)).toEqual(contents);
            return crash;
          },
        );
      }
      await yard.engine.call('branches.discard', { branch: name, now: true });
    },
    limitMs,
  );

  it.each(rows(['engine']))(
    'to a new branch is whole, or there is no such branch, with %s killed in it',
    async (who) => {
      const { name, id } = await crashes.sandbox();
      await throughout(0, [plansAt, atHome.branches], async (stop) => {
        const as = `${name}-then`;
        const crash = await crashes.crash(
          () => yard.engine.call('restore.branch', { branch: name, to: { seq: 0 }, as }),
          stop,
          victimOf(who, id),
        );
        const made = await crashes.live(as);
        if (crash.answer) expect('value' in crash.answer).toBe(made !== undefined);
        if (made) expect(await crashes.holds(made._id)).toEqual(crashes.main);
        else await yard.engine.call('restore.branch', { branch: name, to: { seq: 0 }, as });
        expect(await crashes.holds((await crashes.live(as))!._id)).toEqual(crashes.main);
        await yard.engine.call('branches.discard', { branch: as, now: true });
        expect(await crashes.halfMade()).toEqual([]);
        return crash;
      });
      await yard.engine.call('branches.discard', { branch: name, now: true });
    },
    limitMs,
  );
});

describe('a verification', () => {
  it.each(rows(['main']))(
    'says that a server ended with %s killed in it, adds nothing to the history, and can be done again',
    async (who) => {
      const { name, id } = await crashes.sandbox();
      // Collections are read by their UUIDs, which the server does not take for one of a name.
      const readAt = (skip: number): Stop => ({ server: 'main', commands: ['find'], skip });
      await throughout(0, [readAt], async (stop) => {
        const crash = await crashes.crash(
          () => yard.engine.call('branches.verify', { branch: name }),
          stop,
          victimOf(who, id),
        );
        if (crash.answer && 'error' in crash.answer)
          expect(crash.answer.error).toMatchObject({
            code: expect.stringMatching(/mongod_failed|branch_not_live/),
            retry: true,
          });
        if (crash.answer && 'value' in crash.answer)
          expect(crash.answer.value).toMatchObject({ differences: { count: 0 } });
        await crashes.live(name);
        expect(await yard.engine.call('branches.verify', { branch: name })).toMatchObject({
          exact: true,
          parentExact: true,
          differences: { count: 0 },
        });
        return crash;
      });
      await yard.engine.call('branches.discard', { branch: name, now: true });
    },
    limitMs,
  );
});
