import { Int32, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff } from '../harness/settled.ts';
import { unrecorded } from '../harness/unrecorded.ts';

let yard: TestYard;
let main: MongoClient;
beforeAll(async () => {
  yard = await TestYard.open();
  main = await yard.client('main');
});
afterAll(() => yard.close());

const set = (n: number) => ({ $set: { n: new Int32(n) } });

async function verified(branch: string) {
  const answer = await yard.call('branches.verify', { branch });
  const first = answer.differences.first.map(({ branch: side, ns, id, kind }) => [side, ns, ejson(id), kind]);
  return { ...answer, first: first.sort() };
}

it('what is recorded is the whole truth, of both sides, however much both changed since', async () => {
  await insertExactly(
    main,
    'truth.items',
    Array.from({ length: 3_000 }, (_, _id) => ({ _id, n: new Int32(0) })),
  );
  await yard.fork('truth', { ttlMs: null });
  const sandbox = (await yard.client('truth')).db('truth');
  const items = sandbox.collection('items');
  await items.updateMany({ _id: { $lt: 700 } as never }, set(1));
  await items.deleteMany({ _id: { $gte: 2_900 } as never });
  await items.insertMany(Array.from({ length: 1_500 }, (_, index) => ({ ...one(10_000 + index), n: new Int32(3) })));
  await sandbox.collection('made').insertOne(one('x'));
  await items.rename('renamed');
  const theirs = main.db('truth').collection('items');
  await theirs.updateMany({ _id: { $gte: 500, $lt: 1_000 } as never }, set(2));
  await theirs.deleteMany({ _id: { $gte: 1_000, $lt: 1_050 } as never });
  await theirs.insertMany(Array.from({ length: 1_200 }, (_, index) => ({ ...one(-index - 1), n: new Int32(4) })));
  await main.db('truth').collection('theirs').insertOne(one('y'));
  expect(await verified('truth')).toMatchObject({
    branch: 'truth',
    parent: 'main',
    exact: true,
    parentExact: true,
    differences: { count: 0, first: [] },
    unverified: [],
    // The sandbox's two, and the one that only main has.
    collections: 3,
    documents: 2_900 + 1_500 + 1 + 1,
  });
  const alone = await verified('main');
  expect(alone).toMatchObject({ branch: 'main', exact: true, differences: { count: 0 } });
  expect(alone.parent).toBeUndefined();
});

it('what no capture saw is found, named, and from then on part of the record', async () => {
  await insertExactly(
    main,
    'unseen.items',
    ['same', 'changed', 'gone', 'edited', 'theirs'].map((_id) => ({ _id, n: new Int32(0) })),
  );
  const { branch } = await yard.fork('unseen', { ttlMs: null });
  await (await yard.client('unseen')).db('unseen').collection('items').updateOne(one('edited'), set(1));
  await main.db('unseen').collection('items').updateOne(one('theirs'), set(1));
  expect(await verified('unseen')).toMatchObject({ exact: true, parentExact: true });

  await yard.restart(async () => {
    await unrecorded(yard.data, branch.id, async (client) => {
      const items = client.db('unseen').collection('items');
      await items.updateOne(one('changed'), set(7));
      await items.updateOne(one('edited'), set(8));
      await items.deleteOne(one('gone'));
      await items.insertOne({ ...one('new'), n: new Int32(9) });
    });
    await unrecorded(yard.data, 'main', async (client) => {
      await client.db('unseen').collection('items').updateOne(one('theirs'), set(7));
    });
  });
  main = await yard.client('main');
  expect((await completeDiff(yard, { branch: 'unseen' })).documents).toHaveLength(1);
  const found = await verified('unseen');
  expect(found).toMatchObject({ exact: false, parentExact: false, differences: { count: 5 } });
  expect(found.first).toEqual(
    [
      ['main', 'unseen.items', 'theirs', 'different'],
      ['unseen', 'unseen.items', 'changed', 'different'],
      ['unseen', 'unseen.items', 'edited', 'different'],
      ['unseen', 'unseen.items', 'gone', 'missing'],
      ['unseen', 'unseen.items', 'new', 'unexpected'],
    ].sort(),
  );
  const diff = await completeDiff(yard, { branch: 'unseen' });
  expect(diff).toMatchObject({ complete: true, summary: [{ added: 1, modified: 2, removed: 1, conflicts: 0 }] });
  const edited = diff.documents.find(({ id }) => ejson(id) === 'edited')!;
  expect([ejson(edited.fields[0]?.base), ejson(edited.fields[0]?.branch)]).toEqual([
    { $numberInt: '0' },
    { $numberInt: '8' },
  ]);
  expect(await verified('unseen')).toMatchObject({ exact: true, parentExact: true, differences: { count: 0 } });

  const before = await contents(main, 'unseen.items');
  const { entry } = await yard.call('plan.adopt', { branch: 'unseen' });
  const after = await contents(main, 'unseen.items');
  expect([...after.keys()].sort()).toEqual(['"changed"', '"edited"', '"new"', '"same"', '"theirs"']);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'unseen.items')).toEqual(before);
});

it('documents of every kind of _id, of a collation, a clustered and a capped collection are compared in the server’s own order', async () => {
  const db = main.db('kinds');
  await db.createCollection('collated', { collation: { locale: 'en', strength: 2 } });
  await db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true } });
  await db.createCollection('capped', { capped: true, size: 1_000_000 });
  const ids = [null, 1, 2.5, 'B', 'a', 'c', { x: 1 }, true, new Date(0)];
  for (const name of ['collated', 'clustered', 'capped', 'plain']) await db.collection(name).insertMany(ids.map(one));
  await yard.fork('kinds', { ttlMs: null });
  const sandbox = (await yard.client('kinds')).db('kinds');
  for (const name of ['collated', 'clustered', 'plain']) {
    await sandbox.collection(name).deleteOne(one('B'));
    await sandbox.collection(name).insertOne(one('b'));
    await db.collection(name).deleteOne(one(true));
  }
  await sandbox.collection('capped').insertOne(one('more'));
  expect(await verified('kinds')).toMatchObject({ exact: true, parentExact: true, unverified: [] });
});

it('a collection that main dropped since is said to be unverified', async () => {
  await insertExactly(main, 'lost.items', [{ _id: 1 }]);
  await yard.fork('lost', { ttlMs: null });
  await main.db('lost').collection('items').drop();
  const { exact, unverified, differences } = await verified('lost');
  expect({ exact, differences }).toEqual({ exact: false, differences: { count: 0, first: [] } });
  expect(unverified).toMatchObject([{ ns: 'lost.items', reason: expect.stringContaining('main has dropped it') }]);
});

it('a document that is written all the time is no difference', async () => {
  await insertExactly(
    main,
    'hot.items',
    Array.from({ length: 200 }, (_, _id) => ({ _id, n: new Int32(0) })),
  );
  await yard.fork('hot', { ttlMs: null });
  const writers = await Promise.all(['main', 'hot'].map((name) => yard.client(name, undefined, { w: 1 })));
  let stopped = false;
  const writing = writers.map(async (client) => {
    for (let n = 1; !stopped; n += 1)
      await client
        .db('hot')
        .collection('items')
        .updateOne(one(n % 200), set(n));
  });
  for (let turn = 0; turn < 3; turn += 1) expect((await verified('hot')).differences).toEqual({ count: 0, first: [] });
  stopped = true;
  await Promise.all(writing);
  expect(await verified('hot')).toMatchObject({ exact: true, parentExact: true });
});

it('a collection that is dropped, renamed or written over while it is compared is never taken for another', async () => {
  const documents = (n: number) =>
    Array.from({ length: 60 }, (_, _id) => ({ _id: (_id + n) as never, n: new Int32(n) }));
  await insertExactly(main, 'fleeting.items', documents(0));
  await yard.fork('fleeting', { ttlMs: null });
  const replace = async (branch: string) => {
    const db = (await yard.client(branch)).db('fleeting');
    const made = db.collection('made');
    await made.insertMany(documents(100));
    await made.rename('items', { dropTarget: true });
    await db.collection('items').updateMany({}, { $inc: { n: new Int32(1) } });
    await db.renameCollection('items', 'moved', { dropTarget: true });
    await db.collection('items').insertMany(documents(1));
  };
  const replaceOften = async (branch: string) => {
    for (let round = 0; round < 4; round += 1) await replace(branch);
  };
  const answers = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const [answer] = await Promise.all([verified('fleeting'), replaceOften('main'), replaceOften('fleeting')]);
    answers.push(answer);
  }
  for (const { first, unverified } of answers) {
    expect(first).toEqual([]);
    for (const { reason } of unverified)
      expect(reason).toMatch(/has dropped it since|while (it was|they were) compared|had not caught up/);
  }
  expect(await verified('fleeting')).toMatchObject({ differences: { count: 0 } });
  for (const branch of ['main', 'fleeting'])
    expect(
      (await allChanges(yard, branch)).filter(({ op, ns }) => op === 'gap' && ns?.startsWith('fleeting.')),
    ).toEqual([]);
});
