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

const texts = (checks: readonly { ok: boolean; detail: string }[]) =>
  checks.filter(({ ok }) => !ok).map(({ detail }) => detail);

it('every conflict of a plan is told in one sentence that names what each side did to which index, collection, view or document', async () => {
  const { main, sandbox } = await databaseSides(yard, 'words', async (db) => {
    await db.collection('c').insertMany([1, 2].map((n) => ({ ...one(n), v: new Int32(0) })));
    for (const name of ['both', 'mine', 'theirs', 'hidden'])
      await db.collection('c').createIndex({ [name]: 1 }, { name });
    for (const name of ['named', 'gone', 'dropped', 'optioned']) await db.collection(name).insertOne(one(1));
    await db.createCollection('view', { viewOn: 'c', pipeline: [] });
    await db.createCollection('clustered', {
      clusteredIndex: { key: { _id: 1 }, unique: true },
      expireAfterSeconds: 100,
    });
  });
  const anew = async (name: string, db: typeof main, key: Document) => {
    await db.collection('c').dropIndex(name);
    await db.collection('c').createIndex(key as never, { name });
  };
  await anew('both', sandbox, { x: 1 });
  await anew('both', main, { y: 1 });
  await sandbox.collection('c').dropIndex('mine');
  await main.command({ collMod: 'c', index: { name: 'mine', hidden: true } });
  await sandbox.command({ collMod: 'c', index: { name: 'theirs', hidden: true } });
  await main.collection('c').dropIndex('theirs');
  await sandbox.collection('c').createIndex({ fresh: 1 }, { name: 'fresh' });
  await main.collection('c').createIndex({ fresh: -1 }, { name: 'fresh' });
  await sandbox.command({ collMod: 'c', validator: { v: { $gte: 0 } } });
  await main.command({ collMod: 'c', validator: { v: { $lte: 9 } } });
  await sandbox.collection('named').rename('renamed here');
  await main.collection('named').rename('renamed there');
  await sandbox.collection('gone').rename('not gone');
  await main.collection('gone').drop();
  await sandbox.collection('dropped').drop();
  await main.collection('dropped').createIndex({ later: 1 });
  await sandbox.createCollection('made', { collation: { locale: 'fr' } });
  await main.createCollection('made', { collation: { locale: 'de' } });
  await sandbox.command({ collMod: 'clustered', expireAfterSeconds: 200 });
  await main.command({ collMod: 'clustered', expireAfterSeconds: 300 });
  await sandbox.command({ collMod: 'view', viewOn: 'c', pipeline: [{ $limit: 1 }] });
  await main.command({ collMod: 'view', viewOn: 'c', pipeline: [{ $limit: 2 }] });
  await sandbox.collection('c').updateOne(one(1), { $set: { v: new Int32(1) } });
  await main.collection('c').updateOne(one(1), { $set: { v: new Int32(2) } });
  const sentences = [
    'main and words both made words.made, with different options.',
    'main and words both made the index fresh of words.c, with different definitions.',
    'main and words both made the validator of words.c, with different rules.',
    'main and words changed /v of 1 of words.c differently, to 2 and 1.',
    'main and words changed the index both of words.c differently.',
    'main and words changed the options of words.clustered differently.',
    'main and words changed the view words.view differently.',
    'main dropped the index theirs of words.c, and words changed it.',
    'words dropped the collection words.dropped, and main changed its options, validator, indexes or name since.',
    'words dropped the index mine of words.c, and main changed it.',
    'words renamed words.gone to words.not gone, and main dropped it.',
    'words renamed words.named to words.renamed here, and main renamed it to words.renamed there.',
  ].sort();
  const { conflicts, checks } = await yard.call('plan.create', { branch: 'words' });
  expect(texts(checks).sort()).toEqual(sentences);
  expect(conflicts).toBe(sentences.length);
  const refused = await yard.refusal('plan.adopt', { branch: 'words' });
  const undecided = refused.details?.['undecided'] as { text: string }[];
  expect(undecided.map(({ text }) => text).sort()).toEqual(sentences);
  expect(refused.message).toMatch(/^12 changes of words must be decided first, nothing was adopted\. .*And 9 more\.$/);
});

it('what cannot be taken back inside a branch says which document or index was changed again, and where', async () => {
  const { sandbox } = await databaseSides(yard, 'again', async (db) => {
    await db.collection('c').insertMany([1, 2].map((n) => ({ ...one(n), a: { 'x/y': new Int32(0) } })));
    await db.collection('c').createIndex({ k: 1 }, { name: 'k' });
  });
  const c = sandbox.collection('c');
  await c.updateMany({}, [{ $set: { a: { $literal: { 'x/y': new Int32(1) } } } }]);
  await sandbox.command({ collMod: 'c', index: { name: 'k', hidden: true } });
  const { last } = await yard.call('changes.page', { branch: 'again', settle: true });
  await c.updateOne(one(1), [{ $set: { a: { $literal: { 'x/y': new Int32(2) } } } }]);
  await c.deleteOne(one(2));
  await c.dropIndex('k');
  const undo = await yard.call('changes.undo', { branch: 'again', what: { from: 1, to: last } });
  expect(texts(undo.checks)).toEqual([
    'The index k of again.c was changed again later; it stays as it is.',
    '1 of again.c was changed again later at /a/x~1y; it stays as it is.',
    '2 of again.c was changed again later; it stays as it is.',
  ]);
  expect(undo.conflicts).toBe(3);
});
