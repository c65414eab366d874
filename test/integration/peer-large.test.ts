import { Int32, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentBytes, fromBase64 } from '../../shared/bson/value.ts';
import { ejson, id } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { timed } from '../harness/own-time.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const nineMegabytes = (letter: string) => letter.repeat(9_000_000);

it('20,000 changed documents go into main in one plan, and the undo of it is exact', async () => {
  const main = await yard.client('main');
  const count = 20_000;
  await insertExactly(
    main,
    'large.items',
    Array.from({ length: count }, (_, _id) => ({ _id, n: new Int32(0), text: `item ${_id}` })),
  );
  const hash = async (client: MongoClient) =>
    ((await client.db('large').command({ dbHash: 1 }))['collections'] as Record<string, string>)['items'];
  const before = await hash(main);
  await yard.fork('large', { ttlMs: null });
  const sandbox = await yard.client('large');
  await sandbox
    .db('large')
    .collection('items')
    .updateMany({}, { $inc: { n: new Int32(1) } });
  const wanted = await hash(sandbox);
  expect(wanted).not.toBe(before);
  const { plan, items, conflicts } = await yard.call('plan.create', { branch: 'large' });
  expect({ items, conflicts }).toEqual({ items: count, conflicts: 0 });
  const { applied, entry } = await yard.call('plan.apply', { plan });
  expect(applied).toBe(count);
  expect(await hash(main)).toBe(wanted);
  expect((await yard.call('log.undo', { entry: entry! })).applied).toBe(count);
  expect(await hash(main)).toBe(before);
  await yard.call('branches.discard', { branch: 'large', now: true });
});

it.each([
  ['in a collection that was forked', 'event-old', false],
  ['in a collection that was just made', 'event-new', true],
])(
  'CS-01: an update whose event is above 16 MB, %s, is captured exactly, and capture goes on',
  async (_where, name, fresh) => {
    const main = await yard.client('main');
    const letters = ['a', 'b', 'c'].map(nineMegabytes);
    if (!fresh)
      await insertExactly(main, `${name}.docs`, [
        { _id: 1, text: letters[0] },
        { _id: 2, n: new Int32(1) },
      ]);
    await yard.fork(name, { ttlMs: null });
    const docs = (await yard.client(name)).db(name).collection<{ _id: number; text?: string; n?: Int32 }>('docs');
    if (fresh)
      await docs.insertMany([
        { _id: 1, text: letters[0]! },
        { _id: 2, n: new Int32(1) },
      ]);
    await docs.updateOne({ _id: 2 }, { $set: { n: new Int32(2) } });
    await docs.updateOne({ _id: 1 }, { $set: { text: letters[1]! } });
    await docs.replaceOne({ _id: 1 }, { text: letters[2]! });
    await docs.updateOne({ _id: 2 }, { $set: { n: new Int32(3) } });
    const changes = (await allChanges(yard, name)).filter(({ op }) => op !== 'insert' && op !== 'create');
    // Any letter of the text, and how long the whole is.
    const text = (image: string | undefined) => {
      const bytes = documentBytes(fromBase64(image!));
      return `${String.fromCharCode(bytes[1_000]!)} ${bytes.length}`;
    };
    const large = changes.filter(({ id }) => JSON.stringify(ejson(id)) === '{"$numberInt":"1"}');
    const size = 9_000_000 + 25;
    expect(large.map(({ before, after }) => [text(before), text(after)])).toEqual([
      [`a ${size}`, `b ${size}`],
      [`b ${size}`, `c ${size}`],
    ]);
    const small = changes.filter((each) => !large.includes(each));
    expect(small.map(({ before, after }) => [ejson(before), ejson(after)])).toEqual([
      [
        { _id: { $numberInt: '2' }, n: { $numberInt: '1' } },
        { _id: { $numberInt: '2' }, n: { $numberInt: '2' } },
      ],
      [
        { _id: { $numberInt: '2' }, n: { $numberInt: '2' } },
        { _id: { $numberInt: '2' }, n: { $numberInt: '3' } },
      ],
    ]);
    const diff = await completeDiff(yard, { branch: name, summary: true });
    expect(diff.complete).toBe(true);
    const before = fresh ? undefined : await contents(main, `${name}.docs`);
    const { entry } = await yard.call('plan.adopt', { branch: name });
    expect(await contents(main, `${name}.docs`)).toEqual(await contents(await yard.client(name), `${name}.docs`));
    await yard.call('log.undo', { entry: entry! });
    if (before) expect(await contents(main, `${name}.docs`)).toEqual(before);
    await yard.call('branches.discard', { branch: name, now: true });
  },
);

it('documents as large as the server takes are adopted as a whole and field by field, and every step is undone', async () => {
  const main = await yard.client('main');
  // `_id`, the text's name and length, and the ends take 25 bytes of 16 MB.
  const largest = 'x'.repeat(16 * 1024 * 1024 - 25);
  await insertExactly(main, 'largest.docs', [
    { _id: 1, text: largest },
    { _id: 2, text: nineMegabytes('a'), m: new Int32(1), n: new Int32(1) },
  ]);
  await yard.fork('largest', { ttlMs: null });
  const sandbox = await yard.client('largest');
  const docs = sandbox.db('largest').collection<{ _id: number; text: string; m?: Int32; n?: Int32 }>('docs');
  await docs.updateOne({ _id: 1 }, { $set: { text: `y${largest.slice(1)}` } });
  await docs.updateOne({ _id: 2 }, { $set: { text: nineMegabytes('b'), m: new Int32(2), n: new Int32(2) } });
  // The base of what is adopted in part is neither what main has nor what the plan leaves.
  await main
    .db('largest')
    .collection<{ _id: number }>('docs')
    .updateOne({ _id: 2 }, { $set: { own: true } });
  const edited = await contents(main, 'largest.docs');
  const entries: string[] = [];
  const field = (name: string) => ({ only: [{ ns: 'largest.docs', id: id('2'), path: [name] }] });
  for (const selection of [field('m'), field('n'), {}]) {
    const { entry } = await yard.call('plan.adopt', { branch: 'largest', ...selection });
    entries.push(entry!);
  }
  const diff = await yard.call('diff.get', { branch: 'largest' });
  expect(diff).toMatchObject({ complete: true, summary: [] });
  const adopted = await contents(main, 'largest.docs');
  const wanted = await contents(sandbox, 'largest.docs');
  const [[one, first]] = [...wanted] as [[string, string]];
  expect(adopted.get(one) === first).toBe(true);
  for (const entry of entries.reverse()) await yard.call('log.undo', { entry });
  const undone = await contents(main, 'largest.docs');
  expect([...edited].map(([key, bytes]) => undone.get(key) === bytes)).toEqual([true, true]);
  await yard.call('branches.discard', { branch: 'largest', now: true });
}, 120_000);

it('pages of large documents end where their bytes do, and together they are all of them', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'pages.docs', [{ _id: 0, text: nineMegabytes('a') }]);
  await yard.fork('pages', { ttlMs: null });
  const docs = (await yard.client('pages')).db('pages').collection<{ _id: number; text: string }>('docs');
  for (const letter of ['b', 'c', 'd']) await docs.updateOne({ _id: 0 }, { $set: { text: nineMegabytes(letter) } });
  for (const _id of [1, 2, 3]) await docs.insertOne({ _id, text: nineMegabytes('x') });

  const seqs: number[][] = [];
  for (let after = 0; ;) {
    const { changes } = await yard.call('changes.page', { branch: 'pages', after, settle: true });
    if (changes.length === 0) break;
    seqs.push(changes.map(({ seq }) => seq));
    after = seqs.at(-1)!.at(-1)!;
  }
  // An update has 18 MB of images, an insert 9; a page ends behind what passes 16 MB.
  expect(seqs).toEqual([[1], [2], [3], [4, 5], [6]]);

  const ids: unknown[][] = [];
  let after: string | undefined;
  do {
    const page = await yard.call('diff.get', { branch: 'pages', ...(after === undefined ? {} : { after }) });
    expect(page.summary).toMatchObject([{ added: 3, modified: 1 }]);
    ids.push(page.documents.map((document) => ejson(document.id)));
    after = page.next;
  } while (after !== undefined);
  expect(ids.length).toBe(2);
  expect(
    ids
      .flat()
      .map((each) => JSON.stringify(each))
      .sort(),
  ).toEqual([0, 1, 2, 3].map((n) => `{"$numberInt":"${n}"}`));
  await yard.call('branches.discard', { branch: 'pages', now: true });
}, 120_000);

it('a server that is down is told in a sentence within 2 s, not after the driver’s patience', async () => {
  await yard.fork('gone', { ttlMs: null });
  const { uri } = await yard.call('branches.uri', { branch: 'gone' });
  await yard.call('branches.discard', { branch: 'gone' });
  const ms = await timed(async () => {
    for (const method of ['diff.get', 'plan.create', 'branches.uri'] as const) {
      const refused = await yard.refusal(method, { branch: 'gone' });
      expect(refused.message).toMatch(/^[^\n]+\.$/);
      expect(refused.hint).toBeTypeOf('string');
    }
  });
  expect(ms).toBeLessThan(2_000);
  await expect(new MongoClient(uri, { serverSelectionTimeoutMS: 300 }).connect()).rejects.toThrow();
});
