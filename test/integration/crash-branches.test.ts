import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BranchCrashes } from '../harness/crash/branch-crashes.ts';
import { CrashYard, type Crash, type Victim } from '../harness/crash/crash-yard.ts';
import type { Stop } from '../harness/crash/stops.ts';
import { until } from '../harness/until.ts';

/** `npm run chaos` kills everybody at every step, `npm test` one at some. */
const all = process.env['FORKYARD_CRASHES'] === 'all';
const timeout = 1_800_000;

let yard: CrashYard;
let crashes: BranchCrashes;
beforeAll(async () => {
  yard = await CrashYard.open();
  crashes = await BranchCrashes.open(yard);
});
afterAll(() => yard.close());

type Who = 'engine' | 'home' | 'main' | 'sandbox';
const everybody: readonly Who[] = ['engine', 'home', 'main', 'sandbox'];
const victimOf = (who: Who, id: string): Victim => (who === 'sandbox' ? { sandbox: id } : who);
const writes = ['insert', 'update', 'findAndModify', 'delete'];
const branchesAt = (skip: number): Stop => ({ server: 'home', ns: 'forkyard.branches', commands: writes, skip });
const logAt = (skip: number): Stop => ({ server: 'home', ns: 'forkyard.log', commands: writes, skip });

/** Runs a crash at one step behind the other until it is not reached any more. */
async function throughout(
  first: number,
  stops: readonly ((skip: number) => Stop)[],
  one: (stop: Stop) => Promise<Crash<unknown>>,
): Promise<void> {
  let reached = 0;
  for (const stopAt of stops) {
    for (let skip = first; (await one(stopAt(skip))).reached; skip += 1) {
      reached += 1;
      if (!all) break;
    }
  }
  expect(reached).toBeGreaterThan(0);
}

const rows = (some: readonly Who[]) => (all ? everybody : some);

describe('a fork', () => {
  it.each(rows(['engine']))(
    'is there and said, or nothing of it is, with %s killed in it',
    async (who) => {
      let made = 0;
      await throughout(0, [branchesAt, logAt], async (stop) => {
        const name = `forked-${who}-${(made += 1)}`;
        const victim = who === 'sandbox' ? 'engine' : who;
        const crash = await crashes.crash(() => yard.engine.call('branches.fork', { name, ttlMs: null }), stop, victim);
        const record = await crashes.live(name);
        const said = (await yard.engine.call('log.list', {})).filter(
          ({ kind, branch }) => kind === 'fork' && branch === name,
        );
        expect(said).toHaveLength(record ? 1 : 0);
        if (crash.answer) expect('value' in crash.answer).toBe(record !== undefined);
        if (record) expect(await crashes.holds(record._id)).toEqual(crashes.main);
        expect(await crashes.halfMade()).toEqual([]);
        if (record) await yard.engine.call('branches.discard', { branch: name, now: true });
        return crash;
      });
    },
    timeout,
  );
});

/** Changes a deadline in the catalog, and has all of them looked at, as they are when one changes. */
async function makeDue(id: string, set: Document, other: string): Promise<void> {
  const branches = (await yard.inside('home')).db('forkyard').collection<{ _id: string }>('branches');
  await branches.updateOne({ _id: id }, { $set: set });
  await yard.engine.call('branches.keep', { branch: other });
}

describe('an expiry', () => {
  it.each(rows(['engine']))(
    'of a branch with changes is said once, and can be taken back, with %s killed in it',
    async (who) => {
      const crashAt = async (stop: Stop) => {
        const { name, id, contents } = await crashes.sandbox();
        const other = await crashes.sandbox();
        const isExpired = async () => (await crashes.row({ _id: id }))?.state === 'expired';
        const begin = async () => {
          await makeDue(id, { expiresAt: new Date() }, other.name);
          while (!(await isExpired())) await yard.engine.call('branches.list', {});
        };
        const victim = who === 'sandbox' ? 'engine' : who;
        const crash = await crashes.crash(begin, stop, victim);
        await until('it has expired', isExpired);
        const said = (await crashes.log(id)).filter(({ kind }) => kind === 'expire');
        expect(said).toHaveLength(1);
        expect(await crashes.runs(id)).toBe(false);
        await yard.engine.call('log.undo', { entry: said[0]!.entry });
        expect(await crashes.live(name)).toMatchObject({ _id: id });
        expect(await crashes.holds(id)).toEqual(contents);
        for (const branch of [name, other.name]) {
          await crashes.live(branch);
          await yard.engine.call('branches.discard', { branch, now: true });
        }
        expect(await crashes.halfMade()).toEqual([]);
        return crash;
      };
      // The first write of a branch is the other's.
      await throughout(1, [branchesAt], crashAt);
      await throughout(0, [logAt], crashAt);
    },
    timeout,
  );
});

describe('a removal', () => {
  it.each(rows(['engine']))(
    'of a branch whose grace time is over is said once, and nothing is left, with %s killed in it',
    async (who) => {
      const crashAt = async (stop: Stop) => {
        const { name, id } = await crashes.sandbox();
        const other = await crashes.sandbox();
        await yard.engine.call('branches.sleep', { branch: name });
        const victim = who === 'sandbox' ? 'engine' : who;
        const begin = async () => {
          await makeDue(id, { state: 'expired', goneAt: new Date() }, other.name);
          // Ends with the engine too.
          while (await crashes.row({ _id: id })) await yard.engine.call('branches.list', {});
        };
        const crash = await crashes.crash(begin, stop, victim);
        await until('it is removed', async () => (await crashes.row({ _id: id })) === null);
        const said = (await crashes.log(id)).filter(({ kind }) => kind === 'gone');
        expect(said).toHaveLength(1);
        await crashes.live(other.name);
        await yard.engine.call('branches.discard', { branch: other.name, now: true });
        expect(await crashes.halfMade()).toEqual([]);
        return crash;
      };
      // The first write of a branch is the other's.
      await throughout(1, [branchesAt], crashAt);
      await throughout(0, [logAt], crashAt);
    },
    timeout,
  );
});

describe('a discard', () => {
  it.each(rows(['engine', 'home']))(
    'is done and said, or not begun, with %s killed in it; done, it can be taken back',
    async (who) => {
      await throughout(0, [branchesAt, logAt], async (stop) => {
        const { name, id, contents } = await crashes.sandbox();
        const crash = await crashes.crash(
          () => yard.engine.call('branches.discard', { branch: name }),
          stop,
          victimOf(who, id),
        );
        const log = (await crashes.log(id)).filter(({ kind }) => kind === 'discard');
        const record = await crashes.row({ _id: id });
        const isDone = record?.state === 'trashed';
        expect({ log: log.length, active: record?.active }).toEqual({ log: isDone ? 1 : 0, active: !isDone });
        if (crash.answer) expect('value' in crash.answer).toBe(isDone);
        if (isDone) {
          await yard.engine.call('log.undo', { entry: log[0]!.entry });
          expect((await crashes.log(id)).find(({ entry }) => entry === log[0]!.entry)?.undoneBy).toBeDefined();
        }
        expect(await crashes.live(name)).toMatchObject({ _id: id });
        expect(await crashes.holds(id)).toEqual(contents);
        await yard.engine.call('branches.discard', { branch: name, now: true });
        expect(await crashes.halfMade()).toEqual([]);
        return crash;
      });
    },
    timeout,
  );

  it.each(rows(['engine']))(
    'that is taken back is so, or can be, with %s killed in that',
    async (who) => {
      await throughout(0, [branchesAt, logAt], async (stop) => {
        const { name, id, contents } = await crashes.sandbox();
        await yard.engine.call('branches.discard', { branch: name });
        const [discarded] = (await crashes.log(id)).filter(({ kind }) => kind === 'discard');
        const victim = who === 'sandbox' ? 'engine' : victimOf(who, id);
        const crash = await crashes.crash(
          () => yard.engine.call('log.undo', { entry: discarded!.entry }),
          stop,
          victim,
        );
        const { undoneBy } = (await crashes.log(id)).find(({ entry }) => entry === discarded!.entry)!;
        const record = await crashes.row({ _id: id });
        expect(record?.active).toBe(undoneBy !== undefined);
        // Brought back it sleeps, if it was not started any more.
        await yard.engine.call('branches.wake', { branch: name });
        expect(await crashes.live(name)).toMatchObject({ _id: id });
        expect(await crashes.holds(id)).toEqual(contents);
        await yard.engine.call('branches.discard', { branch: name, now: true });
        expect(await crashes.halfMade()).toEqual([]);
        return crash;
      });
    },
    timeout,
  );
});

it.each(rows(['home']).filter((who) => who !== 'sandbox'))(
  'a branch that is put to sleep, and woken, runs where the catalog says so and else does not, with %s killed in it',
  async (who) => {
    const { name, id, contents } = await crashes.sandbox();
    const through = async (verb: 'sleep' | 'wake', wanted: string, stop: Stop) => {
      const begin = () => yard.engine.call(`branches.${verb}`, { branch: name });
      const crash = await crashes.crash(begin, stop, victimOf(who, id));
      const { state } = (await crashes.row({ _id: id }))!;
      if (crash.answer) expect(['value' in crash.answer, state]).toEqual([true, wanted]);
      await yard.engine.call(`branches.${verb}`, { branch: name });
      if (wanted === 'live') expect(await crashes.live(name)).toMatchObject({ _id: id });
      else expect(await crashes.runs(id)).toBe(false);
      expect(await crashes.halfMade()).toEqual([]);
      return crash;
    };
    await throughout(0, [branchesAt], async (stop) => {
      const asleep = await through('sleep', 'asleep', stop);
      const woken = await through('wake', 'live', stop);
      expect(await crashes.holds(id)).toEqual(contents);
      return woken.reached ? woken : asleep;
    });
    await yard.engine.call('branches.discard', { branch: name, now: true });
  },
  timeout,
);

it.each(rows(['engine']))(
  'an actor that is added, changed, renewed and removed is one the server lets in, or is none, with %s killed in it',
  async (who) => {
    const { name, id } = await crashes.sandbox();
    const actor = 'late:program';
    const found = async () => {
      const actors = await yard.engine.call('actors.list', { branch: name });
      return actors.find((each) => each.actor === actor);
    };
    const through = async (verb: 'add' | 'access' | 'renew' | 'remove', isDone: () => Promise<boolean>, stop: Stop) => {
      const call = () =>
        verb === 'access'
          ? yard.engine.call('actors.access', { branch: name, actor, access: 'read' })
          : yard.engine.call(`actors.${verb}`, { branch: name, actor });
      const crash = await crashes.crash(call, stop, victimOf(who, id));
      await crashes.live(name);
      await crashes.checkAccounts(name);
      if (crash.answer && 'value' in crash.answer) expect(await isDone()).toBe(true);
      if (!(await isDone())) await call();
      await crashes.checkAccounts(name);
      return crash.reached;
    };
    const isThere = async () => (await found()) !== undefined;
    await throughout(0, [branchesAt], async (stop) => {
      const reached = [
        await through('add', isThere, stop),
        await through('access', async () => (await found())?.access === 'read', stop),
        await through('renew', isThere, stop),
        await through('remove', async () => !(await isThere()), stop),
      ];
      return { reached: reached.some(Boolean), command: undefined, answer: undefined };
    });
    await yard.engine.call('branches.discard', { branch: name, now: true });
  },
  timeout,
);

it.each(rows(['engine']).filter((who) => who !== 'sandbox'))(
  'a pin is whole and said, or nothing of it is, with %s killed in it; and so is its removal',
  async (who) => {
    const { name, id } = await crashes.sandbox();
    const pins = async () => (await yard.engine.call('pins.list', {})).map((pin) => pin.name);
    const said = async (kind: string) => (await crashes.log(id)).filter((entry) => entry.kind === kind).length;
    let made = 0;
    await throughout(0, [branchesAt, logAt], async (stop) => {
      const pin = `pinned-${who}-${(made += 1)}`;
      const [pinned, removed] = [await said('pin'), await said('unpin')];
      const making = await crashes.crash(
        () => yard.engine.call('pins.create', { branch: name, name: pin }),
        stop,
        victimOf(who, id),
      );
      const isMade = (await pins()).includes(pin);
      expect((await said('pin')) - pinned).toBe(isMade ? 1 : 0);
      if (making.answer) expect('value' in making.answer).toBe(isMade);
      expect(await crashes.halfMade()).toEqual([]);
      if (!isMade) await yard.engine.call('pins.create', { branch: name, name: pin });
      const removal = await crashes.crash(() => yard.engine.call('pins.remove', { pin }), stop, victimOf(who, id));
      const isGone = !(await pins()).includes(pin);
      expect((await said('unpin')) - removed).toBe(isGone ? 1 : 0);
      if (removal.answer) expect('value' in removal.answer).toBe(isGone);
      if (!isGone) await yard.engine.call('pins.remove', { pin });
      await until('its files are gone', async () => (await crashes.row({ name: pin })) === null);
      expect(await crashes.halfMade()).toEqual([]);
      return making.reached ? making : removal;
    });
    await yard.engine.call('branches.discard', { branch: name, now: true });
  },
  timeout,
);

describe('a reset', () => {
  it.each(rows(['engine', 'home', 'sandbox']))(
    'has given the name to one of both, whole, and says which, with %s killed in it; and so has its undo',
    async (who) => {
      const lock = (skip: number): Stop => ({ server: 'main', commands: ['fsync'], skip });
      await throughout(0, who === 'main' ? [lock] : all ? [branchesAt, logAt] : [logAt], async (stop) => {
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
          stop.server === 'main' ? branchesAt(stop.skip ?? 0) : stop,
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
      });
    },
    timeout,
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
    timeout,
  );

  it.each(rows(['engine']))(
    'to a new branch is whole, or there is no such branch, with %s killed in it',
    async (who) => {
      const { name, id } = await crashes.sandbox();
      await throughout(0, [plansAt, branchesAt], async (stop) => {
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
    timeout,
  );
});

it('a main that could not be brought up is so at the next start, with its data, its users and its history', async () => {
  const { engine } = yard;
  const { uri } = await engine.call('branches.uri', { branch: 'main' });
  const { last } = await engine.call('changes.page', { branch: 'main', settle: true });
  const home = await yard.inside('home');
  const note = 'Its server ended several times within a minute.';
  await home
    .db('forkyard')
    .collection('branches')
    .updateOne({ name: 'main' }, { $set: { state: 'failed', note } });
  await engine.kill();
  await engine.start();
  expect(await crashes.row({ name: 'main' })).toMatchObject({ state: 'live' });
  expect((await crashes.row({ name: 'main' }))?.note).toBeUndefined();
  expect((await engine.call('branches.uri', { branch: 'main' })).uri).toBe(uri);
  expect((await engine.call('changes.page', { branch: 'main', settle: true })).last).toBe(last);
  expect(await crashes.holds('main')).toEqual(crashes.main);
});

describe('a verification', () => {
  it.each(rows(['main']))(
    'says that a server ended with %s killed in it, adds nothing to the history, and can be done again',
    async (who) => {
      const { name, id } = await crashes.sandbox();
      const readAt = (skip: number): Stop => ({ server: 'main', ns: 'whole.items', commands: ['find'], skip });
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
    timeout,
  );
});
