import { Double, Int32, Long, ObjectId, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, fieldRows, insertExactly, round, split } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const collection = async (branch: string, ns: string) => {
  const [db, name] = split(ns);
  return (await yard.client(branch)).db(db).collection<Document>(name);
};

it('sub-document ids keep their field order and are told apart by it', async () => {
  const ids = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: { c: 1 }, b: 2 },
  ];
  const { diff } = await round(yard, {
    ns: 'ids.nested',
    documents: ids.map((_id) => ({ _id, v: new Int32(1) })),
    edit: async (sandbox) => {
      const nested = sandbox.db('ids').collection('nested');
      await nested.updateOne({ _id: { $eq: ids[0] } } as never, { $set: { v: new Int32(2) } });
      await nested.deleteOne({ _id: { $eq: ids[1] } } as never);
      await nested.insertOne({ _id: { b: 2, a: 2 } as never, v: 1 });
    },
  });
  expect(diff.documents.map(({ id, kind }) => [JSON.stringify(ejson(id)), kind]).sort()).toEqual([
    ['{"a":{"$numberInt":"1"},"b":{"$numberInt":"2"}}', 'modified'],
    ['{"b":{"$numberInt":"2"},"a":{"$numberInt":"1"}}', 'removed'],
    ['{"b":{"$numberInt":"2"},"a":{"$numberInt":"2"}}', 'added'],
  ]);
});

it('deletes by int, date, string and ObjectId arrive in a live main: what is reported as applied is gone', async () => {
  const ids = [new Int32(7), Long.fromString('9007199254740993'), new Date(5), 'text', new ObjectId(), new Double(1.5)];
  const main = await yard.client('main');
  await insertExactly(
    main,
    'ids.kinds',
    [...ids, 'stays'].map((_id) => ({ _id })),
  );
  await yard.fork('kinds', { ttlMs: null });
  const sandbox = await collection('kinds', 'ids.kinds');
  for (const id of ids) expect((await sandbox.deleteOne(one(id))).deletedCount).toBe(1);
  // Main goes on meanwhile.
  await (await collection('main', 'ids.kinds')).updateOne(one('stays'), { $set: { v: 1 } });
  const before = await contents(main, 'ids.kinds');
  const { applied, entry } = await yard.call('plan.adopt', { branch: 'kinds' });
  expect(applied).toBe(ids.length);
  expect([...(await contents(main, 'ids.kinds')).keys()]).toEqual(['"stays"']);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'ids.kinds')).toEqual(before);
});

it('_id 1 and "1" are two documents, and _id 1 and 1.0 are one whose id changed its type', async () => {
  const { diff } = await round(yard, {
    ns: 'ids.alike',
    documents: [
      { _id: new Int32(1), v: 'number' },
      { _id: '1', v: 'text' },
    ],
    edit: async (sandbox) => {
      const alike = sandbox.db('ids').collection('alike');
      await alike.updateOne(one('1'), { $set: { v: 'changed' } });
      await alike.deleteOne(one(new Int32(1)));
      await alike.insertOne({ _id: new Double(1) as never, v: 'number' });
    },
  });
  expect(diff.documents.map(({ id, kind }) => [ejson(id), kind]).sort()).toEqual([
    ['1', 'modified'],
    [{ $numberInt: '1' }, 'modified'],
  ]);
  expect(fieldRows(diff, { $numberInt: '1' })).toEqual([[['_id'], { $numberInt: '1' }, { $numberDouble: '1.0' }]]);
});

it('Int → Double and 0 → -0 are changes, and an untouched Double and a removed field stay what they are after a merge', async () => {
  const { diff } = await round(yard, {
    ns: 'bytes.merge',
    documents: [{ _id: 1, i: new Int32(1), z: new Double(0), whole: new Double(3), gone: 'x', stays: null }],
    edit: (sandbox) =>
      sandbox
        .db('bytes')
        .collection('merge')
        .updateOne(one(1), { $set: { i: new Double(1), z: new Double(-0) }, $unset: { gone: '' } }),
  });
  expect(fieldRows(diff)).toEqual([
    [['i'], { $numberInt: '1' }, { $numberDouble: '1.0' }],
    [['z'], { $numberDouble: '0.0' }, { $numberDouble: '-0.0' }],
    [['gone'], 'x', undefined],
  ]);

  // The same against a main that moved: the merged document has no `gone`, and `whole` is a Double still.
  const main = await yard.client('main');
  await insertExactly(main, 'bytes.moved', [{ _id: 1, whole: new Double(3), gone: 'x', mine: 1 }]);
  await yard.fork('moved', { ttlMs: null });
  await (await collection('moved', 'bytes.moved')).updateOne(one(1), { $unset: { gone: '' } });
  await (await collection('main', 'bytes.moved')).updateOne(one(1), { $set: { mine: new Int32(2) } });
  await yard.call('plan.adopt', { branch: 'moved' });
  expect([...(await contents(main, 'bytes.moved')).values()][0]).toMatch(
    /^\{"_id":\{"\$numberInt":"1"\},"whole":\{"\$numberDouble":"3\.0"\},"mine":\{"\$numberInt":"2"\}\} /,
  );
});

it('swapped unique values apply, and their undo too', async () => {
  const main = await yard.client('main');
  await insertExactly(
    main,
    'unique.seats',
    ['a', 'b', 'c'].map((seat, _id) => ({ _id, seat })),
  );
  await main.db('unique').createIndex('seats', { seat: 1 }, { unique: true });
  const before = await contents(main, 'unique.seats');
  await yard.fork('swap', { ttlMs: null });
  const sandbox = await collection('swap', 'unique.seats');
  // A ring: each takes the seat of the next.
  await sandbox.updateOne(one(0), { $set: { seat: 'free' } });
  await sandbox.updateOne(one(2), { $set: { seat: 'a' } });
  await sandbox.updateOne(one(1), { $set: { seat: 'c' } });
  await sandbox.updateOne(one(0), { $set: { seat: 'b' } });
  const { plan, checks } = await yard.call('plan.create', { branch: 'swap' });
  expect(checks.every(({ ok }) => ok)).toBe(true);
  const { applied, entry } = await yard.call('plan.apply', { plan });
  expect(applied).toBe(3);
  const seats = await (await collection('main', 'unique.seats')).find().sort({ _id: 1 }).toArray();
  expect(seats.map(({ seat }) => seat as string)).toEqual(['b', 'c', 'a']);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'unique.seats')).toEqual(before);
});

it('a unique value that main took meanwhile is told before, and nothing is half written', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'unique.names', [
    { _id: 1, name: 'a' },
    { _id: 2, name: 'b' },
  ]);
  await main.db('unique').createIndex('names', { name: 1 }, { unique: true });
  await yard.fork('taken', { ttlMs: null });
  await (await collection('taken', 'unique.names')).updateMany({}, [{ $set: { name: { $concat: ['$name', '!'] } } }]);
  await (await collection('main', 'unique.names')).insertOne({ _id: 3 as never, name: 'b!' });
  const before = await contents(main, 'unique.names');
  const { conflicts, checks } = await yard.call('plan.create', { branch: 'taken' });
  expect(conflicts).toBe(1);
  expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['unique name_1']);
  expect((await yard.refusal('plan.adopt', { branch: 'taken' })).code).toBe('conflicts');
  expect(await contents(main, 'unique.names')).toEqual(before);
});

it('who did it is told by credential, with two actors in one sandbox, for single writes and transactions', async () => {
  await yard.fork('who', { ttlMs: null, actor: 'agent:one' });
  const first = await yard.client('who', 'agent:one');
  const second = await yard.client('who', 'agent:two');
  const docs = (client: typeof first) => client.db('who').collection<{ _id: number; n?: number }>('docs');
  await docs(first).insertOne({ _id: 1 });
  await docs(second).updateOne({ _id: 1 }, { $set: { n: 2 } });
  await docs(second).findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } });
  const session = first.startSession();
  await session.withTransaction(async () => {
    await docs(first).insertOne({ _id: 2 }, { session });
    await docs(first).deleteOne({ _id: 1 }, { session });
  });
  await session.endSession();
  // An updateMany carries no name in the log of the server: then it is one of them, and never a guess.
  await docs(second).updateMany({}, { $set: { n: 9 } });
  const changes = (await allChanges(yard, 'who')).filter(({ id }) => id !== undefined);
  expect(changes.map(({ op, actor }) => [op, actor])).toEqual([
    ['insert', 'agent:one'],
    ['update', 'agent:two'],
    ['update', 'agent:two'],
    ['insert', 'agent:one'],
    ['delete', 'agent:one'],
    ['update', undefined],
  ]);
  expect(changes.at(-1)?.actors?.slice().sort()).toEqual(['agent:one', 'agent:two']);
});

it('the undo of an adopted updateMany is exact, document by document', async () => {
  const { diff } = await round(yard, {
    ns: 'many.prices',
    documents: Array.from({ length: 300 }, (_, _id) => ({
      _id,
      price: _id % 3 === 0 ? new Int32(_id) : _id % 3 === 1 ? new Double(_id) : Long.fromNumber(_id),
      tags: ['a', 'b'],
    })),
    edit: (sandbox) =>
      sandbox
        .db('many')
        .collection('prices')
        .updateMany({}, [{ $set: { price: { $multiply: ['$price', 1.1] }, tags: { $slice: ['$tags', 1] } } }]),
  });
  expect(diff.summary).toEqual([{ ns: 'many.prices', added: 0, modified: 300, removed: 0, conflicts: 0 }]);
});
