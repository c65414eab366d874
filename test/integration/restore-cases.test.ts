import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Double, Int32, type CollectionInfo, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { wholeDatabase, writeAtRandom } from '../harness/back-workload.ts';
import { Random } from '../harness/fuzz/random.ts';
import { contents, insertExactly } from '../harness/round.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  const main = await yard.client('main');
  await main.db('shop').collection('products').insertMany(seed());
  await main.db('shop').collection('products').createIndex({ price: 1 }, { name: 'price' });
});
afterAll(() => yard.close());

const seed = (): Document[] => [1, 2, 3, 4].map((n) => ({ _id: `p${n}`, price: new Int32(n * 10), a: 1, b: 1 }));
const products = async (branch: string, actor?: string) =>
  (await yard.client(branch, actor)).db('shop').collection<Document>('products');
const state = async (branch: string) => contents(await yard.client(branch), 'shop.products');
async function lastSeq(branch: string): Promise<number> {
  return (await yard.call('changes.page', { branch, settle: true })).last;
}
async function restoreTo(branch: string, seq: number) {
  const plan = await yard.call('restore.plan', { branch, to: { seq } });
  return { plan, ...(await yard.call('plan.apply', { plan: plan.plan })) };
}

it('restores a sandbox in place to a moment: edits, deletes and inserts since are taken back, as one entry that can be undone', async () => {
  await yard.fork('inplace', { ttlMs: null });
  const sandbox = await products('inplace');
  await sandbox.updateOne(one('p1'), { $set: { price: new Double(9.5) } });
  const then = await state('inplace');
  const moment = await lastSeq('inplace');
  await sandbox.updateOne(one('p1'), { $set: { price: 1 } });
  await sandbox.deleteOne(one('p2'));
  await sandbox.insertOne({ ...one('new'), n: 1 });
  await sandbox.insertOne({ ...one('gone'), n: 1 });
  await sandbox.deleteOne(one('gone'));
  const now = await state('inplace');
  const preview = await yard.call('restore.preview', { branch: 'inplace', to: { seq: moment } });
  expect(preview.summary).toEqual([{ ns: 'shop.products', added: 1, modified: 1, removed: 1 }]);
  expect(preview.documents).toHaveLength(3);
  const document = await yard.call('restore.document', {
    branch: 'inplace',
    ns: 'shop.products',
    id: id('p1'),
    to: { seq: moment },
  });
  expect(ejson(document.then)).toMatchObject({ price: { $numberDouble: '9.5' } });
  expect(ejson(document.now)).toMatchObject({ price: { $numberInt: '1' } });
  expect(await state('inplace')).toEqual(now);
  const { plan, applied, entry } = await restoreTo('inplace', moment);
  expect([plan.items, plan.leftOut, applied]).toEqual([3, undefined, 3]);
  expect(await state('inplace')).toEqual(then);
  const { changes } = await yard.call('changes.page', { branch: 'inplace', settle: true });
  expect(new Set(changes.slice(-3).map(({ actor }) => actor))).toEqual(new Set(['forkyard']));
  await yard.call('log.undo', { entry: entry! });
  expect(await state('inplace')).toEqual(now);
});

it('restores as a new branch and leaves the branch alone', async () => {
  await yard.fork('kept', { ttlMs: null });
  const sandbox = await products('kept');
  await sandbox.updateMany({}, { $set: { b: 2 } });
  const then = await state('kept');
  const moment = await lastSeq('kept');
  await sandbox.deleteMany({});
  const made = await yard.call('restore.branch', { branch: 'kept', to: { seq: moment }, as: 'again' });
  expect(made.branch).toMatchObject({ name: 'again', parent: 'kept' });
  expect(await state('again')).toEqual(then);
  expect(await sandbox.countDocuments()).toBe(0);
});

it('MG-14: undoing the first of two agents’ changes keeps the other’s field; where both changed the same it is a conflict', async () => {
  await yard.fork('agents', { ttlMs: null });
  const first = await products('agents', 'first');
  const second = await products('agents', 'second');
  await first.updateOne(one('p1'), { $set: { a: new Int32(2) } });
  await second.updateOne(one('p1'), { $set: { b: new Int32(3) } });
  await first.updateOne(one('p2'), { $set: { a: new Int32(2) } });
  await second.updateOne(one('p2'), { $set: { a: new Int32(4) } });
  await lastSeq('agents');
  const clean = await yard.call('changes.undo', { branch: 'agents', what: { seqs: [1] } });
  expect([clean.items, clean.conflicts]).toEqual([1, 0]);
  await yard.call('plan.apply', { plan: clean.plan });
  expect(await first.findOne(one('p1'))).toMatchObject({ a: 1, b: 3 });
  const clash = await yard.call('changes.undo', { branch: 'agents', what: { actor: 'first' } });
  expect(clash.conflicts).toBe(1);
  expect(clash.conflicting.map((each) => [ejson(each.id), each.fields.map(({ path }) => path)])).toEqual([
    ['p2', [['a']]],
  ]);
});

/** A sandbox with two collections of documents, an index and a validator, in a database of its own. */
async function workplace(name: string) {
  const main = await yard.client('main');
  for (const collection of ['plain', 'other']) {
    const documents = Array.from({ length: 30 }, (_, n) => ({ _id: n, n: new Int32(n), tag: `t${n % 5}` }));
    await insertExactly(main, `${name}.${collection}`, documents);
    await main.db(name).collection(collection).createIndex({ tag: 1, n: -1 }, { name: 'tag_n', sparse: true });
  }
  await yard.fork(name, { ttlMs: null });
  return yard.client(name);
}

it('MG-15: a session of 2,000 mixed writes is undone as a whole, and the undo undone: both are byte for byte what was', async () => {
  const client = await workplace('session');
  const start = await wholeDatabase(client, 'session');
  const written = await writeAtRandom(client, 'session', 2_000, new Random(15));
  expect(written).toBeGreaterThanOrEqual(2_000);
  const end = await wholeDatabase(client, 'session');
  expect(end).not.toEqual(start);
  const last = await lastSeq('session');
  const plan = await yard.call('changes.undo', { branch: 'session', what: { from: 1, to: last } });
  expect([plan.conflicts, plan.leftOut]).toEqual([0, undefined]);
  const { entry } = await yard.call('plan.apply', { plan: plan.plan });
  expect(await wholeDatabase(client, 'session')).toEqual(start);
  await yard.call('log.undo', { entry: entry! });
  expect(await wholeDatabase(client, 'session')).toEqual(end);
});

it('equals at random moments what the branch was there, one restore after the other', async () => {
  const client = await workplace('moments');
  const random = new Random(7);
  const replicas = [];
  for (let at = 0; at < 5; at += 1) {
    replicas.push({ seq: await lastSeq('moments'), state: await wholeDatabase(client, 'moments') });
    await writeAtRandom(client, 'moments', 60, random);
  }
  for (const at of [2, 4, 0, 3, 1]) {
    const { plan } = await restoreTo('moments', replicas[at]!.seq);
    expect(plan.leftOut).toBeUndefined();
    expect(await wholeDatabase(client, 'moments')).toEqual(replicas[at]!.state);
  }
});

it('a moment inside a transaction is behind all of it', async () => {
  await yard.fork('transaction', { ttlMs: null });
  const client = await yard.client('transaction');
  const sandbox = client.db('shop').collection<Document>('products');
  const session = client.startSession();
  session.startTransaction();
  for (const key of ['p1', 'p2', 'p3']) await sandbox.updateOne(one(key), { $set: { a: 9 } }, { session });
  await session.commitTransaction();
  await session.endSession();
  const whole = await state('transaction');
  await sandbox.updateOne(one('p1'), { $set: { a: 10 } });
  expect(await lastSeq('transaction')).toBe(4);
  const { plan } = await restoreTo('transaction', 2);
  expect(plan.at.seq).toBe(3);
  expect(await state('transaction')).toEqual(whole);
  const { changes } = await yard.call('changes.page', { branch: 'transaction', limit: 1 });
  const undo = await yard.call('changes.undo', {
    branch: 'transaction',
    what: { transaction: changes[0]!.transaction! },
  });
  await yard.call('plan.apply', { plan: undo.plan });
  expect(await sandbox.countDocuments({ a: 1 })).toBe(4);
});

it('an import is one entry: before it, its documents are gone, whatever became of them since', async () => {
  await yard.fork('imported', { ttlMs: null });
  const before = await state('imported');
  const source = join(yard.data, 'more.json');
  await writeFile(source, [5, 6, 7].map((n) => JSON.stringify({ _id: `p${n}`, price: n })).join('\n'));
  await yard.call('transfer.import', { source, into: 'imported', db: 'shop', collection: 'products' });
  const sandbox = await products('imported');
  await sandbox.updateOne(one('p5'), { $set: { price: 1 } });
  await sandbox.deleteOne(one('p6'));
  const now = await state('imported');
  const { plan, entry } = await restoreTo('imported', 0);
  expect(plan.leftOut).toBeUndefined();
  expect(await state('imported')).toEqual(before);
  await yard.call('log.undo', { entry: entry! });
  expect(await state('imported')).toEqual(now);
});

it('main goes back too, and says what it cannot bring back before anything is changed', async () => {
  const main = await yard.client('main');
  const own = main.db('own').collection<Document>('notes');
  await own.insertMany([
    { ...one('n1'), text: 'a' },
    { ...one('n2'), text: 'b' },
  ]);
  const then = await contents(main, 'own.notes');
  const moment = await lastSeq('main');
  await own.updateMany({}, { $set: { text: 'c' } });
  await own.deleteOne(one('n2'));
  await restoreTo('main', moment);
  expect(await contents(main, 'own.notes')).toEqual(then);
  expect((await yard.refusal('restore.plan', { branch: 'main', to: { seq: 1_000_000 } })).code).toBe('usage');
});

it('a plan to restore is stale when the branch moves, and changes nothing', async () => {
  await yard.fork('stale', { ttlMs: null });
  const sandbox = await products('stale');
  await sandbox.updateMany({}, { $set: { a: 5 } });
  const plan = await yard.call('restore.plan', { branch: 'stale', to: { seq: 0 } });
  await sandbox.updateOne(one('p2'), { $set: { a: 6 } });
  const now = await state('stale');
  const refused = await yard.refusal('plan.apply', { plan: plan.plan });
  expect(refused).toMatchObject({ code: 'plan_stale', details: { moved: [{ ns: 'shop.products', id: id('p2') }] } });
  expect(await state('stale')).toEqual(now);
});

it('what collMod made of options is known at every moment: limits and lifetimes taken away, validation with and without a validator', async () => {
  await yard.fork('options', { ttlMs: null });
  const db = (await yard.client('options')).db('options');
  const optionsIn = async (branch: string) => {
    const found = await (await yard.client(branch)).db('options').listCollections<CollectionInfo>().toArray();
    return found.map(({ name, options }) => [name, options] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const validator = { $jsonSchema: { required: ['stock'] } };
  const commands: Document[] = [
    { create: 'clustered', clusteredIndex: { key: { _id: 1 }, unique: true }, collation: { locale: 'fr' } },
    { collMod: 'clustered', expireAfterSeconds: 100 },
    { collMod: 'clustered', expireAfterSeconds: 'off' },
    { create: 'capped', capped: true, size: 10_000, collation: { locale: 'fr' } },
    { collMod: 'capped', cappedMax: 5 },
    { collMod: 'capped', cappedSize: 20_000 },
    { collMod: 'capped', cappedMax: 0 },
    { create: 'checked', validationAction: 'warn' },
    { collMod: 'checked', validator },
    { collMod: 'checked', validationLevel: 'moderate' },
    { collMod: 'checked', validator: {} },
    { collMod: 'checked', validator: { price: { $type: 'int' } }, validationAction: 'error' },
  ];
  const moments: { seq: number; then: Awaited<ReturnType<typeof optionsIn>> }[] = [];
  for (const command of commands) {
    await db.command(command);
    moments.push({ seq: await lastSeq('options'), then: await optionsIn('options') });
  }
  for (const { seq } of moments) {
    const { leftOut, checks } = await yard.call('restore.plan', { branch: 'options', to: { seq } });
    expect({ seq, leftOut, failed: checks.filter(({ ok }) => !ok) }).toEqual({ seq, leftOut: undefined, failed: [] });
  }
  for (const { seq, then } of [moments[1]!, moments[4]!, moments[9]!]) {
    await yard.call('restore.branch', { branch: 'options', to: { seq }, as: `options-${seq}` });
    expect(await optionsIn(`options-${seq}`)).toEqual(then);
    await yard.call('branches.discard', { branch: `options-${seq}`, now: true });
  }
});
