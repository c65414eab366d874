import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db, Document } from 'mongodb';
import { id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents } from '../harness/round.ts';
import { completeDiff } from '../harness/settled.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const catalogOf = (db: Db) => db.listCollections({}, { nameOnly: false }).toArray();
const hashOf = async (db: Db) => (await db.command({ dbHash: 1 }))['collections'] as Document;

const sides = (name: string, prepare: (db: Db) => Promise<unknown>) => databaseSides(yard, name, prepare);
const diff = (branch: string) => completeDiff(yard, { branch });

it('documents of a capped collection are told and not carried over; the rest is', async () => {
  const { main, sandbox } = await sides('capped', (db) => db.createCollection('ring', { capped: true, size: 10_000 }));
  await sandbox.collection('ring').insertOne(one(1));
  await sandbox.collection('plain').insertOne(one(1));
  const { checks } = await yard.call('plan.create', { branch: 'capped' });
  expect(checks.find(({ ok }) => !ok)?.detail).toContain('1 document of capped.ring is shown but not carried over');
  expect((await yard.call('plan.adopt', { branch: 'capped' })).applied).toBe(2);
  expect(await main.collection('ring').countDocuments()).toBe(0);
  expect(await main.collection('plain').countDocuments()).toBe(1);
});

it('documents of a collection that was converted to capped, or cloned as one, are in the history', async () => {
  const { sandbox } = await sides('converted', (db) => db.collection('a').insertMany([one(1), one(2)]));
  await sandbox.command({ cloneCollectionAsCapped: 'a', toCollection: 'b', size: 10_000 });
  await sandbox.command({ convertToCapped: 'a', size: 10_000 });
  const { summary, complete } = await diff('converted');
  expect(complete).toBe(true);
  expect(summary.map(({ ns, added }) => ({ ns, added }))).toEqual([
    { ns: 'converted.a', added: 2 },
    { ns: 'converted.b', added: 2 },
  ]);
});

it('CS-17: a changed view is adopted, undone, and adopted again by undoing that', async () => {
  const { main, sandbox } = await sides('views', (db) =>
    db.createCollection('open', { viewOn: 'orders', pipeline: [{ $match: { open: true } }] }),
  );
  const before = await hashOf(main);
  await sandbox.command({ collMod: 'open', viewOn: 'orders', pipeline: [{ $match: { open: 1 } }] });
  await sandbox.createCollection('again', { viewOn: 'open', pipeline: [] });
  const { entry } = await yard.call('plan.adopt', { branch: 'views' });
  expect(await hashOf(main)).toEqual(await hashOf(sandbox));
  const undone = await yard.call('log.undo', { entry: entry! });
  expect(await hashOf(main)).toEqual(before);
  await yard.call('log.undo', { entry: undone.entry! });
  expect(await hashOf(main)).toEqual(await hashOf(sandbox));
});

it('a view or index that main defines otherwise since the plan is left alone, and so is one it defined otherwise since the adoption', async () => {
  const { main, sandbox } = await sides('moved', async (db) => {
    await db.collection('c').createIndex({ a: 1 }, { name: 'i' });
    await db.createCollection('v', { viewOn: 'c', pipeline: [] });
  });
  await sandbox.command({ collMod: 'v', viewOn: 'c', pipeline: [{ $match: { a: 1 } }] });
  await sandbox.collection('c').dropIndex('i');
  await sandbox.collection('c').createIndex({ b: 1 }, { name: 'j' });
  const { plan } = await yard.call('plan.create', { branch: 'moved' });
  await main.command({ collMod: 'v', viewOn: 'c', pipeline: [{ $match: { a: 2 } }] });
  await main.collection('c').dropIndex('i');
  await main.collection('c').createIndex({ a: -1 }, { name: 'i' });
  const before = await catalogOf(main);
  const refused = await yard.refusal('plan.apply', { plan });
  expect(refused.code).toBe('plan_stale');
  expect(refused.details?.['moved']).toEqual([{ ns: 'moved.c' }, { ns: 'moved.v' }]);
  expect(await catalogOf(main)).toEqual(before);
  expect((await main.collection('c').indexes()).map(({ name }) => name)).toEqual(['_id_', 'i']);

  const { plan: second } = await yard.call('plan.create', { branch: 'moved' });
  const { entry } = await yard.call('plan.apply', { plan: second });
  await main.collection('c').dropIndex('j');
  await main.collection('c').createIndex({ z: 1 }, { name: 'j' });
  const inTheWay = await yard.refusal('log.undo', { entry: entry! });
  expect(inTheWay.code).toBe('undo_refused');
  expect(inTheWay.message).toContain(`The index j of moved.c is no longer in main as ${entry} left it.`);
  expect((await main.collection('c').indexes()).find(({ name }) => name === 'j')?.key).toEqual({ z: 1 });
});

it('an adopted collection is like the one it came from: its validator as told, its index keys in their order', async () => {
  const { main, sandbox } = await sides('made', (db) => db.collection('any').insertOne(one(1)));
  await sandbox.createCollection('c', { validator: { q: { $type: 'int' } }, validationLevel: 'moderate' });
  // Two names that a JavaScript object would put first.
  const key = new Map([
    ['b', 1],
    ['7', 1],
    ['0', -1],
  ]);
  await sandbox.command({ createIndexes: 'c', indexes: [{ key, name: 'odd' }] });
  expect((await yard.call('plan.adopt', { branch: 'made' })).applied).toBe(3);
  expect((await diff('made')).schema).toEqual([]);
  expect(await yard.call('plan.adopt', { branch: 'made' })).toEqual({ applied: 0 });
  // Undone, a validator that is set later is obeyed.
  expect(
    await main
      .collection('c')
      .insertOne({ ...one(1), q: 'x' })
      .catch((error: unknown) => String(error)),
  ).toContain('failed validation');
});

it('an undo that main stands in the way of takes nothing back: the collection it would drop holds main’s own', async () => {
  const { main, sandbox } = await sides('kept', (db) => db.collection('any').insertOne(one(1)));
  await sandbox.collection('made').insertMany([one(1), one(2)]);
  const { entry } = await yard.call('plan.adopt', { branch: 'kept' });
  await main.collection('made').insertOne(one('main’s own'));
  const before = await contents(await yard.client('main'), 'kept.made');
  const refused = await yard.refusal('log.undo', { entry: entry! });
  expect(refused).toMatchObject({ code: 'undo_refused', details: { conflicts: [{ ns: 'kept.made' }] } });
  expect(refused.message).toContain(`holds more than what ${entry} put there: "main’s own" of kept.made.`);
  expect(await contents(await yard.client('main'), 'kept.made')).toEqual(before);
  await main.collection('made').deleteOne(one('main’s own'));
  expect((await yard.call('log.undo', { entry: entry! })).applied).toBe(3);
  expect((await catalogOf(main)).map(({ name }) => name)).toEqual(['any']);
});

it('a stored function is shown like any document, and told to stay where it is', async () => {
  const { main, sandbox } = await sides('functions', (db) => db.collection('any').insertOne(one(1)));
  await sandbox.collection('system.js').insertOne({ ...one('f'), value: 1 });
  expect((await diff('functions')).documents.map(({ ns, id: key }) => ({ ns, key }))).toEqual([
    { ns: 'functions.system.js', key: id('"f"') },
  ]);
  const { checks } = await yard.call('plan.create', { branch: 'functions' });
  expect(checks.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining('1 document of functions.system.js'),
  );
  const { applied, leftOut } = await yard.call('plan.adopt', { branch: 'functions' });
  expect(applied).toBe(0);
  expect(leftOut?.join(' ')).toContain('1 document of functions.system.js');
  expect(await main.collection('system.js').countDocuments()).toBe(0);
  const back = await yard.call('restore.plan', { branch: 'functions', to: { seq: 0 } });
  expect(back.checks.map(({ detail }) => detail)).toContainEqual(
    expect.stringMatching(/functions\.system\.js stays as it is: the server makes it/),
  );
});

it.each([
  ['validator', (db: Db) => db.command({ collMod: 'c', validator: { a: { $type: 'int' } } })],
  ['unique index', (db: Db) => db.collection('c').createIndex({ b: 1 }, { unique: true })],
])('a document that a %s made in main since the plan refuses is named, and nothing is applied', async (kind, make) => {
  const name = kind.replace(' ', '-');
  const { main, sandbox } = await sides(name, (db) => db.collection('c').insertOne({ ...one(1), a: 1, b: 1 }));
  await sandbox.collection('c').insertMany([
    { ...one(2), a: 2, b: 2 },
    { ...one(3), a: 'x', b: 1 },
  ]);
  const { plan } = await yard.call('plan.create', { branch: name });
  await make(main);
  const refused = await yard.refusal('plan.apply', { plan });
  expect(refused).toMatchObject({ code: 'write_refused', details: { ns: `${name}.c`, id: id('3') } });
  expect(await main.collection('c').countDocuments()).toBe(1);
});
