import { Int32, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Change } from '../../shared/api.ts';
import { ejson, one } from '../harness/bson.ts';
import { homeClient } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff, onceComplete } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const int = (value: number) => ({ $numberInt: String(value) });

/** `[op, before, after]` of document changes, images as Extended JSON. */
function images(changes: readonly Change[]): [op: string, before: unknown, after: unknown][] {
  return changes.filter(({ id }) => id !== undefined).map(({ op, before, after }) => [op, ejson(before), ejson(after)]);
}

/** A branch whose history is whole: nothing missing in it and nothing awaiting a comparison. */
async function wholeHistory(branch: string): Promise<Change[]> {
  const changes = await allChanges(yard, branch);
  expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, index) => index + 1));
  await expectComplete(branch);
  return changes;
}

/** A diff says so itself while a comparison takes longer than it waits. */
async function expectComplete(branch: string): Promise<void> {
  const diff = await completeDiff(yard, { branch, summary: true });
  expect(diff.gaps.filter(({ settled }) => !settled)).toEqual([]);
  expect(diff.complete).toBe(true);
}

it('CS-06: the first update and delete in a collection that was just created have their before-images, and undo works', async () => {
  await yard.fork('cs06', { ttlMs: null });
  const client = await yard.client('cs06');
  const fresh = client.db('cs06').collection<{ _id: string; n: Int32 }>('fresh');
  await fresh.insertMany(['kept', 'gone'].map((_id) => ({ _id, n: new Int32(1) })));
  await fresh.updateOne({ _id: 'kept' }, { $set: { n: new Int32(2) } });
  await fresh.updateOne({ _id: 'kept' }, { $set: { n: new Int32(3) } });
  await fresh.deleteOne({ _id: 'gone' });
  expect(images(await wholeHistory('cs06'))).toEqual([
    ['insert', undefined, { _id: 'kept', n: int(1) }],
    ['insert', undefined, { _id: 'gone', n: int(1) }],
    ['update', { _id: 'kept', n: int(1) }, { _id: 'kept', n: int(2) }],
    ['update', { _id: 'kept', n: int(2) }, { _id: 'kept', n: int(3) }],
    ['delete', { _id: 'gone', n: int(1) }, undefined],
  ]);
  const main = await yard.client('main');
  const { entry } = await yard.call('plan.adopt', { branch: 'cs06' });
  expect(await contents(main, 'cs06.fresh')).toEqual(await contents(client, 'cs06.fresh'));
  await yard.call('log.undo', { entry: entry! });
  expect(await main.db('cs06').listCollections().toArray()).toEqual([]);
});

it('CS-06: the same through replacements, upserts, findAndModify and a bulk in one message', async () => {
  await yard.fork('cs06-forms', { ttlMs: null });
  const client = await yard.client('cs06-forms');
  const fresh = client.db('forms').collection<{ _id: number; n: Int32 }>('fresh');
  await fresh.updateOne({ _id: 1 }, { $set: { n: new Int32(1) } }, { upsert: true });
  await fresh.findOneAndUpdate({ _id: 1 }, { $inc: { n: new Int32(1) } });
  await fresh.replaceOne({ _id: 1 }, { n: new Int32(9) });
  await fresh.bulkWrite([
    { insertOne: { document: { _id: 2, n: new Int32(1) } } },
    { updateOne: { filter: { _id: 2 }, update: [{ $set: { n: { $add: ['$n', new Int32(1)] } } }] } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  await fresh.findOneAndDelete({ _id: 1 });
  const document = (_id: number, n: number) => ({ _id: int(_id), n: int(n) });
  expect(images(await wholeHistory('cs06-forms'))).toEqual([
    ['insert', undefined, document(1, 1)],
    ['update', document(1, 1), document(1, 2)],
    ['replace', document(1, 2), document(1, 9)],
    ['insert', undefined, document(2, 1)],
    // The server's own choice: the whole is shorter than what changed in it.
    ['replace', document(2, 1), document(2, 2)],
    ['delete', document(2, 2), undefined],
    ['delete', document(1, 9), undefined],
  ]);
});

it('CS-23: while home refuses a batch nothing of it is passed over, and once it takes it everything is there once', async () => {
  const { branch } = await yard.fork('refused', { ttlMs: null });
  const client = await yard.client('refused');
  const collection = client.db('cs23').collection<{ _id: number }>('refused');
  await collection.insertOne({ _id: 0 });
  const before = await allChanges(yard, 'refused');
  // Somebody else's unfinished write stands where the next entry goes.
  const home = await homeClient(yard);
  const session = home.startSession();
  session.startTransaction();
  const next = { _id: (before.at(-1)!.seq + 1) as never };
  await home.db('history').collection(`changes_${branch.id}`).insertOne(next, { session });
  const refusals = () => yard.log.filter((line) => line.includes(branch.id) && line.includes('trying again')).length;
  const earlier = refusals();
  for (let _id = 1; _id <= 50; _id += 1) await collection.insertOne({ _id });
  const asked: ReturnType<typeof ask>[] = [];
  const ask = () => yard.call('changes.page', { branch: 'refused', settle: true, after: before.at(-1)!.seq });
  await vi.waitFor(
    () => {
      // Asked at every moment of it: while it reads, while it writes, while it pauses.
      asked.push(ask());
      expect(refusals()).toBeGreaterThan(earlier + 9);
    },
    { timeout: 50_000, interval: 5 },
  );
  await session.abortTransaction();
  await session.endSession();
  await home.close();
  const wanted = Array.from({ length: 50 }, (_, index) => int(index + 1));
  for (const { changes, complete } of await Promise.all([...asked, onceComplete(ask)])) {
    // One that waited as long as it may says so, and has nothing that is not its turn yet.
    expect(changes.map(({ id }) => ejson(id))).toEqual(complete ? wanted : wanted.slice(0, changes.length));
  }
});

it.each([
  ['in a collection that was forked', 'cs08-old', false],
  ['in a collection that it creates', 'cs08-new', true],
])(
  'CS-08: 500 loops of insert, update, update, delete %s each show their own moment',
  async (_where, branch, fresh) => {
    const main = await yard.client('main');
    if (!fresh) await insertExactly(main, 'cs08.loop', [{ _id: 'before' }]);
    await yard.fork(branch, { ttlMs: null });
    const loop = (await yard.client(branch, undefined, { w: 1 }))
      .db('cs08')
      .collection<{ _id: number; a?: Int32 }>(fresh ? 'fresh' : 'loop');
    for (let _id = 0; _id < 500; _id += 1) {
      await loop.insertOne({ _id });
      await loop.updateOne({ _id }, { $set: { a: new Int32(1) } });
      await loop.updateOne({ _id }, { $set: { a: new Int32(2) } });
      await loop.deleteOne({ _id });
    }
    const expected = Array.from({ length: 500 }, (_, n) => {
      const [bare, first, second] = [{ _id: int(n) }, { _id: int(n), a: int(1) }, { _id: int(n), a: int(2) }];
      return [
        ['insert', undefined, bare],
        ['update', bare, first],
        ['update', first, second],
        ['delete', second, undefined],
      ];
    }).flat();
    expect(images(await wholeHistory(branch))).toEqual(expected);
  },
);

it('CS-20: a transaction is one unit of its documents in order, the next one another, and an aborted one leaves no trace', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'cs20.a', [{ _id: 'A', amount: new Int32(100) }]);
  await insertExactly(main, 'cs20.b', [{ _id: 'B', amount: new Int32(0) }]);
  const before = [await contents(main, 'cs20.a'), await contents(main, 'cs20.b')];
  await yard.fork('cs20', { ttlMs: null });
  const client = await yard.client('cs20');
  const move = async (amount: number, commit: boolean) => {
    const session = client.startSession();
    session.startTransaction();
    const db = client.db('cs20');
    await db.collection('a').updateOne(one('A'), { $inc: { amount: new Int32(-amount) } }, { session });
    await db.collection('b').updateOne(one('B'), { $inc: { amount: new Int32(amount) } }, { session });
    await (commit ? session.commitTransaction() : session.abortTransaction());
    await session.endSession();
  };
  await move(10, true);
  await move(50, false);
  await move(5, true);
  const changes = await wholeHistory('cs20');
  expect(changes.map(({ ns, after }) => [ns, (ejson(after) as Document)['amount']])).toEqual([
    ['cs20.a', int(90)],
    ['cs20.b', int(10)],
    ['cs20.a', int(85)],
    ['cs20.b', int(15)],
  ]);
  const units = changes.map(({ transaction }) => transaction);
  expect(units[0]).toBeTypeOf('string');
  expect(units[1]).toBe(units[0]);
  expect(units[2]).not.toBe(units[0]);
  expect(units[3]).toBe(units[2]);

  const { applied, entry } = await yard.call('plan.adopt', { branch: 'cs20' });
  expect(applied).toBe(2);
  // What an adoption writes is one unit too, in main's history as in its undo.
  await yard.call('log.undo', { entry: entry! });
  expect([await contents(main, 'cs20.a'), await contents(main, 'cs20.b')]).toEqual(before);
  const own = (await allChanges(yard, 'main')).filter(({ ns, op }) => ns?.startsWith('cs20.') && op !== 'insert');
  const written = own.filter(({ id, op }) => id !== undefined && op !== 'create');
  expect(written.map(({ actor }) => actor)).toEqual(Array(4).fill('forkyard'));
  expect(new Set(written.slice(0, 2).map(({ transaction }) => transaction)).size).toBe(1);
  expect(new Set(written.slice(2).map(({ transaction }) => transaction)).size).toBe(1);
});

it('CS-20: a transaction larger than one batch is still one unit, and one document changed in it twice shows both steps', async () => {
  await yard.fork('cs20-large', { ttlMs: null });
  const client = await yard.client('cs20-large');
  const many = client.db('cs20').collection<{ _id: number; n: Int32 }>('many');
  await client.db('cs20').createCollection('many');
  const session = client.startSession();
  session.startTransaction();
  await many.insertMany(
    Array.from({ length: 2_500 }, (_, _id) => ({ _id, n: new Int32(0) })),
    { session },
  );
  await many.updateOne({ _id: 7 }, { $set: { n: new Int32(1) } }, { session });
  await many.updateOne({ _id: 7 }, { $set: { n: new Int32(2) } }, { session });
  await many.deleteOne({ _id: 8 }, { session });
  await session.commitTransaction();
  await session.endSession();
  const changes = (await wholeHistory('cs20-large')).filter(({ id }) => id !== undefined);
  expect(changes).toHaveLength(2_503);
  expect(changes[0]?.transaction).toBeTypeOf('string');
  expect(new Set(changes.map(({ transaction }) => transaction)).size).toBe(1);
  expect(images(changes.slice(-3))).toEqual([
    ['update', { _id: int(7), n: int(0) }, { _id: int(7), n: int(1) }],
    ['update', { _id: int(7), n: int(1) }, { _id: int(7), n: int(2) }],
    ['delete', { _id: int(8), n: int(0) }, undefined],
  ]);
});

it('clients with w: 1 and no retryable writes: create, change, drop and rename in one loop are all captured, and the diff is complete', async () => {
  const main = await yard.client('main');
  const rounds = 15;
  await yard.fork('unretried', { ttlMs: null });
  const client = await yard.client('unretried', undefined, { w: 1, retryWrites: false });
  for (let turn = 0; turn < rounds; turn += 1) await churn(client, turn);
  const changes = await wholeHistory('unretried');
  const byName = new Map<string, Change[]>();
  for (const change of changes) {
    const name = change.ns ?? '';
    byName.set(name, [...(byName.get(name) ?? []), change]);
  }
  for (let turn = 0; turn < rounds; turn += 1) {
    const [first, second] = [byName.get(`churn.turn-${turn}`)!, byName.get(`churn.renamed-${turn}`)!];
    expect(images(first)).toEqual([
      ['insert', undefined, { _id: int(1), n: int(0) }],
      ['insert', undefined, { _id: int(2), n: int(0) }],
      ['update', { _id: int(1), n: int(0) }, { _id: int(1), n: int(turn + 1) }],
      ['update', { _id: int(2), n: int(0) }, { _id: int(2), n: int(turn + 1) }],
      ['delete', { _id: int(2), n: int(turn + 1) }, undefined],
    ]);
    expect(first.map(({ op }) => op).filter((op) => op === 'create' || op === 'rename')).toEqual(['create', 'rename']);
    expect(images(second)).toEqual([
      ['update', { _id: int(1), n: int(turn + 1) }, { _id: int(1), n: int(-1) }],
      ['insert', undefined, { _id: int(3), n: int(0) }],
    ]);
    if (turn % 2 === 0) expect(second.at(-1)?.op).toBe('drop');
  }
  const diff = await completeDiff(yard, { branch: 'unretried' });
  const kept = Array.from({ length: rounds }, (_, turn) => turn).filter((turn) => turn % 2 === 1);
  expect(diff.schema.map(({ type, kind, ns, documents }) => [type, kind, ns, documents]).sort()).toEqual(
    kept.map((turn) => ['collection', 'added', `churn.renamed-${turn}`, 2]).sort(),
  );
  expect(diff.summary).toEqual(
    kept.map((turn) => ({ ns: `churn.renamed-${turn}`, added: 2, modified: 0, removed: 0, conflicts: 0 })).sort(byNs),
  );
  await yard.call('plan.adopt', { branch: 'unretried' });
  for (const turn of kept) {
    const ns = `churn.renamed-${turn}`;
    expect(await contents(main, ns)).toEqual(await contents(client, ns));
  }
});

const byNs = (a: { ns: string }, b: { ns: string }) => (a.ns < b.ns ? -1 : 1);

/** One collection's short life; every second one ends dropped, the others renamed. */
async function churn(client: MongoClient, turn: number): Promise<void> {
  const db = client.db('churn');
  const collection = db.collection<{ _id: number; n: Int32 }>(`turn-${turn}`);
  await collection.insertMany([1, 2].map((_id) => ({ _id, n: new Int32(0) })));
  await collection.updateMany({}, { $inc: { n: new Int32(turn + 1) } });
  await collection.deleteMany({ _id: 2 });
  const renamed = await collection.rename(`renamed-${turn}`);
  await renamed.updateOne(one(1), { $set: { n: new Int32(-1) } });
  await renamed.insertOne({ ...one(3), n: new Int32(0) });
  if (turn % 2 === 0) await renamed.drop();
}
