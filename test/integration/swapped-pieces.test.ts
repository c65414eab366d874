import { Binary, Int32, type Collection, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const kilobytes500 = new Binary(Buffer.alloc(500_000, 1));
const sizes = { ring: 20, pairs: 10, chain: 6, folded: 4 };
const names = Object.keys(sizes) as (keyof typeof sizes)[];

/** Gives each document another's value, from the last to the first; the first few let go of theirs before that. */
async function exchange(
  collection: Collection,
  size: number,
  first: number,
  value: (n: number) => unknown,
): Promise<void> {
  for (let n = 0; n < first; n += 1) await collection.updateOne(one(n), { $set: { k: `free ${n}` } });
  for (let n = size - 1; n >= 0; n -= 1) await collection.updateOne(one(n), { $set: { k: value(n) } });
}

it('values that swap places are written in an order that works where an adoption is more than one transaction takes', async () => {
  const client = await yard.client('main');
  const main = client.db('exchanged');
  for (const name of names) {
    const collation = name === 'folded' ? { collation: { locale: 'en', strength: 2 } } : {};
    const rows = Array.from({ length: sizes[name] }, (_, n) => {
      const k = name === 'folded' ? `name ${n}` : new Int32(n);
      return { _id: new Int32(n), k, blob: kilobytes500 };
    });
    await insertExactly(client, `exchanged.${name}`, rows);
    await main.collection(name).createIndex({ k: 1 }, { unique: true, ...collation });
  }
  await yard.fork('exchanged', { ttlMs: null });
  const sandbox = await yard.client('exchanged');
  const branch = sandbox.db('exchanged');
  const { ring, pairs, chain, folded } = sizes;
  await exchange(branch.collection('ring'), ring, 1, (n) => new Int32((n + 1) % ring));
  await exchange(branch.collection('pairs'), pairs, pairs / 2, (n) => new Int32(pairs - 1 - n));
  await exchange(branch.collection('chain'), chain, 0, (n) => new Int32(n + 1));
  await exchange(branch.collection('folded'), folded, folded / 2, (n) => `NAME ${folded - 1 - n}`);

  const documents = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  const held = (of: MongoClient) => Promise.all(names.map((name) => contents(of, `exchanged.${name}`)));
  const before = await held(client);
  const wanted = await held(sandbox);
  const { plan, items, conflicts, checks } = await yard.call('plan.create', { branch: 'exchanged' });
  expect([items, conflicts, checks.filter(({ ok }) => !ok)]).toEqual([documents, 0, []]);
  const listed = await yard.call('plan.items', { plan });
  expect(listed.items.map(({ action }) => action)).toEqual(Array<string>(documents).fill('replace'));

  // Cut short between two pieces, what was written is taken back in an order that works too.
  let shortened: Promise<unknown> | undefined;
  const stopListening = yard.onEvent((event) => {
    if (event.type !== 'progress' || event.job !== 'short') return;
    shortened ??= yard.call('settings.set', { diskReserveMB: 100_000_000 });
  });
  const refused = await yard.refusal('plan.apply', { plan, job: 'short' });
  stopListening();
  await shortened;
  expect(refused.code).toBe('no_space');
  await yard.call('settings.set', { diskReserveMB: 64 });
  expect(await held(client)).toEqual(before);

  const { applied, entry } = await yard.call('plan.apply', { plan });
  expect(applied).toBe(documents);
  expect(await held(client)).toEqual(wanted);
  expect((await yard.call('diff.get', { branch: 'exchanged' })).summary).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await held(client)).toEqual(before);

  // Inside the sandbox too: what it did is taken back in one.
  const back = await yard.call('restore.plan', { branch: 'exchanged', to: { seq: 0 } });
  expect((await yard.call('plan.apply', { plan: back.plan })).applied).toBe(documents);
  expect(await held(sandbox)).toEqual(before);
}, 120_000);
