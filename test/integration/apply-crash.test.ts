import { join } from 'node:path';
import { Int32, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KillableYard, serversIn } from '../harness/killable.ts';
import { insertExactly } from '../harness/round.ts';
import { until } from '../harness/until.ts';

const items = 5_000;
const kills = 6;

let yard: KillableYard;
let main: MongoClient;
beforeAll(async () => {
  yard = await KillableYard.open();
  main = await yard.client('main');
  await insertExactly(
    main,
    'crash.items',
    Array.from({ length: items }, (_, _id) => ({ _id, n: new Int32(0), text: 'x'.repeat(200) })),
  );
  await yard.call('branches.fork', { name: 'crash', ttlMs: null });
  const sandbox = (await yard.client('crash')).db('crash');
  await sandbox.collection('items').updateMany({ _id: { $lt: 3_000 } as never }, { $inc: { n: new Int32(1) } });
  await sandbox.collection('items').deleteMany({ _id: { $gte: 4_000 } as never });
  await sandbox.collection('added').insertMany(Array.from({ length: 1_000 }, (_, _id) => ({ _id: _id as never })));
  await sandbox.createIndex('items', { n: 1 });
});
afterAll(() => yard.close());

/** Whether main is as before the adoption, as after it, or (never) something in between. */
async function stateOfMain(): Promise<'before' | 'after' | string> {
  const db = main.db('crash');
  // A server that was killed is started again, also where what was asked had failed before that.
  await until('main answers', () =>
    db.command({ ping: 1 }).then(
      () => true,
      () => false,
    ),
  );
  const counts = {
    all: await db.collection('items').countDocuments(),
    changed: await db.collection('items').countDocuments({ n: 1 }),
    added: await db.collection('added').countDocuments(),
    collections: (await db.listCollections({}, { nameOnly: true }).toArray()).length,
    indexes: (await db.collection('items').indexes()).length,
  };
  const { all, changed, added, collections, indexes } = counts;
  if (all === 5_000 && changed === 0 && added === 0 && collections === 1 && indexes === 1) return 'before';
  if (all === 4_000 && changed === 3_000 && added === 1_000 && collections === 2 && indexes === 2) return 'after';
  return JSON.stringify(counts);
}

async function logSince(known: ReadonlySet<string>) {
  return (await yard.call('log.list', {})).filter(({ entry }) => !known.has(entry));
}

/** Takes `apply` up to `fraction` of the time a whole one needs, kills the engine there, and starts it again. */
async function killWithin(apply: () => Promise<unknown>, wholeMs: number, fraction: number): Promise<void> {
  const ended = apply().then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, wholeMs * fraction))]);
  await yard.kill();
  await ended;
  await yard.start();
}

it(`an engine killed at ${kills} moments of applying ${items} items leaves main whole or untouched, and says which`, async () => {
  expect(await stateOfMain()).toBe('before');
  // Once whole, to know how long it takes.
  const first = await yard.call('plan.create', { branch: 'crash' });
  expect(first).toMatchObject({ items: items + 2, conflicts: 0 });
  const started = performance.now();
  const { entry } = await yard.call('plan.apply', { plan: first.plan });
  const wholeMs = performance.now() - started;
  expect(await stateOfMain()).toBe('after');
  await yard.call('log.undo', { entry: entry! });
  expect(await stateOfMain()).toBe('before');

  const outcomes = new Set<string>();
  for (let turn = 0; turn < kills; turn += 1) {
    const { plan } = await yard.call('plan.create', { branch: 'crash' });
    const known = new Set((await yard.call('log.list', {})).map((each) => each.entry));
    // Spread over the whole and a little beyond, each at a random place of its part.
    await killWithin(() => yard.call('plan.apply', { plan }), wholeMs, ((turn + Math.random()) / kills) * 1.1);
    const state = await stateOfMain();
    const [said, ...more] = await logSince(known);
    expect(more).toEqual([]);
    const cutOff = (await yard.log()).split('\n').filter((line) => line.includes(`${plan} was cut off`));
    if (state === 'after') {
      expect(said).toMatchObject({ kind: 'adopt', items: items + 2 });
      if (cutOff.length > 0) expect(cutOff[0]).toMatch(/: applied$/);
      expect((await yard.call('diff.get', { branch: 'crash', summary: true })).summary).toEqual([]);
      expect((await yard.call('log.undo', { entry: said!.entry })).applied).toBe(items + 2);
    } else {
      // Killed before it had begun there is nothing to say.
      if (said)
        expect(said).toMatchObject({ kind: 'recover', text: expect.stringContaining('nothing of it was applied') });
      if (cutOff.length > 0) expect(cutOff[0]).toMatch(/: not applied$/);
      expect(Boolean(said)).toBe(cutOff.length > 0);
    }
    expect(await stateOfMain()).toBe('before');
    outcomes.add(state);
  }
  expect([...outcomes].filter((each) => each !== 'before' && each !== 'after')).toEqual([]);

  // After all of it the same plan still goes through once.
  const last = await yard.call('plan.adopt', { branch: 'crash' });
  expect(last.applied).toBe(items + 2);
  expect(await stateOfMain()).toBe('after');
}, 240_000);

it.each([
  ['main', 'branches/main'],
  ['home', 'home'],
])(
  'a server of %s killed while a plan is applied, or taken back, leaves main whole or untouched, and the answer says which',
  async (_whose, folder) => {
    const start = await stateOfMain();
    const entryOf = async () =>
      (await yard.call('log.list', {})).findLast(({ kind, undoable }) => kind === 'adopt' && undoable)!;
    if (start === 'after') await yard.call('log.undo', { entry: (await entryOf()).entry });
    expect(await stateOfMain()).toBe('before');
    const { plan } = await yard.call('plan.create', { branch: 'crash' });
    const applying = yard.call('plan.apply', { plan }).then(
      (answer) => answer.entry,
      (error: { message: string }) => error,
    );
    await killServer(folder, 300);
    const answer = await applying;
    const state = await stateOfMain();
    if (typeof answer === 'string') expect(state).toBe('after');
    else
      expect({ state, said: answer?.message }).toEqual({
        state: 'before',
        said: expect.stringContaining('nothing of it was applied'),
      });
    const entry = typeof answer === 'string' ? answer : (await yard.call('plan.adopt', { branch: 'crash' })).entry!;
    expect(await stateOfMain()).toBe('after');

    const undoing = yard.call('log.undo', { entry }).then(
      () => 'before',
      () => 'after',
    );
    await killServer(folder, 150);
    expect(await undoing).toBe(await stateOfMain());
    if ((await stateOfMain()) === 'after') await yard.call('log.undo', { entry });
    expect(await stateOfMain()).toBe('before');
    await yard.call('plan.adopt', { branch: 'crash' });
    expect(await stateOfMain()).toBe('after');
  },
  240_000,
);

/** kill -9 of one server of the yard, `ms` from now. */
async function killServer(folder: string, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  for (const pid of (await serversIn(join(yard.data, folder))).keys()) process.kill(pid, 'SIGKILL');
}

it('an undo that is cut off is whole or not at all too', async () => {
  const adopted = (await yard.call('log.list', {}))
    .filter(({ kind, undoable }) => kind === 'adopt' && undoable)
    .at(-1)!;
  expect(await stateOfMain()).toBe('after');
  for (const fraction of [0.3, 0.7]) {
    const known = new Set((await yard.call('log.list', {})).map((each) => each.entry));
    await killWithin(() => yard.call('log.undo', { entry: adopted.entry }), 1_000, fraction);
    const state = await stateOfMain();
    const said = await logSince(known);
    if (state === 'before') {
      expect(said).toMatchObject([{ kind: 'undo' }]);
      await yard.call('log.undo', { entry: said[0]!.entry });
      expect(await stateOfMain()).toBe('after');
      return;
    }
    expect(state).toBe('after');
    if (said.length > 0) expect(said).toMatchObject([{ kind: 'recover' }]);
  }
  await yard.call('log.undo', { entry: adopted.entry });
  expect(await stateOfMain()).toBe('before');
});
