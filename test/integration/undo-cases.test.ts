import { Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf } from '../harness/round.ts';
import { collectionSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const sides = (name: string, documents: readonly Document[]) => collectionSides(yard, `undo.${name}`, documents);

it('MG-14: taking back an adoption puts back its field and keeps what was changed in another one since', async () => {
  const { ns, main, sandbox } = await sides('kept', [
    { _id: 1, a: new Int32(1), b: new Int32(1), lines: [{ id: 'x', n: 1 }, { id: 'y' }] },
    { _id: 2, a: new Int32(1) },
    { _id: 3, a: new Int32(1) },
  ]);
  await sandbox.updateOne(one(1), { $set: { a: new Int32(2), 'lines.0.n': 2 } });
  await sandbox.deleteOne(one(2));
  await sandbox.insertOne({ _id: 4 as never, a: new Int32(1) });
  const before = await yard.call('diff.get', { branch: 'kept' });
  const { entry } = await yard.call('plan.adopt', { branch: 'kept' });
  await main.updateOne(one(1), { $set: { b: new Int32(9), 'lines.1.n': 9 } });
  await main.updateOne(one(3), { $set: { a: new Int32(9) } });

  const undone = await yard.call('log.undo', { entry: entry! });
  expect(undone.applied).toBe(3);
  expect(await main.find().sort({ _id: 1 }).toArray()).toEqual([
    {
      _id: 1,
      a: 1,
      b: 9,
      lines: [
        { id: 'x', n: 1 },
        { id: 'y', n: 9 },
      ],
    },
    { _id: 2, a: 1 },
    { _id: 3, a: 9 },
  ]);
  // All that the sandbox did is there to be adopted again.
  const after = await yard.call('diff.get', { branch: 'kept' });
  expect(after.summary).toEqual([{ ns, added: 1, modified: 1, removed: 1, conflicts: 0 }]);
  expect(documentOf(after, { $numberInt: '1' }).fields.map(({ path }) => path)).toEqual(
    documentOf(before, { $numberInt: '1' }).fields.map(({ path }) => path),
  );
  // And the way back of the way back keeps it too.
  await yard.call('log.undo', { entry: undone.entry! });
  expect(await main.findOne(one(1))).toEqual({
    _id: 1,
    a: 2,
    b: 9,
    lines: [
      { id: 'x', n: 2 },
      { id: 'y', n: 9 },
    ],
  });
  expect((await yard.call('diff.get', { branch: 'kept' })).summary).toEqual([]);
});

it('MG-14: where the same field was changed again, taking it back is refused, names each document and field, and changes nothing', async () => {
  const { ns, client, main, sandbox } = await sides(
    'again',
    [1, 2, 3, 4, 5].map((_id) => ({ _id, a: { x: new Int32(1) } })),
  );
  await sandbox.updateMany({}, { $set: { 'a.x': new Int32(2) } });
  const { entry } = await yard.call('plan.adopt', { branch: 'again' });
  await main.updateOne(one(1), { $set: { 'a.x': new Int32(3) } });
  await main.deleteOne(one(2));
  await main.updateOne(one(3), { $set: { b: 1 } });
  const before = await contents(client, ns);
  const refused = await yard.refusal('log.undo', { entry: entry! });
  expect(refused.code).toBe('undo_refused');
  expect(refused.message).toContain('1 of undo.again (/a/x), 2 of undo.again');
  expect(refused.details?.['conflicts']).toEqual([
    { ns, id: id('1'), paths: [['a', 'x']] },
    { ns, id: id('2'), paths: [[]] },
  ]);
  expect(await contents(client, ns)).toEqual(before);
  // Put back by hand as the adoption left it, it can be taken back.
  await main.updateOne(one(1), { $set: { 'a.x': new Int32(2) } });
  await main.insertOne({ _id: 2 as never, a: { x: new Int32(2) } });
  await yard.call('log.undo', { entry: entry! });
  expect(
    await main
      .find({ 'a.x': 1 } as never)
      .sort({ _id: 1 })
      .toArray(),
  ).toHaveLength(5);
});

it('MG-14: of two adoptions from one sandbox the earlier can be taken back alone, and what it brought is open again', async () => {
  const { ns, main, sandbox } = await sides('earlier', [{ _id: 1, a: new Int32(1), b: new Int32(1) }]);
  await sandbox.updateOne(one(1), { $set: { a: new Int32(2) } });
  const first = await yard.call('plan.adopt', { branch: 'earlier' });
  await sandbox.updateOne(one(1), { $set: { b: new Int32(2) } });
  const second = await yard.call('plan.adopt', { branch: 'earlier' });
  await yard.call('log.undo', { entry: first.entry! });
  expect(await main.findOne()).toEqual({ _id: 1, a: 1, b: 2 });
  const fields = documentOf(await yard.call('diff.get', { branch: 'earlier' })).fields;
  expect(fields.map((each) => [each.path, each.class, ejson(each.base)])).toEqual([
    [['a'], 'clean', { $numberInt: '1' }],
  ]);
  await yard.call('log.undo', { entry: second.entry! });
  expect(await main.findOne()).toEqual({ _id: 1, a: 1, b: 1 });
  expect((await yard.call('diff.get', { branch: 'earlier' })).summary).toEqual([
    { ns, added: 0, modified: 1, removed: 0, conflicts: 0 },
  ]);
});
