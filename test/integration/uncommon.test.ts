import { GridFSBucket, UUID, type Db, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;

/** Collections with options and indexes, without identity, and the server's own hash of all documents. */
async function stateOf(db: Db) {
  const catalog = await db.listCollections({}, { nameOnly: false }).toArray();
  const hashes = (await db.command({ dbHash: 1 }))['collections'] as Document;
  const rows = await Promise.all(
    catalog
      .filter(({ name }) => !name.startsWith('system.'))
      .map(async ({ name, type, options }) => {
        // Images are the sandbox's alone; a rule once changed keeps the defaults spelt out.
        const { changeStreamPreAndPostImages: _images, ...rest } = {
          validationLevel: 'strict',
          validationAction: 'error',
          ...(options as Document | undefined),
        } as Document;
        const indexes =
          type === 'collection'
            ? (await db.collection(name).listIndexes().toArray()).sort((a, b) => (a['name'] < b['name'] ? -1 : 1))
            : [];
        return { name, type, options: rest, indexes, hash: hashes[name] as unknown };
      }),
  );
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Case {
  readonly what: string;
  readonly prepare?: (db: Db, client: MongoClient) => Promise<unknown>;
  readonly act: (db: Db, client: MongoClient) => Promise<unknown>;
}

const rows = (n: number) => Array.from({ length: n }, (_, i) => ({ _id: i as never, k: i % 3, s: `row ${i}` }));

const cases: Case[] = [
  {
    what: 'GridFS files are stored, renamed and removed',
    prepare: async (db) => {
      const bucket = new GridFSBucket(db);
      for (const name of ['stay', 'go']) {
        await new Promise((done) => bucket.openUploadStream(name).end(Buffer.alloc(600_000, name), () => done(0)));
      }
    },
    act: async (db) => {
      const bucket = new GridFSBucket(db);
      const [stay, go] = await bucket.find({}).sort({ filename: -1 }).toArray();
      await bucket.delete(go!._id);
      await bucket.rename(stay!._id, 'stayed');
      await new Promise((done) => bucket.openUploadStream('new').end(Buffer.alloc(600_000, 'n'), () => done(0)));
    },
  },
  {
    what: 'mapReduce replaces and merges collections',
    prepare: async (db) => {
      await db.collection('in').insertMany(rows(30));
      await db.collection('out').insertMany(rows(3));
    },
    act: async (db) => {
      const job = { mapReduce: 'in', map: 'function(){emit(this.k,1)}', reduce: 'function(k,v){return Array.sum(v)}' };
      await db.command({ ...job, out: { replace: 'out' } });
      await db.command({ ...job, out: { merge: 'out2' } });
    },
  },
  {
    what: 'an index is hidden, made unique, given another life time',
    prepare: async (db) => {
      const c = db.collection('c');
      await c.insertMany([
        { _id: 1 as never, a: 1 },
        { _id: 2 as never, a: 2 },
      ]);
      await c.createIndex({ a: 1 });
      await c.createIndex({ b: 1 });
      await c.createIndex({ t: 1 }, { expireAfterSeconds: 100_000 });
    },
    act: async (db) => {
      await db.command({ collMod: 'c', index: { name: 'b_1', hidden: true } });
      await db.command({ collMod: 'c', index: { name: 't_1', expireAfterSeconds: 200_000 } });
      await db.command({ collMod: 'c', index: { name: 'a_1', prepareUnique: true } });
      await db.command({ collMod: 'c', index: { name: 'a_1', unique: true } });
    },
  },
  {
    what: 'an index is made ready to be unique and left so',
    prepare: async (db) => {
      await db.collection('c').insertMany(rows(3));
      await db.collection('c').createIndex({ s: 1 });
    },
    act: (db) => db.command({ collMod: 'c', index: { name: 's_1', prepareUnique: true } }),
  },
  {
    what: 'an index becomes one that expires',
    prepare: async (db) => {
      await db.collection('c').createIndex({ s: 1 });
    },
    act: (db) => db.command({ collMod: 'c', index: { name: 's_1', expireAfterSeconds: 9_000 } }),
  },
  {
    what: 'indexes of every kind and option are made and dropped',
    prepare: (db) => db.collection('c').createIndex({ old: 'text', more: 'text' }, { weights: { old: 5 } }),
    act: async (db) => {
      const c = db.collection('c');
      await c.dropIndexes();
      await c.insertMany(rows(5));
      await c.createIndex({ 'a.$**': 1 });
      await c.createIndex({ '$**': 1 }, { wildcardProjection: { 'x.y': 0 }, name: 'all' });
      await c.createIndex({ place: '2dsphere' }, { '2dsphereIndexVersion': 2 } as never);
      await c.createIndex({ xy: '2d' }, { min: -10, max: 10, bits: 20 });
      await c.createIndex({ h: 'hashed' });
      await c.createIndex({ k: 1, h: 'hashed', z: -1 });
      await c.createIndex({ words: 'text', k: 1 }, { default_language: 'german', language_override: 'l' });
      await c.createIndex({ p: 1 }, { unique: true, partialFilterExpression: { p: { $exists: true } } });
      await c.createIndex({ q: 1 }, { sparse: true, collation: { locale: 'de', strength: 2 } });
      await c.createIndex({ e: 1 }, { storageEngine: { wiredTiger: { configString: 'prefix_compression=false' } } });
    },
  },
  {
    what: 'collections of every kind and option are made',
    prepare: async () => undefined,
    act: async (db) => {
      await db.createCollection('stored', { storageEngine: { wiredTiger: { configString: 'block_compressor=zlib' } } });
      await db.createCollection('defaults', {
        indexOptionDefaults: { storageEngine: { wiredTiger: { configString: 'prefix_compression=false' } } },
      });
      await db.command({
        create: 'clustered',
        clusteredIndex: { key: { _id: 1 }, unique: true },
        expireAfterSeconds: 9_000,
      });
      await db.createCollection('collated', { collation: { locale: 'de', strength: 1 } });
      await db.collection('collated').insertMany([{ _id: 'a' as never }, { _id: 'B' as never }]);
      await db.createCollection('warned', {
        validator: { a: { $type: 'int' } },
        validationAction: 'warn',
        validationLevel: 'moderate',
      });
      await db.createCollection('view', {
        viewOn: 'collated',
        pipeline: [{ $match: { a: 1 } }],
        collation: { locale: 'de', strength: 1 },
      });
      await db.command({ create: 'ring', capped: true, size: 100_000, max: 10 });
    },
  },
  {
    what: 'a collection of encrypted fields is made',
    act: (db) =>
      db.command({
        create: 'secret',
        encryptedFields: { fields: [{ path: 'ssn', keyId: new UUID(), bsonType: 'string' }] },
      }),
  },
  {
    what: 'a capped collection is resized and a clustered one lives longer',
    prepare: async (db) => {
      await db.command({ create: 'ring', capped: true, size: 100_000, max: 10 });
      await db.command({
        create: 'clustered',
        clusteredIndex: { key: { _id: 1 }, unique: true },
        expireAfterSeconds: 9_000,
      });
    },
    act: async (db) => {
      await db.command({ collMod: 'ring', cappedSize: 200_000, cappedMax: 20 });
      await db.command({ collMod: 'clustered', expireAfterSeconds: 10_000 });
    },
  },
  {
    what: 'a stage writes into another database and into one that is there',
    prepare: async (db, client) => {
      await db.collection('a').insertMany(rows(10));
      await client.db(`${db.databaseName}-two`).collection('x').insertMany(rows(2));
    },
    act: async (db) => {
      const a = db.collection('a');
      await a.aggregate([{ $match: { k: 1 } }, { $out: { db: `${db.databaseName}-two`, coll: 'x' } }]).toArray();
      await a
        .aggregate([{ $match: { k: 2 } }, { $merge: { into: 'a', whenMatched: [{ $set: { merged: '$$new.s' } }] } }])
        .toArray();
    },
  },
  {
    what: 'a collection is renamed across databases and over another',
    prepare: async (db) => {
      await db.collection('a').insertMany(rows(10));
      await db.collection('a').createIndex({ k: 1 });
      await db.collection('b').insertMany(rows(4));
      await db.collection('c').insertMany(rows(5));
    },
    act: async (db, client) => {
      const name = db.databaseName;
      await client.db('admin').command({ renameCollection: `${name}.a`, to: `${name}-two.a` });
      await db.renameCollection('c', 'b', { dropTarget: true });
    },
  },
  {
    what: 'names are long, foreign and odd',
    prepare: async (db) => {
      await db.collection('日本 語').insertMany(rows(2));
      await db.collection('two..dots').insertMany(rows(2));
    },
    act: async (db) => {
      await db.collection('日本 語').updateOne({ _id: 1 as never }, { $set: { ключ: 1 } });
      await db.collection('two..dots').drop();
      for (const name of [
        'x'.repeat(190),
        'a/b',
        'a"b',
        'a\\b',
        'a*b?',
        'tab\there',
        '👩‍👩‍👧',
        'constructor',
        '__proto__',
        'A',
        'a',
      ])
        await db.collection(name).insertMany(rows(2));
    },
  },
  {
    what: 'a database is dropped and made anew under its names',
    prepare: async (db) => {
      await db.collection('a').insertMany(rows(10));
      await db.collection('a').createIndex({ k: 1 });
      await db.collection('b').insertMany(rows(3));
    },
    act: async (db) => {
      await db.dropDatabase();
      await db.collection('a').insertMany(rows(9));
      await db.collection('a').createIndex({ k: -1 });
    },
  },
  {
    what: 'images are switched off and documents written at once',
    prepare: (db) => db.collection('a').insertMany(rows(10)),
    act: async (db) => {
      await db.command({ collMod: 'a', changeStreamPreAndPostImages: { enabled: false } });
      await db.collection('a').updateMany({}, { $inc: { k: 1 } });
      await db.collection('a').deleteOne({ _id: 3 as never });
    },
  },
  {
    what: 'one transaction is larger than an entry of the log',
    prepare: (db) => db.collection('a').insertMany(rows(4)),
    act: (db, client) =>
      client.withSession((session) =>
        session.withTransaction(async () => {
          for (let i = 0; i < 5; i += 1)
            await db
              .collection<{ _id: string; t: string }>('a')
              .insertOne({ _id: `big${i}`, t: 'x'.repeat(5_000_000) }, { session });
          await db.collection('a').deleteOne({ _id: 1 as never }, { session });
        }),
      ),
  },
  {
    what: 'a collection is made in a transaction, with an index',
    act: (db, client) =>
      client.withSession((session) =>
        session.withTransaction(async () => {
          await db.createCollection('t', { session });
          await db.collection('t').createIndex({ a: 1 }, { session });
          await db.collection('t').insertOne({ _id: 1 as never, a: 1 }, { session });
        }),
      ),
  },
  {
    what: 'a validator goes, comes, is relaxed',
    prepare: async (db) => {
      await db.createCollection('a', { validator: { k: { $lt: 10 } } });
      await db.createCollection('b', { validator: { k: { $lt: 10 } } });
      await db.collection('c').insertMany(rows(2));
    },
    act: async (db) => {
      await db.command({ collMod: 'a', validator: {} });
      await db.command({ collMod: 'b', validationLevel: 'off' });
      await db.command({ collMod: 'c', validator: { $jsonSchema: { required: ['k'] } }, validationAction: 'warn' });
      await db.collection('c').insertOne({ _id: 77 as never, bad: 1 });
      await db.collection('b').insertOne({ _id: 77 as never, k: 100 });
    },
  },
];

const nameOf = (index: number) => `uncommon${index}`;
/** Some write into a second database. */
const statesOf = (client: MongoClient) =>
  Promise.all(
    cases.map((_case, index) =>
      Promise.all([stateOf(client.db(nameOf(index))), stateOf(client.db(`${nameOf(index)}-two`))]),
    ),
  );

type States = Awaited<ReturnType<typeof statesOf>>;
let before: States;
let asked: States;
let adopted: States;
let undone: States;

beforeAll(async () => {
  yard = await TestYard.open();
  const main = await yard.client('main');
  for (const [index, { prepare }] of cases.entries()) {
    const db = main.db(nameOf(index));
    // What stays alone keeps the database.
    await db.collection('anchor').insertOne(one(1));
    await prepare?.(db, main);
  }
  before = await statesOf(main);
  await yard.fork('all', { ttlMs: null });
  const sandbox = await yard.client('all');
  for (const [index, { act }] of cases.entries()) await act(sandbox.db(nameOf(index)), sandbox);
  asked = await statesOf(sandbox);
});
afterAll(() => yard.close());

it('all of it is in the record', async () => {
  expect((await completeDiff(yard, { branch: 'all' })).complete).toBe(true);
  expect(await yard.call('branches.verify', { branch: 'all' })).toMatchObject({ exact: true, parentExact: true });
});

it('all of it is adopted and undone', async () => {
  const main = await yard.client('main');
  const { checks } = await yard.call('plan.create', { branch: 'all' });
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  const { entry } = await yard.call('plan.adopt', { branch: 'all' });
  adopted = await statesOf(main);
  await yard.call('log.undo', { entry: entry! });
  undone = await statesOf(main);
});

it.each(cases.map(({ what }, index) => [what, index] as const))('%s', (_what, index) => {
  expect(adopted[index]).toEqual(asked[index]);
  expect(undone[index]).toEqual(before[index]);
});
