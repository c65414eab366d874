import { Int32, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Target } from '../../shared/api.ts';
import { id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';

let yard: TestYard;
let client: MongoClient;
let sandbox: MongoClient;
/** All collections are in place before the one fork that all tests share. */
beforeAll(async () => {
  yard = await TestYard.open();
  client = await yard.client('main');
  const main = client.db('clash');
  const index = (name: string, key: Document, options: Document = {}) =>
    main.collection(name).createIndex(key as never, { unique: true, ...options });
  await main.collection('users').insertOne({ _id: 1 as never, email: 'a' });
  await index('users', { email: 1 });
  await insertExactly(
    client,
    'clash.swap',
    [1, 2, 3, 4].map((_id) => ({ _id, rank: _id })),
  );
  await index('swap', { rank: 1 });
  await insertExactly(
    client,
    'clash.chain',
    [1, 2, 3].map((_id) => ({ _id, slot: _id })),
  );
  await index('chain', { slot: 1 });
  for (const [name, options] of [
    ['plain', {}],
    ['sparse', { sparse: true }],
    ['partial', { partialFilterExpression: { status: 'on' } }],
    ['folded', { collation: { locale: 'en', strength: 2 } }],
  ] as const) {
    await main.collection(name).insertOne({ _id: 0 as never, k: 'first', status: 'on' });
    await index(name, { k: 1 }, options);
  }
  await index('compound', { tenant: 1, n: 1 });
  await index('tags', { tags: 1 });
  await index('nested', { 'lines.sku': 1 });
  await index('own', { k: 1 });
  await insertExactly(
    client,
    'clash.fresh',
    [1, 2, 3].map((_id) => ({ _id, code: `c${_id}` })),
  );
  await insertExactly(client, 'clash.orders', [
    { _id: 'legacy', qty: 'many' },
    { _id: 'fine', qty: 1 },
  ]);
  await insertExactly(client, 'clash.strict', [
    { _id: 'legacy', qty: 'many' },
    { _id: 'fine', qty: 1 },
  ]);
  await yard.fork('clash', { ttlMs: null });
  sandbox = await yard.client('clash');
});
afterAll(() => yard.close());

const main = (name: string) => client.db('clash').collection<Document>(name);
const branch = (name: string) => sandbox.db('clash').collection<Document>(name);
const put = (collection: ReturnType<typeof main>, ...documents: Document[]) =>
  collection.insertMany(documents as never);
const only = (...names: string[]): { branch: string; only: Target[] } => ({
  branch: 'clash',
  only: names.map((name) => ({ ns: `clash.${name}` })),
});
const texts = (checks: readonly { ok: boolean; detail: string }[]) =>
  checks.filter(({ ok }) => !ok).map(({ detail }) => detail);

it('MG-08: a unique key that only the merge would break is found before anything is written, and names both documents', async () => {
  await put(
    branch('users'),
    { _id: 2, email: 'x' },
    ...Array.from({ length: 500 }, (_, n) => ({ _id: 100 + n, email: `u${n}` })),
  );
  await put(main('users'), { _id: 3, email: 'x' });
  const before = await contents(client, 'clash.users');
  const sentence = '2 of clash.users and 3 of clash.users would share a key of the unique index email_1.';
  const refused = await yard.refusal('plan.adopt', only('users'));
  expect(refused).toMatchObject({ code: 'conflicts', details: { conflicts: 1 } });
  expect(refused.message).toContain(sentence);
  expect(refused.details?.['undecided']).toEqual([{ ns: 'clash.users', id: id('2'), text: sentence }]);
  expect(await contents(client, 'clash.users')).toEqual(before);

  const { plan, items, conflicts, checks } = await yard.call('plan.create', only('users'));
  expect([items, conflicts, texts(checks)]).toEqual([500, 1, [sentence]]);
  // Another value for it decides it.
  const take = [{ target: { ns: 'clash.users', id: id('2'), path: ['email'] }, take: { value: id('y') } }];
  expect(await yard.call('plan.create', { ...only('users'), take })).toMatchObject({ items: 501, conflicts: 0 });
  expect((await yard.call('plan.apply', { plan })).applied).toBe(500);
  expect(await main('users').findOne(one(2))).toBeNull();
  // It still is to be seen.
  expect((await yard.call('diff.get', only('users'))).summary[0]).toMatchObject({ added: 1 });
});

it('values that swap places are no clash; a document that is left out keeps its value, and who wanted that is left out too', async () => {
  await branch('swap').bulkWrite(
    [
      [1, -1],
      [2, 1],
      [3, 2],
      [1, 3],
    ].map(([_id, rank]) => ({ updateOne: { filter: one(_id), update: { $set: { rank } } } })),
  );
  const before = await contents(client, 'clash.swap');
  const { entry } = await yard.call('plan.adopt', only('swap'));
  expect((await main('swap').find().sort({ _id: 1 }).toArray()).map(({ rank }) => rank as number)).toEqual([
    3, 1, 2, 4,
  ]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, 'clash.swap')).toEqual(before);

  await branch('chain').updateOne(one(1), { $set: { slot: 9 } });
  await branch('chain').updateOne(one(2), { $set: { slot: 1 } });
  await branch('chain').updateOne(one(3), { $set: { slot: 2 } });
  await put(main('chain'), { _id: 9, slot: 9 });
  const { items, conflicts, checks } = await yard.call('plan.create', only('chain'));
  expect([items, conflicts]).toEqual([0, 3]);
  expect(texts(checks)).toEqual([
    '1 of clash.chain and 9 of clash.chain would share a key of the unique index slot_1.',
    '2 of clash.chain and 1 of clash.chain would share a key of the unique index slot_1.',
    '3 of clash.chain and 2 of clash.chain would share a key of the unique index slot_1.',
  ]);
});

it('MG-10: a missing value clashes in a plain unique index, and in no sparse or partial one; a collation folds as it says', async () => {
  for (const name of ['plain', 'sparse', 'partial', 'folded']) {
    await put(branch(name), {
      _id: 1,
      ...(name === 'folded' ? { k: 'Ångström' } : {}),
      ...(name === 'partial' ? { k: 'first', status: 'off' } : {}),
    });
    await put(main(name), {
      _id: 2,
      ...(name === 'folded' ? { k: 'ÅNGSTRÖM' } : {}),
      ...(name === 'partial' ? { k: 'first', status: 'off' } : {}),
    });
  }
  // Written out, a null counts in a sparse index as well, and what the filter takes in counts in a partial one.
  await put(branch('sparse'), { _id: 3, k: null });
  await put(main('sparse'), { _id: 4, k: null });
  await put(branch('partial'), { _id: 3, k: 'same', status: 'on' });
  await put(main('partial'), { _id: 4, k: 'same', status: 'on' });
  const found = async (name: string) => {
    const { items, conflicts, checks } = await yard.call('plan.create', only(name));
    return [items, conflicts, ...texts(checks).map((text) => text.replace(/ would share.*/, ''))];
  };
  expect(await found('plain')).toEqual([0, 1, '1 of clash.plain and 2 of clash.plain']);
  expect(await found('sparse')).toEqual([1, 1, '3 of clash.sparse and 4 of clash.sparse']);
  expect(await found('partial')).toEqual([1, 1, '3 of clash.partial and 4 of clash.partial']);
  expect(await found('folded')).toEqual([0, 1, '1 of clash.folded and 2 of clash.folded']);
});

it('compound keys, arrays and fields of an array’s elements clash where the server says so, and nowhere else', async () => {
  await put(branch('compound'), { _id: 1, tenant: 'a', n: 1 }, { _id: 2, tenant: 'a', n: 2 }, { _id: 3, tenant: 'a' });
  await put(
    main('compound'),
    { _id: 11, tenant: 'b', n: 1 },
    { _id: 12, tenant: 'a', n: new Int32(2) },
    { _id: 13, tenant: 'a', n: null },
  );
  await put(branch('tags'), { _id: 1, tags: ['x', 'y'] }, { _id: 2, tags: 'z' }, { _id: 3, tags: [] });
  await put(main('tags'), { _id: 11, tags: ['w', 'y'] }, { _id: 12, tags: [['z']] }, { _id: 13, tags: [] });
  await put(
    branch('nested'),
    { _id: 1, lines: [{ sku: 's1' }, { sku: 's2' }] },
    { _id: 2, lines: { sku: ['s5'] } },
    { _id: 3, lines: [{ sku: 's9' }] },
  );
  await put(
    main('nested'),
    { _id: 11, lines: [{ sku: 's2' }] },
    { _id: 12, lines: [{ sku: ['s4', 's5'] }] },
    { _id: 13, lines: [{ sku: 's8' }] },
  );
  const clashing = async (name: string) => {
    const { items, conflicts, checks } = await yard.call('plan.create', only(name));
    expect(conflicts).toBe(texts(checks).length);
    return [
      items,
      ...texts(checks)
        .map((text) => /^(\d+) of .* and (\d+) of/.exec(text)!.slice(1).join('-'))
        .sort(),
    ];
  };
  expect(await clashing('compound')).toEqual([1, '2-12', '3-13']);
  expect(await clashing('tags')).toEqual([1, '1-11', '3-13']);
  expect(await clashing('nested')).toEqual([1, '1-11', '2-12']);
});

it('results of one plan that share a key with each other are both named', async () => {
  await branch('own').dropIndex('k_1');
  await put(branch('own'), { _id: 1, k: 1 }, { _id: 2, k: 1 }, { _id: 3, k: 2 });
  const except = [{ ns: 'clash.own', schema: { type: 'index' as const } }];
  const { items, conflicts, checks } = await yard.call('plan.create', { ...only('own'), except });
  expect([items, conflicts]).toEqual([1, 2]);
  expect(texts(checks).map((text) => text.slice(0, 36))).toEqual([
    '2 of clash.own and 1 of clash.own wo',
    '1 of clash.own and 2 of clash.own wo',
  ]);
  // Without the index there is nothing in the way.
  expect(await yard.call('plan.create', only('own'))).toMatchObject({ items: 4, conflicts: 0 });
});

it('a new unique index is held against what main holds by then, and named with the duplicates; the rest can go', async () => {
  await branch('fresh').createIndex({ code: 1 }, { unique: true });
  await put(branch('fresh'), { _id: 4, code: 'c4' });
  await put(main('fresh'), { _id: 8, code: 'c2' }, { _id: 9, code: 'c9' });
  const sentence =
    'The new unique index code_1 of clash.fresh cannot be built: in main 2 and 8 would share a key of it.';
  const refused = await yard.refusal('plan.adopt', only('fresh'));
  expect(refused.message).toContain(sentence);
  const { items, conflicts, checks, plan } = await yard.call('plan.create', only('fresh'));
  expect([items, conflicts, texts(checks)]).toEqual([1, 1, [sentence]]);
  await yard.call('plan.apply', { plan });
  await main('fresh').deleteOne(one(8));
  expect(await yard.call('plan.adopt', only('fresh'))).toMatchObject({ applied: 1 });
  expect((await main('fresh').indexes()).map(({ name }) => name)).toContain('code_1');
});

it('MG-12: a validator on one side and data on the other that it refuses are told in the preview; what was invalid before stays usable', async () => {
  const validator = { qty: { $type: 'int' } };
  // The sandbox sets one, main gets a document that it would refuse.
  await sandbox.db('clash').command({ collMod: 'orders', validator });
  await put(main('orders'), { _id: 'x', qty: 'x' });
  const sentence =
    'The validator that clash gives clash.orders does not take what main holds: "x" of clash.orders. They would stay, but could not be changed.';
  const { items, conflicts, checks } = await yard.call('plan.create', only('orders'));
  expect([items, conflicts, texts(checks)]).toEqual([0, 1, [sentence]]);
  expect((await yard.refusal('plan.adopt', only('orders'))).message).toContain(sentence);
  // Wanted all the same, it is adopted, and what was there stays.
  const take = [{ target: { ns: 'clash.orders', schema: { type: 'validator' as const } }, take: { side: 'clash' } }];
  expect(await yard.call('plan.adopt', { ...only('orders'), take })).toMatchObject({ applied: 1 });
  expect(await main('orders').countDocuments()).toBe(3);

  // And the reverse: main sets one, the sandbox writes a document that it refuses.
  await client.db('clash').command({ collMod: 'strict', validator });
  await put(branch('strict'), { _id: 'bad', qty: 'x' }, { _id: 'good', qty: 2 });
  const before = await contents(client, 'clash.strict');
  const refused = await yard.refusal('plan.adopt', only('strict'));
  expect(refused.message).toContain('The validator that clash.strict has in main refuses "bad" of clash.strict.');
  expect(await contents(client, 'clash.strict')).toEqual(before);
  expect(await yard.call('plan.create', only('strict'))).toMatchObject({ items: 1, conflicts: 1 });

  // What is invalid already is forked and, changed past the validator, adopted and undone byte for byte.
  await yard.fork('legacy', { ttlMs: null });
  const legacy = (await yard.client('legacy')).db('clash').collection<Document>('strict');
  expect(await legacy.countDocuments()).toBe(2);
  await legacy.updateOne(one('legacy'), { $set: { note: 1 } }, { bypassDocumentValidation: true });
  const { entry } = await yard.call('plan.adopt', { branch: 'legacy' });
  expect(await main('strict').findOne(one('legacy'))).toEqual({ _id: 'legacy', qty: 'many', note: 1 });
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, 'clash.strict')).toEqual(before);
});
