import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Int32, MongoClient } from 'mongodb';
import { ejson, id } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { completeDiff } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

async function prices(branch: string): Promise<Record<string, number>> {
  const client = await yard.client(branch);
  const products = await client.db('shop').collection<{ _id: string; price: number }>('products').find().toArray();
  return Object.fromEntries(products.map(({ _id, price }) => [_id, price]));
}

describe('the worked example', () => {
  it('forks, watches, reviews, adopts a part, meets a conflict and discards', async () => {
    const { branch, uri } = await yard.fork('price-update', { ttlMs: 3_600_000 });
    expect(branch).toMatchObject({ name: 'price-update', parent: 'main', state: 'live' });
    const sandbox = (await yard.client('price-update')).db('shop').collection('products');
    await sandbox.updateMany({}, [{ $set: { price: { $round: [{ $multiply: ['$price', 0.9] }, 0] } } }]);
    await sandbox.deleteOne({ _id: 'p3' as never });

    const { changes } = await yard.call('changes.page', { branch: 'price-update', settle: true });
    expect(changes.map(({ op, id: key }) => [op, ejson(key)])).toEqual([
      ['update', 'p1'],
      ['update', 'p2'],
      ['update', 'p3'],
      ['delete', 'p3'],
    ]);
    expect(changes.map(({ actor }) => actor)).toEqual(['agent', 'agent', 'agent', 'agent']);

    const diff = await completeDiff(yard, { branch: 'price-update' });
    expect(diff.complete).toBe(true);
    expect(diff.summary).toEqual([{ ns: 'shop.products', added: 0, modified: 2, removed: 1, conflicts: 0 }]);
    const [p1, , p3] = diff.documents;
    expect(p1?.fields.map(({ path, base, branch: now }) => [path, ejson(base), ejson(now)])).toEqual([
      [['price'], { $numberInt: '49' }, { $numberDouble: '44.0' }],
    ]);
    expect(ejson(p3?.fields[0]?.base)).toEqual({ _id: 'p3', name: 'Cable tray', price: { $numberInt: '19' } });
    expect(await prices('main')).toEqual({ p1: 49, p2: 89, p3: 19 });

    const adopted = await yard.call('plan.adopt', {
      branch: 'price-update',
      only: [{ ns: 'shop.products', id: id('p1') }],
    });
    expect(adopted.applied).toBe(1);
    expect(await prices('main')).toEqual({ p1: 44, p2: 89, p3: 19 });

    const main = (await yard.client('main')).db('shop').collection('products');
    await main.updateOne({ _id: 'p2' as never }, { $set: { price: new Int32(85) } });
    const conflicted = await completeDiff(yard, { branch: 'price-update', conflictsOnly: true });
    expect(
      conflicted.documents.map(({ id: key, fields }) => [
        ejson(key),
        fields.map((each) => [ejson(each.base), ejson(each.parent), ejson(each.branch), each.class]),
      ]),
    ).toEqual([['p2', [[{ $numberInt: '89' }, { $numberInt: '85' }, { $numberDouble: '80.0' }, 'divergent']]]]);
    expect((await yard.refusal('plan.adopt', { branch: 'price-update' })).code).toBe('conflicts');

    await yard.call('branches.discard', { branch: 'price-update' });
    expect(await prices('main')).toEqual({ p1: 44, p2: 85, p3: 19 });
    expect((await yard.refusal('branches.uri', { branch: 'price-update' })).code).toBe('unknown_branch');
    await expect(new MongoClient(uri, { serverSelectionTimeoutMS: 500 }).connect()).rejects.toThrow();

    const undone = await yard.call('log.undo', { entry: adopted.entry! });
    expect(undone.applied).toBe(1);
    expect(await prices('main')).toEqual({ p1: 49, p2: 85, p3: 19 });
  });
});
