import { Int32, Long, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bson, ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf } from '../harness/round.ts';
import { completeDiff } from '../harness/settled.ts';
import { collectionSides, type CollectionSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const int = (value: number) => ({ $numberInt: String(value) });

const sides = (name: string, documents: readonly Document[]) => collectionSides(yard, `merge.${name}`, documents);

it('MG-01: a plan is refused when main edits one of its documents by hand, names which, and writes nothing', async () => {
  const { ns, client, main, sandbox } = await sides(
    'stale',
    [1, 2, 3].map((_id) => ({ _id, n: new Int32(0), text: 'a' })),
  );
  await sandbox.updateMany({}, { $set: { n: new Int32(1) } });
  const { plan, conflicts } = await yard.call('plan.create', { branch: 'stale' });
  expect(conflicts).toBe(0);
  // Another field than the sandbox's: no conflict, and yet not what the plan was made for.
  await main.updateOne(one(2), { $set: { text: 'by hand' } });
  const before = await contents(client, ns);
  const refused = await yard.refusal('plan.apply', { plan });
  expect(refused.code).toBe('plan_stale');
  expect(refused.details?.['moved']).toEqual([{ ns, id: id('2') }]);
  expect(await contents(client, ns)).toEqual(before);
  // It stays refused, for the same reason; a new one has both edits.
  const again = await yard.refusal('plan.apply', { plan });
  expect(again.toBody()).toEqual(refused.toBody());
  expect((await yard.call('plan.adopt', { branch: 'stale' })).applied).toBe(3);
  expect(await main.findOne(one(2))).toEqual({ _id: 2, n: 1, text: 'by hand' });
});

it.each([
  ['deletes it', 'removed', (main: Mutable) => main.deleteOne(one(1))],
  ['changes only its type', 'typed', (main: Mutable) => main.updateOne(one(1), { $set: { n: Long.fromNumber(0) } })],
  ['reorders its fields', 'reordered', (main: Mutable) => main.replaceOne(one(1), { text: 'a', n: new Int32(0) })],
  ['inserts the one it adds', 'inserted', (main: Mutable) => main.insertOne({ _id: 9 as never, n: new Int32(9) })],
])('MG-01: a plan is stale too when main %s', async (_what, name, move) => {
  const { ns, client, main, sandbox } = await sides(name, [
    { _id: 1, n: new Int32(0), text: 'a' },
    { _id: 2, n: new Int32(0) },
  ]);
  await sandbox.updateMany({}, { $set: { other: 1 } });
  await sandbox.insertOne({ _id: 9 as never, n: new Int32(1) });
  const { plan } = await yard.call('plan.create', { branch: name });
  await move(main);
  const before = await contents(client, ns);
  expect(await yard.refusal('plan.apply', { plan })).toMatchObject({ code: 'plan_stale' });
  expect(await contents(client, ns)).toEqual(before);
});
type Mutable = CollectionSides['main'];

it('MG-03: deleted on one side and edited on the other is a conflict either way, with both versions to see and to take', async () => {
  const { ns, client, main, sandbox } = await sides(
    'deleted',
    [1, 2, 3, 4].map((_id) => ({ _id, n: new Int32(0) })),
  );
  await sandbox.deleteMany({ _id: { $in: [1, 3] } } as never);
  await main.updateMany({ _id: { $in: [1, 3] } } as never, { $set: { n: new Int32(7) } });
  await main.deleteMany({ _id: { $in: [2, 4] } } as never);
  await sandbox.updateMany({ _id: { $in: [2, 4] } } as never, { $set: { n: new Int32(8) } });
  const diff = await completeDiff(yard, { branch: 'deleted' });
  expect(diff.summary).toEqual([{ ns, added: 0, modified: 2, removed: 2, conflicts: 4 }]);
  const whole = (key: number) =>
    documentOf(diff, int(key)).fields.map((each) => [
      each.path,
      each.class,
      ejson(each.base),
      ejson(each.parent),
      ejson(each.branch),
    ]);
  const document = (key: number, n: number) => ({ _id: int(key), n: int(n) });
  expect(whole(1)).toEqual([[[], 'divergent', document(1, 0), document(1, 7), undefined]]);
  expect(whole(2)).toEqual([[[], 'divergent', document(2, 0), undefined, document(2, 8)]]);

  expect((await yard.refusal('plan.adopt', { branch: 'deleted' })).code).toBe('conflicts');
  const before = await contents(client, ns);
  const take = (key: string, side: string) => ({ target: { ns, id: id(key) }, take: { side } });
  const { entry } = await yard.call('plan.adopt', {
    branch: 'deleted',
    take: [take('1', 'deleted'), take('2', 'deleted'), take('3', 'main'), take('4', 'main')],
  });
  expect(await main.find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: 2, n: 8 },
    { _id: 3, n: 7 },
  ]);
  // Decided is decided: also what was left as main has it.
  expect((await completeDiff(yard, { branch: 'deleted' })).documents).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('MG-05: the same change on both sides is nobody’s conflict, is not listed, and adopting it says there is nothing to do', async () => {
  const { ns, client, main, sandbox } = await sides(
    'alike',
    [1, 2, 3].map((_id) => ({ _id, a: new Int32(1), b: { x: 1, y: 1 } })),
  );
  for (const side of [main, sandbox]) {
    await side.updateOne(one(1), { $set: { a: new Int32(2) } });
    await side.deleteOne(one(3));
  }
  await main.insertOne({ _id: 4 as never, p: 1, q: 2 });
  await sandbox.insertOne({ _id: 4 as never, q: 2, p: 1 });
  const diff = await completeDiff(yard, { branch: 'alike' });
  expect(diff).toMatchObject({ complete: true, summary: [], documents: [], schema: [] });
  const before = await contents(client, ns);
  expect(await yard.call('plan.adopt', { branch: 'alike' })).toEqual({ applied: 0 });
  expect(await contents(client, ns)).toEqual(before);
});

it('MG-05: alike in one field and apart in another, only the other is to be decided', async () => {
  const { ns, main, sandbox } = await sides('partly', [{ _id: 1, same: 1, own: 1, theirs: 1, both: 1 }]);
  await main.updateOne(one(1), { $set: { same: 2, theirs: 3, both: 4 } });
  await sandbox.updateOne(one(1), { $set: { same: 2, own: 3, both: 5 } });
  const diff = await completeDiff(yard, { branch: 'partly' });
  const classes = documentOf(diff).fields.map((each) => [each.path.join('/'), each.class]);
  expect(classes).toEqual([
    ['same', 'convergent'],
    ['own', 'clean'],
    ['both', 'divergent'],
  ]);
  // An edited result is as good as either side's.
  await yard.call('plan.adopt', {
    branch: 'partly',
    take: [{ target: { ns, id: id('1'), path: ['both'] }, take: { value: bson({ mixed: true }) } }],
  });
  expect(await main.findOne()).toEqual({ _id: 1, same: 2, own: 3, theirs: 3, both: { mixed: true } });
});

it('different fields of one document edited in two sandboxes both arrive in main, one adoption after the other', async () => {
  const { client, ns, main, sandbox } = await sides('twice', [
    {
      _id: 1,
      price: new Int32(1),
      stock: new Int32(1),
      lines: [
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ],
    },
  ]);
  await yard.fork('second', { ttlMs: null });
  const second = (await yard.client('second')).db('merge').collection<Document>('twice');
  await sandbox.updateOne(one(1), { $set: { price: new Int32(2), 'lines.0.n': 2 } });
  await second.updateOne(one(1), { $set: { stock: new Int32(3), 'lines.1.n': 3 } });
  const before = await contents(client, ns);
  const first = await yard.call('plan.adopt', { branch: 'twice' });
  expect((await completeDiff(yard, { branch: 'second' })).summary[0]).toMatchObject({ modified: 1, conflicts: 0 });
  const last = await yard.call('plan.adopt', { branch: 'second' });
  expect(await main.findOne()).toEqual({
    _id: 1,
    price: 2,
    stock: 3,
    lines: [
      { _id: 'a', n: 2 },
      { _id: 'b', n: 3 },
    ],
  });
  await yard.call('log.undo', { entry: last.entry! });
  await yard.call('log.undo', { entry: first.entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('main edited by hand meanwhile, in the same field, is a conflict that names both values, and adopting is refused', async () => {
  const { ns, client, main, sandbox } = await sides('by-hand', [{ _id: 'p', price: new Int32(89) }]);
  await sandbox.updateOne(one('p'), { $set: { price: new Int32(80) } });
  await main.updateOne(one('p'), { $set: { price: new Int32(85) } });
  const before = await contents(client, ns);
  const refused = await yard.refusal('plan.adopt', { branch: 'by-hand' });
  expect(refused).toMatchObject({ code: 'conflicts', details: { conflicts: 1 } });
  expect(refused.hint).toContain('--take');
  expect(await contents(client, ns)).toEqual(before);
  const [field] = documentOf(await completeDiff(yard, { branch: 'by-hand' })).fields;
  expect([ejson(field?.base), ejson(field?.parent), ejson(field?.branch)]).toEqual([int(89), int(85), int(80)]);
});
