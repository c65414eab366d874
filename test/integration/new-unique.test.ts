import { Int32, type Db, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const sides = (name: string, prepare: (db: Db) => Promise<unknown>) => databaseSides(yard, name, prepare);
const texts = (checks: readonly { ok: boolean; detail: string }[]) =>
  checks.filter(({ ok }) => !ok).map(({ detail }) => detail);
const indexNames = async (db: Db, name: string) => (await db.collection(name).indexes()).map((index) => index.name);

it('one adoption takes duplicates away and builds the unique index over what is left; its undo brings both back, and again', async () => {
  const { main, sandbox } = await sides('dedupe', (db) =>
    insertExactly(
      db.client,
      'dedupe.users',
      [1, 2, 3, 4, 5, 6].map((n) => ({ _id: n, email: `m${n % 3}`, n: new Int32(n) })),
    ),
  );
  await sandbox.collection('users').deleteMany({ _id: { $in: [4, 5] } } as never);
  await sandbox.collection('users').updateOne(one(6), { $set: { email: 'm6' } });
  await sandbox.collection('users').createIndex({ email: 1 }, { unique: true });
  const before = await contents(main.client, 'dedupe.users');
  const plan = await yard.call('plan.create', { branch: 'dedupe' });
  expect([plan.items, plan.conflicts, texts(plan.checks)]).toEqual([4, 0, []]);
  const { entry } = await yard.call('plan.apply', { plan: plan.plan });
  expect(await contents(main.client, 'dedupe.users')).toEqual(await contents(sandbox.client, 'dedupe.users'));
  expect(await indexNames(main, 'users')).toEqual(['_id_', 'email_1']);
  const undone = await yard.call('log.undo', { entry: entry! });
  expect(await contents(main.client, 'dedupe.users')).toEqual(before);
  expect(await indexNames(main, 'users')).toEqual(['_id_']);
  await yard.call('log.undo', { entry: undone.entry! });
  expect(await contents(main.client, 'dedupe.users')).toEqual(await contents(sandbox.client, 'dedupe.users'));
  expect(await indexNames(main, 'users')).toEqual(['_id_', 'email_1']);
});

it('the index without what takes the duplicates away is told, with the documents; with a part of it too', async () => {
  const { main, sandbox } = await sides('half', (db) =>
    insertExactly(
      db.client,
      'half.users',
      [1, 2, 3, 4].map((n) => ({ _id: n, email: `m${n % 2}` })),
    ),
  );
  await sandbox.collection('users').deleteMany({ _id: { $in: [3, 4] } } as never);
  await sandbox.collection('users').createIndex({ email: 1 }, { unique: true });
  const ns = 'half.users';
  const index = { ns, schema: { type: 'index' as const, name: 'email_1' } };
  const found = async (only: { ns: string; id?: string }[]) => {
    const { items, conflicts, checks } = await yard.call('plan.create', { branch: 'half', only });
    return [items, conflicts, ...texts(checks)];
  };
  const cannot = (pairs: string) =>
    `The new unique index email_1 of half.users cannot be built: in main ${pairs} would share a key of it.`;
  expect(await found([index])).toEqual([0, 1, cannot('1 and 3, 2 and 4')]);
  expect(await found([index, { ns, id: id('4') }])).toEqual([1, 1, cannot('1 and 3')]);
  expect(await found([index, { ns, id: id('4') }, { ns, id: id('3') }])).toEqual([3, 0]);
  // A third that main got since has the place of one that goes.
  await main.collection<Document>('users').insertOne({ ...one(9), email: 'm1' });
  expect(await found([{ ns }])).toEqual([2, 1, cannot('1 and 9')]);
});

it.each([
  ['sparse', { sparse: true }],
  ['partial', { partialFilterExpression: { email: { $exists: true } } }],
  ['collated', { collation: { locale: 'en', strength: 2 } }],
])('a new unique %s index refuses what it takes in, and nothing else', async (name, options) => {
  const { main, sandbox } = await sides(name, (db) =>
    insertExactly(db.client, `${name}.users`, [{ _id: 1 }, { _id: 2 }, { _id: 3, email: 'a' }]),
  );
  // Two without the field are no duplicates in a sparse or partial one.
  if (name === 'collated')
    await sandbox.collection('users').updateMany({}, [{ $set: { email: { $toString: '$_id' } } }]);
  await sandbox.collection('users').createIndex({ email: 1 }, { unique: true, ...options });
  const clean = await yard.call('plan.adopt', { branch: name });
  expect(await indexNames(main, 'users')).toContain('email_1');
  await yard.call('log.undo', { entry: clean.entry! });
  const email = name === 'collated' ? 'A' : 'a';
  await main.collection<Document>('users').insertMany([
    { ...one(8), email },
    { ...one(9), email: 'a' },
  ]);
  const { conflicts, checks } = await yard.call('plan.create', { branch: name });
  expect(conflicts).toBe(1);
  expect(texts(checks).join()).toContain(`The new unique index email_1 of ${name}.users cannot be built`);
});

it('values that swap places under a unique index go over in one adoption, are undone, and one of the two alone is refused', async () => {
  const { main, sandbox } = await sides('swapped', async (db) => {
    await insertExactly(
      db.client,
      'swapped.seats',
      [1, 2, 3].map((n) => ({ _id: n, seat: `s${n}`, who: { name: `n${n}` } })),
    );
    await db.collection('seats').createIndex({ seat: 1 }, { unique: true });
    await db.collection('seats').createIndex({ 'who.name': 1 }, { unique: true, sparse: true });
  });
  const seats = sandbox.collection<Document>('seats');
  await seats.deleteMany({});
  await seats.insertMany([
    { ...one(1), seat: 's2', who: { name: 'n3' } },
    { ...one(2), seat: 's3', who: { name: 'n1' } },
    { ...one(3), seat: 's1', who: { name: 'n2' } },
  ]);
  const before = await contents(main.client, 'swapped.seats');
  const alone = await yard.call('plan.create', { branch: 'swapped', only: [{ ns: 'swapped.seats', id: id('1') }] });
  expect([alone.items, alone.conflicts]).toEqual([0, 1]);
  expect(texts(alone.checks)[0]).toMatch(/^1 of swapped\.seats and [23] of swapped\.seats would share a key of/);
  const { entry } = await yard.call('plan.adopt', { branch: 'swapped' });
  expect(await contents(main.client, 'swapped.seats')).toEqual(await contents(sandbox.client, 'swapped.seats'));
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main.client, 'swapped.seats')).toEqual(before);
});

it('an undo that a unique value of main stands in the way of says so before anything is changed, and names both documents', async () => {
  const { main, sandbox } = await sides('freed', async (db) => {
    await insertExactly(db.client, 'freed.users', [
      { _id: 1, email: 'a' },
      { _id: 2, email: 'b' },
      { _id: 3, email: 'c' },
    ]);
    await db.collection('users').createIndex({ email: 1 }, { unique: true });
  });
  await sandbox.collection('users').updateOne(one(1), { $set: { email: 'x' } });
  await sandbox.collection('users').deleteOne(one(2));
  const { entry } = await yard.call('plan.adopt', { branch: 'freed' });
  // What the adoption gave back is taken by others.
  await main.collection<Document>('users').insertMany([
    { ...one(8), email: 'a' },
    { ...one(9), email: 'b' },
  ]);
  const before = await contents(main.client, 'freed.users');
  const sentences = [
    '1 of freed.users and 8 of freed.users would share a key of the unique index email_1.',
    '2 of freed.users and 9 of freed.users would share a key of the unique index email_1.',
  ];
  for (const method of ['log.undoPlan', 'log.undo'] as const) {
    const refused = await yard.refusal(method, { entry: entry! });
    expect(refused).toMatchObject({ code: 'undo_refused', hint: expect.any(String) });
    for (const sentence of sentences) expect(refused.message).toContain(sentence);
    expect(refused.details?.['conflicts']).toEqual([
      { ns: 'freed.users', id: id('1'), text: sentences[0] },
      { ns: 'freed.users', id: id('2'), text: sentences[1] },
    ]);
  }
  expect(await contents(main.client, 'freed.users')).toEqual(before);
  await main.collection('users').deleteMany({ _id: { $gt: 7 } } as never);
  await yard.call('log.undo', { entry: entry! });
  expect(await main.collection('users').countDocuments()).toBe(3);
});

it('changes taken back inside a sandbox, and a restore, leave out or refuse what a unique value stands in the way of, with a sentence', async () => {
  const { sandbox } = await sides('inside', async (db) => {
    await insertExactly(db.client, 'inside.users', [
      { _id: 1, email: 'a' },
      { _id: 2, email: 'b' },
    ]);
    await db.collection('users').createIndex({ email: 1 }, { unique: true });
  });
  const users = sandbox.collection<Document>('users');
  await users.updateOne(one(1), { $set: { email: 'x' } });
  await users.insertOne({ ...one(8), email: 'a' });
  const { changes } = await yard.call('changes.page', { branch: 'inside', settle: true });
  const undo = await yard.call('changes.undo', { branch: 'inside', what: { seqs: [changes[0]!.seq] } });
  expect([undo.items, undo.conflicts]).toEqual([0, 1]);
  expect(texts(undo.checks)).toEqual([
    '1 of inside.users and 8 of inside.users would share a key of the unique index email_1.',
  ]);
  // Where the other one goes too there is nothing in the way.
  const { plan } = await yard.call('restore.plan', { branch: 'inside', to: { seq: 0 } });
  expect((await yard.call('plan.apply', { plan })).applied).toBe(2);
});

it('an index that main has under another name, or a second text index, is told before anything is applied; the rest can go', async () => {
  const { main, sandbox } = await sides('beside', async (db) => {
    await insertExactly(db.client, 'beside.a', [{ _id: 1, e: 1, t: 'x' }]);
    await db.collection('a').createIndex({ o: 1 }, { name: 'old' });
  });
  const [mine, theirs] = [sandbox.collection('a'), main.collection('a')];
  await mine.createIndex({ e: 1 }, { name: 'mine' });
  await theirs.createIndex({ e: 1 }, { name: 'theirs' });
  await mine.createIndex({ t: 'text' }, { name: 'words' });
  await theirs.createIndex({ u: 'text' }, { name: 'texts' });
  await mine.dropIndex('old');
  await mine.createIndex({ o: 1 }, { name: 'new' });
  await mine.createIndex({ e: -1 }, { name: 'free' });
  const cannot = (name: string, other: string) =>
    `The new index ${name} of beside.a cannot be built: main has the index ${other}, and the server takes only one of the two.`;
  const plan = await yard.call('plan.create', { branch: 'beside' });
  expect(plan.conflicts).toBe(2);
  expect(texts(plan.checks).sort()).toEqual([cannot('mine', 'theirs'), cannot('words', 'texts')]);
  const refused = await yard.refusal('plan.adopt', { branch: 'beside' });
  expect(refused).toMatchObject({ code: 'conflicts' });
  const { entry } = await yard.call('plan.apply', { plan: plan.plan });
  expect((await indexNames(main, 'a')).sort()).toEqual(['_id_', 'free', 'new', 'texts', 'theirs']);
  await yard.call('log.undo', { entry: entry! });
  expect((await indexNames(main, 'a')).sort()).toEqual(['_id_', 'old', 'texts', 'theirs']);
  const only = [{ ns: 'beside.a', schema: { type: 'index' as const, name: 'new' } }];
  const alone = await yard.call('plan.create', { branch: 'beside', only });
  expect(texts(alone.checks)).toEqual([cannot('new', 'old')]);
});

it('an index that a document of main cannot be in makes an adoption say so in a sentence, and nothing is applied', async () => {
  const { main, sandbox } = await sides('geo', (db) =>
    insertExactly(db.client, 'geo.a', [{ _id: 1, at: { type: 'Point', coordinates: [1, 1] } }]),
  );
  await sandbox.collection('a').createIndex({ at: '2dsphere' }, { name: 'at' });
  await sandbox.collection('a').updateOne(one(1), { $set: { n: 1 } });
  await main.collection('a').insertOne({ ...one(2), at: { type: 'Point', coordinates: [500, 1] } });
  const before = await contents(main.client, 'geo.a');
  const refused = await yard.refusal('plan.adopt', { branch: 'geo' });
  expect(refused).toMatchObject({ code: 'write_refused', hint: expect.stringContaining('Nothing was applied.') });
  expect(refused.message).toMatch(/^The new index at of geo\.a was refused by main: Can't extract geo keys: /);
  expect(await contents(main.client, 'geo.a')).toEqual(before);
});
