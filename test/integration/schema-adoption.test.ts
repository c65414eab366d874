import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

async function schemaOf(branch: string) {
  const db = (await yard.client(branch)).db('app');
  const collections = await db.listCollections({}, { nameOnly: false }).toArray();
  return Promise.all(
    collections
      .filter(({ name }) => !name.startsWith('system.'))
      .map(async ({ name, type, options }) => ({
        name,
        type,
        validator: options?.['validator'] ?? {},
        indexes: type === 'collection' ? (await db.collection(name).indexes()).map((index) => index.name) : [],
      })),
  ).then((all) => all.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

it('a new collection with its validator, index and view comes over with its documents, and undo takes all of it away', async () => {
  const main = (await yard.client('main')).db('app');
  await main.collection('items').insertOne({ qty: 1 });
  await yard.fork('new');
  const branch = (await yard.client('new')).db('app');
  await branch.createCollection('orders', { validator: { total: { $type: 'int' } } });
  await branch.collection('orders').createIndex({ total: 1 });
  await branch.collection('orders').insertOne({ total: 5 });
  await branch.createCollection('big', { viewOn: 'orders', pipeline: [{ $match: { total: { $gt: 1 } } }] });
  await branch.collection('items').createIndex({ qty: 1 }, { unique: true });
  await branch.command({ collMod: 'items', validator: { qty: { $exists: true } } });
  const before = await schemaOf('main');
  const wanted = await schemaOf('new');
  const { entry } = await yard.call('plan.adopt', { branch: 'new' });
  expect(await schemaOf('main')).toEqual(wanted);
  expect(await main.collection('big').countDocuments()).toBe(1);
  const rest = await yard.call('diff.get', { branch: 'new' });
  expect(rest).toMatchObject({ schema: [], summary: [] });
  await yard.call('log.undo', { entry: entry! });
  expect(await schemaOf('main')).toEqual(before);
});

it('a collection that the branch renamed is renamed in main, with its changed documents and its new index', async () => {
  const main = (await yard.client('main')).db('app');
  await main.collection('things').insertOne({ a: 1 });
  await yard.fork('renamed');
  const branch = (await yard.client('renamed')).db('app');
  await branch.collection('things').rename('stuff');
  await branch.collection('stuff').updateOne({}, { $set: { a: 2 } });
  await branch.collection('stuff').createIndex({ a: 1 });
  await yard.call('plan.adopt', { branch: 'renamed' });
  expect(await main.collection('things').findOne()).toBeNull();
  expect(await main.collection('stuff').findOne()).toMatchObject({ a: 2 });
  expect((await main.collection('stuff').indexes()).map(({ name }) => name)).toContain('a_1');
});

it('indexes that compare simply in a collection that does not come over as they are, and come back so', async () => {
  const main = (await yard.client('main')).db('collated');
  const french = { collation: { locale: 'fr', strength: 2 } };
  const simple = { collation: { locale: 'simple' } };
  await main.createCollection('old', french);
  await main.collection('old').insertOne({ n: 'a' });
  await main.collection('old').createIndex({ n: 1 }, { name: 'simple', ...simple });
  await main.createCollection('dropped', french);
  await main.collection('dropped').createIndex({ n: 1 }, { name: 'simple', unique: true, ...simple });
  await main.collection<{ n: string }>('dropped').insertMany([{ n: 'e' }, { n: 'é' }, { n: 'E' }]);
  await yard.fork('collated');
  const branch = (await yard.client('collated')).db('collated');
  await branch.collection('dropped').drop();
  await branch.collection('old').dropIndex('simple');
  await branch.collection('old').createIndex({ words: 'text' }, { name: 'words', ...simple });
  await branch.createCollection('new', french);
  await branch.collection('new').createIndex({ n: 1 }, { name: 'inherited' });
  await branch.collection('new').createIndex({ n: 1 }, { name: 'simple', ...simple });
  const indexes = async (db: typeof main) =>
    Promise.all(
      ['dropped', 'new', 'old'].map((name) =>
        db
          .collection(name)
          .listIndexes()
          .toArray()
          .catch(() => 'not there'),
      ),
    );
  const [before, wanted] = [await indexes(main), await indexes(branch)];
  const { entry } = await yard.call('plan.adopt', { branch: 'collated' });
  expect(await indexes(main)).toEqual(wanted);
  await yard.call('log.undo', { entry: entry! });
  expect(await indexes(main)).toEqual(before);
});
