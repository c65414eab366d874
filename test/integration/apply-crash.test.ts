import { isDeepStrictEqual } from 'node:util';
import { Int32, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KillableYard } from '../harness/killable.ts';
import { insertExactly } from '../harness/round.ts';
import { until } from '../harness/until.ts';

const changed = 1_200;
const removed = 400;
const added = 400;
const items = changed + removed + added;
const kills = 3;

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
  await sandbox.collection('items').updateMany({ _id: { $lt: changed } as never }, { $inc: { n: new Int32(1) } });
  await sandbox.collection('items').deleteMany({ _id: { $gte: items - removed } as never });
  await sandbox.collection('added').insertMany(Array.from({ length: added }, (_, _id) => ({ _id: _id as never })));
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
  const before = { all: items, changed: 0, added: 0, collections: 1, indexes: 1 };
  if (isDeepStrictEqual(counts, before)) return 'before';
  const after = { all: items - removed, changed, added, collections: 2, indexes: 2 };
  return isDeepStrictEqual(counts, after) ? 'after' : JSON.stringify(counts);
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
});
