import { Int32 } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Input } from '../../shared/api.ts';
import { TestYard } from '../harness/in-process.ts';

const touched = 4_000;
/** Of the touched documents, one in so many is not as it was before. */
const changedEvery = 7;

interface Item {
  readonly _id: number;
  readonly n: Int32;
}

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  const items = Array.from({ length: touched }, (_, _id) => ({ _id, n: new Int32(0) }));
  const collectionOf = async (branch: string) => (await yard.client(branch)).db('pages').collection<Item>('items');
  await (await collectionOf('main')).insertMany(items);
  await yard.fork('agent', { ttlMs: null });
  const sandbox = await collectionOf('agent');
  await sandbox.updateMany({}, { $inc: { n: new Int32(1) } });
  // Written twice, they are touched and as they were.
  await sandbox.updateMany({ _id: { $not: { $mod: [changedEvery, 0] } } }, { $inc: { n: new Int32(-1) } });
  await (
    await collectionOf('main')
  ).updateMany({ _id: { $mod: [changedEvery * 50, 0] } }, { $inc: { n: new Int32(5) } });
});
afterAll(() => yard.close());

async function listed(query: Partial<Input<'diff.get'>> & { readonly limit: number }): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const from = after === undefined ? {} : { after };
    const page = await yard.call('diff.get', { branch: 'agent', listing: true, ...query, ...from });
    expect(page.documents.length).toBeLessThanOrEqual(query.limit);
    ids.push(...page.documents.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  return ids;
}

it('pages of a listing, of any length and through any filter, are the whole comparison in its order', async () => {
  const whole = await yard.call('diff.get', { branch: 'agent', limit: 10_000 });
  const ids = whole.documents.map(({ id }) => id);
  expect(ids).toHaveLength(Math.ceil(touched / changedEvery));
  const conflicts = whole.documents.filter(({ conflict }) => conflict).map(({ id }) => id);
  expect(conflicts).toHaveLength(Math.ceil(touched / changedEvery / 50));
  for (const limit of [37, 200, ids.length, 10_000]) {
    expect(await listed({ limit }), `pages of ${limit}`).toEqual(ids);
    expect(await listed({ limit, only: [{ ns: 'pages.items' }] })).toEqual(ids);
  }
  for (const limit of [1, 5]) expect(await listed({ limit, conflictsOnly: true })).toEqual(conflicts);
});

it('a comparison that nobody waits for any more ends', async () => {
  const stop = new AbortController();
  const answer = yard.call('diff.get', { branch: 'agent', summary: true }, { signal: stop.signal });
  stop.abort();
  await expect(answer).rejects.toThrow(/abort/);
  // Another one is whole.
  const { summary } = await yard.call('diff.get', { branch: 'agent', summary: true });
  expect(summary[0]?.modified).toBe(Math.ceil(touched / changedEvery));
});
