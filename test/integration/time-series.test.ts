import { ObjectId, type Db, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../harness/fuzz/random.ts';
import { databaseSides, type DatabaseSides } from '../harness/sides.ts';
import { TestYard } from '../harness/in-process.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;

beforeAll(async () => {
  yard = await TestYard.open();
});

afterAll(async () => {
  await yard.close();
});

const start = Date.UTC(2026, 0, 1);

function measurements(sensor: string, count: number, from = 0): Document[] {
  return Array.from({ length: count }, (_, n) => ({
    t: new Date(start + (from + n) * 1_000),
    m: sensor,
    v: from + n,
    _id: new ObjectId(),
  }));
}

/** Main with a series `w`: 20 measurements of `a`, 5 of `b`, 3 of `c`. */
async function series(name: string): Promise<DatabaseSides> {
  return databaseSides(yard, name, async (db) => {
    await db.createCollection('w', { timeseries: { timeField: 't', metaField: 'm' } });
    await db.collection('w').insertMany([...measurements('a', 20), ...measurements('b', 5), ...measurements('c', 3)]);
  });
}

async function held(db: Db, collection = 'w'): Promise<Document[]> {
  return db.collection(collection).find().sort({ m: 1, t: 1, _id: 1 }).toArray();
}

const diff = (branch: string) => completeDiff(yard, { branch });
/** The buckets as they are stored. */
async function stored(db: Db, collection = 'w'): Promise<Buffer[]> {
  const buckets = db.collection(`system.buckets.${collection}`).find({}, { raw: true }).sort({ _id: 1 });
  return (await buckets.toArray()) as unknown as Buffer[];
}

const counts = async (branch: string) => (await diff(branch)).summary;

it('CS-18: ten measurements of an agent are ten added ones, and the diff is complete', async () => {
  const { sandbox } = await series('ten');
  expect(await diff('ten')).toMatchObject({ complete: true, summary: [], gaps: [] });
  await sandbox.collection('w').insertMany(measurements('a', 6, 100));
  for (const each of measurements('d', 4)) await sandbox.collection('w').insertOne(each);
  const { complete, gaps, summary, documents } = await diff('ten');
  expect({ complete, gaps }).toEqual({ complete: true, gaps: [] });
  const buckets = { added: 2, modified: 0, removed: 0, conflicts: 0 };
  expect(summary).toEqual([{ ns: 'ten.w', added: 10, modified: 0, removed: 0, conflicts: 0, buckets }]);
  expect(documents.map(({ ns, kind, measurements: of }) => `${ns} ${kind} ${of?.added}`).sort()).toEqual([
    'ten.w added 4',
    'ten.w added 6',
  ]);
  const verified = await yard.call('branches.verify', { branch: 'ten' });
  expect(verified).toMatchObject({ exact: true, parentExact: true, unverified: [], differences: { count: 0 } });
});

it('measurements are adopted into a main that got its own meanwhile, and taken back, byte for byte', async () => {
  const { main, sandbox } = await series('both');
  await main.collection('w').insertMany(measurements('a', 7, 500));
  await sandbox.collection('w').insertMany(measurements('a', 9, 1_000));
  await sandbox.collection('w').deleteMany({ m: 'b' });
  await sandbox.collection('w').updateMany({ m: 'c' }, { $set: { m: 'z' } });
  const before = await stored(main);
  expect(await counts('both')).toMatchObject([{ added: 9, modified: 3, removed: 5, conflicts: 0 }]);
  const { entry, applied, leftOut } = await yard.call('plan.adopt', { branch: 'both' });
  expect({ applied, leftOut }).toEqual({ applied: 3, leftOut: undefined });
  expect((await held(main)).map(({ m }) => String(m)).sort()).toEqual(
    [...Array<string>(36).fill('a'), 'z', 'z', 'z'].sort(),
  );
  expect(await counts('both')).toEqual([]);
  // Writers go on, in buckets of their own.
  await main.collection('w').insertMany(measurements('z', 2, 2_000));
  await yard.call('log.undo', { entry: entry! });
  const after = (await stored(main)).map(String);
  for (const bucket of before) expect(after).toContain(String(bucket));
  expect(await counts('both')).toMatchObject([{ added: 9, modified: 3, removed: 5 }]);
  expect((await yard.call('branches.verify', { branch: 'both' })).exact).toBe(true);
});

it('one bucket that both sides changed is a conflict, decided as a whole', async () => {
  const { main, sandbox } = await series('clash');
  await main.collection('w').updateMany({ m: 'b' }, { $set: { m: 'main' } });
  await sandbox.collection('w').updateMany({ m: 'b' }, { $set: { m: 'branch' } });
  const { summary, documents } = await diff('clash');
  expect(summary).toMatchObject([{ modified: 5, conflicts: 5, buckets: { modified: 1, conflicts: 1 } }]);
  const [{ id, fields }] = documents as [(typeof documents)[number]];
  expect(fields).toMatchObject([{ path: [], class: 'divergent' }]);
  expect((await yard.refusal('plan.adopt', { branch: 'clash' })).code).toBe('conflicts');
  const take = [{ target: { ns: 'clash.w', id }, take: { side: 'clash' } }];
  expect((await yard.call('plan.adopt', { branch: 'clash', take })).applied).toBe(1);
  expect(await stored(main)).toEqual(await stored(sandbox));
});

it('a bucket is not edited', async () => {
  const { sandbox } = await series('edited');
  await sandbox.collection('w').updateMany({ m: 'b' }, { $set: { m: 'branch' } });
  const [document] = (await diff('edited')).documents;
  const value = document!.fields[0]!.base!;
  const take = [{ target: { ns: 'edited.w', id: document!.id }, take: { value } }];
  const refusal = await yard.refusal('plan.create', { branch: 'edited', take });
  expect([refusal.code, refusal.message]).toEqual(['usage', expect.stringContaining('a bucket of measurements')]);
});

it('a series that the branch made comes with its measurements, and goes with them; one that main wrote into stays', async () => {
  const { main, sandbox } = await series('made');
  await sandbox.createCollection('n', { timeseries: { timeField: 't', metaField: 'm' } });
  await sandbox.collection('n').insertMany(measurements('a', 8));
  const first = await yard.call('plan.adopt', { branch: 'made' });
  expect(await stored(main, 'n')).toEqual(await stored(sandbox, 'n'));
  expect(await diff('made')).toMatchObject({ summary: [], schema: [], complete: true });
  await yard.call('log.undo', { entry: first.entry! });
  expect(await main.listCollections({ name: /n$/ }).toArray()).toEqual([]);
  const second = await yard.call('plan.adopt', { branch: 'made', only: [{ ns: 'made.n' }] });
  await main.collection('n').insertOne(measurements('own', 1)[0]!);
  const refusal = await yard.refusal('log.undo', { entry: second.entry! });
  expect(refusal.code).toBe('undo_refused');
  expect(await held(main, 'n')).toHaveLength(9);
});

it('a series that was dropped and made anew is compared with what was there; one that main dropped is refused by name', async () => {
  const { main, sandbox } = await series('anew');
  await sandbox.collection('w').drop();
  await sandbox.createCollection('w', { timeseries: { timeField: 't', metaField: 'm' } });
  await sandbox.collection('w').insertMany(measurements('q', 2));
  expect(await diff('anew')).toMatchObject({ complete: true, summary: [{ added: 2, modified: 0, removed: 28 }] });
  await yard.call('plan.adopt', { branch: 'anew' });
  expect(await stored(main)).toEqual(await stored(sandbox));
  await sandbox.collection('w').insertMany(measurements('r', 2));
  await main.collection('w').drop();
  const { checks, items } = await yard.call('plan.create', { branch: 'anew' });
  expect(items).toBe(0);
  expect(checks.find(({ ok }) => !ok)?.detail).toContain('main has dropped that time-series collection');
});

it('a series that the branch dropped stays in main, and the plan names it and says why', async () => {
  const { main, sandbox } = await series('dropped');
  const before = await stored(main);
  await sandbox.collection('w').drop();
  const sentence =
    'The dropped collection dropped.w is shown but not carried over by an adoption: the server renames no time-series collection, so what is written to it meanwhile could not be brought back.';
  const { plan, items, checks } = await yard.call('plan.create', { branch: 'dropped' });
  expect([items, checks.filter(({ ok }) => !ok).map(({ detail }) => detail)]).toEqual([0, [sentence]]);
  expect(await yard.call('plan.apply', { plan })).toMatchObject({ applied: 0, leftOut: [sentence] });
  expect(await stored(main)).toEqual(before);
});

it('what a bucket was is known for each of two forks between which main went on writing into it', async () => {
  const { main } = await series('first');
  await main.collection('w').insertOne(measurements('a', 1, 30)[0]!);
  await yard.fork('second', { ttlMs: null });
  for (const each of measurements('a', 3, 40)) await main.collection('w').insertOne(each);
  await main.collection('w').deleteMany({ m: 'c' });
  for (const branch of ['first', 'second']) {
    const { exact, parentExact, differences } = await yard.call('branches.verify', { branch });
    expect({ exact, parentExact, differences: differences.count }).toEqual({
      exact: true,
      parentExact: true,
      differences: 0,
    });
    expect(await counts(branch)).toEqual([]);
  }
  const sibling = (await yard.client('second')).db('first');
  await sibling.collection('w').deleteMany({ m: 'a' });
  const against = await completeDiff(yard, { branch: 'second', against: 'first' });
  expect(against).toMatchObject({ complete: true, summary: [{ ns: 'first.w', removed: 20, added: 0, modified: 0 }] });
});

it('a way back says that measurements stay as they are', async () => {
  const { sandbox } = await series('back');
  await sandbox.collection('w').insertMany(measurements('a', 3, 100));
  await sandbox.collection<{ _id: number }>('plain').insertOne({ _id: 1 });
  const { last } = await yard.call('changes.page', { branch: 'back', settle: true });
  const stays = 'Measurements of the time-series collection back.w are not recorded one by one; they stay as they are.';
  const back = await yard.call('restore.plan', { branch: 'back', to: { seq: 0 } });
  expect(back.leftOut).toContain(stays);
  const undone = await yard.call('changes.undo', { branch: 'back', what: { from: 1, to: last } });
  expect(undone.leftOut).toContain(stays);
});

it('a series that was dropped, or dropped and made anew, is said to stay so, and none comes back empty', async () => {
  const { sandbox } = await series('lost');
  await sandbox.createCollection('v', { timeseries: { timeField: 't' } });
  await sandbox.collection('v').insertMany(measurements('a', 2));
  await sandbox.collection<{ _id: number }>('plain').insertOne({ _id: 1 });
  const { last } = await yard.call('changes.page', { branch: 'lost', settle: true });
  await sandbox.collection('w').drop();
  await sandbox.collection('v').drop();
  await sandbox.createCollection('v', { timeseries: { timeField: 't' } });
  await sandbox.collection<{ _id: number }>('plain').insertOne({ _id: 2 });
  const gone = (name: string) =>
    `The time-series collection lost.${name} was dropped since, and its measurements are recorded nowhere. It stays as it is now.`;
  const preview = await yard.call('restore.preview', { branch: 'lost', to: { seq: last } });
  expect(preview.leftOut).toEqual([gone('w'), gone('v')]);
  expect(preview.schema).toEqual([]);
  const { changes } = await yard.call('changes.page', { branch: 'lost', after: last });
  const drop = changes.filter(({ op, ns }) => op === 'drop' && ns === 'lost.w').map(({ seq }) => seq);
  const undone = await yard.call('changes.undo', { branch: 'lost', what: { seqs: drop } });
  expect([undone.items, undone.leftOut]).toEqual([0, [gone('w')]]);
  const { plan } = await yard.call('restore.plan', { branch: 'lost', to: { seq: last } });
  await yard.call('plan.apply', { plan });
  expect(await sandbox.listCollections({ name: 'w' }).toArray()).toEqual([]);
  expect(await sandbox.collection('plain').countDocuments()).toBe(1);
});

/** Random writes, the same for the same seed. */
async function write(db: Db, seed: number, writes: number): Promise<void> {
  const random = new Random(seed);
  const next = (below: number) => random.int(below);
  const sensor = () => `s${next(6)}`;
  for (let n = 0; n < writes; n += 1) {
    const w = db.collection('w');
    const what = next(10);
    if (what < 5) await w.insertMany(measurements(sensor(), 1 + next(20), next(20_000)));
    else if (what < 7)
      await w.insertOne({ t: new Date(start + next(9_000) * 1_000), m: { of: sensor() }, [`f${next(4)}`]: next(9) });
    else if (what < 8) await w.deleteMany({ m: sensor() });
    else if (what < 9) await w.updateMany({ m: sensor() }, { $set: { m: sensor() } });
    else await w.updateMany({ 'm.of': sensor() }, { $set: { m: { of: sensor(), n: next(3) } } });
  }
}

it.each([1, 2])('random writes on both sides, seed %i: exact, adopted, taken back', async (seed) => {
  const name = `random${seed}`;
  const { main, sandbox } = await databaseSides(yard, name, async (db) => {
    await db.createCollection('w', { timeseries: { timeField: 't', metaField: 'm' } });
    await write(db, seed, 40);
  });
  await Promise.all([write(main, seed + 100, 25), write(sandbox, seed + 200, 40)]);
  const take = [{ target: { ns: `${name}.w` }, take: { side: name } }];
  const exact = { exact: true, parentExact: true, differences: { count: 0 } };
  expect(await yard.call('branches.verify', { branch: name })).toMatchObject(exact);
  const [before, branch] = [await stored(main), new Map((await stored(sandbox)).map((each) => [idOf(each), each]))];
  const { documents, complete } = await diff(name);
  expect(complete).toBe(true);
  const { entry } = await yard.call('plan.adopt', { branch: name, take });
  const adopted = new Map((await stored(main)).map((each) => [idOf(each), each]));
  for (const { id } of documents) {
    const key = Buffer.from(id, 'base64').subarray(1).toString('hex');
    expect(adopted.get(key)).toEqual(branch.get(key));
  }
  expect((await diff(name)).documents).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await stored(main)).toEqual(before);
  expect((await diff(name)).documents).toHaveLength(documents.length);
  expect(await yard.call('branches.verify', { branch: name })).toMatchObject(exact);
});

/** The ObjectId that a bucket begins with, hex. */
function idOf(bucket: Buffer): string {
  return bucket.subarray(9, 21).toString('hex');
}
