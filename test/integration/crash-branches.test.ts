import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BranchCrashes } from '../harness/crash/branch-crashes.ts';
import { CrashYard } from '../harness/crash/crash-yard.ts';
import type { Stop } from '../harness/crash/stops.ts';
import { atHome, isChaos, limitMs, rows, throughout, victimOf } from '../harness/crash/rows.ts';
import { until } from '../harness/until.ts';

/** What makes, ends, brings back and changes a branch, while somebody is killed in it. */
let yard: CrashYard;
let crashes: BranchCrashes;
beforeAll(async () => {
  yard = await CrashYard.open();
  crashes = await BranchCrashes.open(yard);
});
afterAll(() => yard.close());

describe('a fork', () => {
  it.each(rows(['engine']))(
    'is there and said, or nothing of it is, with %s killed in it',
    async (who) => {
      let made = 0;
      await throughout(0, [atHome.branches, atHome.log], async (stop) => {
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
    limitMs,
  );
});

/** Changes a deadline in the catalog, and has all of them looked at, as they are when one changes. */
async function makeDue(id: string, set: Document, other: string): Promise<void> {
  const branches = (await yard.inside('home')).db('forkyard').collection<{ _id: string }>('branches');
  await branches.updateOne({ _id: id }, { $set: set });
  await yard.engine.call('branches.keep', { branch: other });
}

if (isChaos) {
  describe('an expiry', () => {
    it.each(rows([]))(
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
        await throughout(1, [atHome.branches], crashAt);
        await throughout(0, [atHome.log], crashAt);
      },
      limitMs,
    );
  });

  describe('a removal', () => {
    it.each(rows([]))(
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
        await throughout(1, [atHome.branches], crashAt);
        await throughout(0, [atHome.log], crashAt);
      },
      limitMs,
    );
  });
}

describe('a discard', () => {
  it.each(rows(['engine', 'home']))(
    'is done and said, or not begun, with %s killed in it; done, it can be taken back',
    async (who) => {
      await throughout(0, [atHome.branches, atHome.log], async (stop) => {
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
    limitMs,
  );

  it.each(rows(['engine']))(
    'that is taken back is so, or can be, with %s killed in that',
    async (who) => {
      await throughout(0, [atHome.branches, atHome.log], async (stop) => {
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
    limitMs,
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
    await throughout(0, [atHome.branches], async (stop) => {
      const asleep = await through('sleep', 'asleep', stop);
      const woken = await through('wake', 'live', stop);
      expect(await crashes.holds(id)).toEqual(contents);
      return woken.reached ? woken : asleep;
    });
    await yard.engine.call('branches.discard', { branch: name, now: true });
  },
  limitMs,
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
    await throughout(0, [atHome.branches], async (stop) => {
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
  limitMs,
);

it.each(rows(['engine']).filter((who) => who !== 'sandbox'))(
  'a pin is whole and said, or nothing of it is, with %s killed in it; and so is its removal',
  async (who) => {
    const { name, id } = await crashes.sandbox();
    const pins = async () => (await yard.engine.call('pins.list', {})).map((pin) => pin.name);
    const said = async (kind: string) => (await crashes.log(id)).filter((entry) => entry.kind === kind).length;
    let made = 0;
    await throughout(0, [atHome.branches, atHome.log], async (stop) => {
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
  limitMs,
);

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
