import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { databaseSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

async function behind(branch: string): Promise<number | undefined> {
  return (await yard.call('branches.list', {})).find(({ name }) => name === branch)?.behind;
}

it('a branch is behind by what its parent has that both have not agreed on: not by what came from it, nor by what an undo put back', async () => {
  const { main, sandbox } = await databaseSides(yard, 'lead', (db) =>
    db.collection('c').insertMany([1, 2, 3].map((n) => ({ ...one(n), v: new Int32(0) }))),
  );
  await yard.fork('other', { ttlMs: null });
  const both = async () => [await behind('lead'), await behind('other')];
  expect(await both()).toEqual([0, 0]);
  await sandbox.collection('c').updateMany({ _id: { $lt: 3 } } as never, { $set: { v: new Int32(1) } });
  await sandbox.collection('c').createIndex({ v: 1 });
  await sandbox.collection<Document>('new').insertOne(one('n'));
  const adopted = await yard.call('plan.adopt', { branch: 'lead' });
  expect(adopted.applied).toBe(5);
  // Two documents, an index, and a collection with its document, of which the other sandbox knows nothing.
  expect(await both()).toEqual([0, 5]);
  const undone = await yard.call('log.undo', { entry: adopted.entry! });
  expect(await both()).toEqual([0, 0]);
  await yard.call('log.undo', { entry: undone.entry! });
  expect(await both()).toEqual([0, 5]);
  // What others do in main counts, in a document that came from here too; one item for a collection, and for an index.
  await main.collection('c').updateMany({ _id: { $gt: 1 } } as never, { $set: { v: new Int32(7) } });
  expect(await both()).toEqual([2, 6]);
  await main.collection('c').createIndex({ w: 1 });
  await main.collection('new').drop();
  expect(await both()).toEqual([4, 5]);
});

it('a branch is behind by what was imported into its parent since, each document once', async () => {
  const { main } = await databaseSides(yard, 'stock', (db) => db.collection('c').insertMany([one(1), one(2)]));
  expect(await behind('stock')).toBe(0);
  await main.collection('c').deleteOne(one(2) as never);
  const source = join(yard.data, 'c.json');
  await writeFile(source, '[{"_id": 2}, {"_id": 3}, {"_id": 4}]');
  await yard.call('transfer.import', { source, into: 'main', db: main.databaseName, collection: 'c' });
  expect(await behind('stock')).toBe(3);
  await main.collection('c').updateOne(one(3) as never, { $set: { v: 1 } });
  expect(await behind('stock')).toBe(3);
});
