import { Double, Int32, Long, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { bson, ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf } from '../harness/round.ts';
import { collectionSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const value = (json: string) => ({ value: toBase64(parseEjson(json)) });

const sides = (name: string, documents: readonly Document[]) => collectionSides(yard, `outcome.${name}`, documents);

/** `path class` of each field of one document. */
function classes(diff: Awaited<ReturnType<typeof yard.call<'diff.get'>>>, key: string): string[] {
  return documentOf(diff, key).fields.map((each) => `${each.path.join('/')} ${each.class}`);
}

it('MG-04 MG-07: what both sides did to one value is decided, or merged by a rule, and never lost', async () => {
  const { ns, client, main, sandbox } = await sides('both', [
    { _id: 'null', a: null },
    { _id: 'inner', a: { b: 1 } },
    { _id: 'push', list: [1] },
    { _id: 'shift', list: ['a', 'b', 'c'] },
    {
      _id: 'keyed',
      list: [
        { _id: 1, n: 1 },
        { _id: 2, n: 1 },
      ],
    },
    { _id: 'index', list: [1, 2, 3] },
    { _id: 'typed', n: new Int32(5), m: new Int32(5) },
    { _id: 'ordered', a: 1, b: 2, c: 3 },
  ]);
  const edit = async (key: string, inSandbox: Document | Document[], inMain: Document | Document[]) => {
    await sandbox.updateOne(one(key), inSandbox);
    await main.updateOne(one(key), inMain);
  };
  await edit('null', { $unset: { a: 1 } }, { $set: { a: 3 } });
  await edit('inner', { $unset: { a: 1 } }, { $set: { 'a.c': 1 } });
  await edit('push', { $push: { list: 2 } }, { $push: { list: 3 } });
  await edit('shift', { $pop: { list: -1 } }, { $set: { 'list.2': "c'" } });
  await edit('keyed', { $pull: { list: { _id: 1 } } }, { $set: { 'list.1.n': 2 } });
  await edit('index', { $set: { 'list.0': 9 } }, { $set: { 'list.2': 7 } });
  await edit('typed', { $set: { n: Long.fromNumber(5) } }, { $set: { n: new Double(5), m: Long.fromNumber(5) } });
  await sandbox.replaceOne(one('ordered'), { c: 3, b: 2, a: 1 });
  await main.updateOne(one('ordered'), { $set: { d: 4 } });

  const diff = await yard.call('diff.get', { branch: 'both' });
  expect(diff.summary).toEqual([{ ns, added: 0, modified: 8, removed: 0, conflicts: 5 }]);
  expect(classes(diff, 'null')).toEqual(['a divergent']);
  expect(classes(diff, 'inner')).toEqual(['a divergent']);
  expect(classes(diff, 'push')).toEqual(['list divergent']);
  expect(classes(diff, 'shift')).toEqual(['list divergent']);
  expect(classes(diff, 'keyed')).toEqual(['list/0 clean']);
  expect(classes(diff, 'index')).toEqual(['list/0 clean']);
  expect(classes(diff, 'typed')).toEqual(['n divergent']);
  expect(classes(diff, 'ordered')).toEqual([' clean']);

  const before = await contents(client, ns);
  const refused = await yard.refusal('plan.adopt', { branch: 'both' });
  expect(refused).toMatchObject({ code: 'conflicts', details: { conflicts: 5 } });
  expect(refused.message).toContain('both removed /a of "null" of outcome.both, main changed it.');
  expect((refused.details?.['undecided'] as { text: string }[]).map(({ text }) => text)).toContain(
    'main and both changed /n of "typed" of outcome.both differently, to 5.0 (Double) and Long("5") (Int64).',
  );
  expect(await contents(client, ns)).toEqual(before);

  // A plan leaves out what is undecided, and only that.
  const { plan, items, conflicts } = await yard.call('plan.create', { branch: 'both' });
  expect([items, conflicts]).toEqual([3, 5]);
  const { entry } = await yard.call('plan.apply', { plan });
  expect(await main.findOne(one('keyed'))).toEqual({ _id: 'keyed', list: [{ _id: 2, n: 2 }] });
  expect(await main.findOne(one('index'))).toEqual({ _id: 'index', list: [9, 2, 7] });
  expect(Object.keys((await main.findOne(one('ordered')))!)).toEqual(['_id', 'c', 'd', 'b', 'a']);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
});

it('BS-24 CS-10: a nested _id is a field like any other; an index, a name of digits and a name with a dot are told apart', async () => {
  const { client, ns, main, sandbox } = await sides('paths', [
    {
      _id: 1,
      items: [
        { _id: 7, q: 1 },
        { _id: 8, q: 2 },
      ],
      ref: { _id: 9 },
    },
    { _id: 2, a: { '0': 1 }, 'a.0': 2, b: [{ '0': 5 }], c: [5] },
  ]);
  const set = (field: string, to: unknown) => [
    { $replaceWith: { $setField: { field: { $literal: field }, input: '$$ROOT', value: to } } },
  ];
  await sandbox.updateOne(one(1), { $set: { 'items.0._id': 17, 'ref._id': 19 } });
  await sandbox.updateOne(one(2), { $set: { 'a.0': 10, 'b.0.0': 50, 'c.0': 51 } });
  await sandbox.updateOne(one(2), set('a.0', 20));
  const diff = await yard.call('diff.get', { branch: 'paths' });
  const rows = (key: number) =>
    documentOf(diff, { $numberInt: String(key) }).fields.map(({ path, base, branch }) => [
      path,
      ejson(base),
      ejson(branch),
    ]);
  const int = (n: number) => ({ $numberInt: String(n) });
  expect(rows(1)).toEqual([
    [['items', 0, '_id'], int(7), int(17)],
    [['ref', '_id'], int(9), int(19)],
  ]);
  expect(rows(2)).toEqual([
    [['a', '0'], int(1), int(10)],
    [['a.0'], int(2), int(20)],
    [['b', 0, '0'], int(5), int(50)],
    [['c', 0], int(5), int(51)],
  ]);
  // One of them at a time, and each touches that one alone.
  const before = await contents(client, ns);
  const only = async (key: string, path: string[]) => {
    const { entry } = await yard.call('plan.adopt', { branch: 'paths', only: [{ ns, id: id(key), path }] });
    const found = await main.findOne(one(Number(key)));
    await yard.call('log.undo', { entry: entry! });
    expect(await contents(client, ns)).toEqual(before);
    return found;
  };
  expect(await only('2', ['a.0'])).toEqual({ _id: 2, a: { '0': 1 }, 'a.0': 20, b: [{ '0': 5 }], c: [5] });
  expect(await only('2', ['a', '0'])).toEqual({ _id: 2, a: { '0': 10 }, 'a.0': 2, b: [{ '0': 5 }], c: [5] });
  expect(await only('2', ['b', '0', '0'])).toEqual({ _id: 2, a: { '0': 1 }, 'a.0': 2, b: [{ '0': 50 }], c: [5] });
  expect(await only('1', ['items', '0', '_id'])).toMatchObject({
    items: [
      { _id: 17, q: 1 },
      { _id: 8, q: 2 },
    ],
  });
  // An edited result of such a field: its name with the dot, and no other.
  await yard.call('plan.adopt', {
    branch: 'paths',
    only: [{ ns, id: id('2') }],
    take: [
      { target: { ns, id: id('2'), path: ['a.0'] }, take: value('{"$numberLong":"7"}') },
      { target: { ns, id: id('2'), path: ['a', '0'] }, take: { side: 'main' } },
    ],
  });
  expect(await main.findOne(one(2), { promoteValues: false })).toMatchObject({
    a: { '0': new Int32(1) },
    'a.0': Long.fromNumber(7),
    b: [{ '0': new Int32(50) }],
  });
  expect((await yard.call('diff.get', { branch: 'paths' })).documents.map((each) => ejson(each.id))).toEqual([int(1)]);
});

it('edited results: a field, an object above changes, a whole document; types exact; what is left out stays to be seen', async () => {
  const { ns, client, main, sandbox } = await sides('edited', [
    { _id: 'field', price: 1, stock: 1, note: 'a' },
    { _id: 'above', address: { city: 'A', zip: '1', lines: [1] }, other: 1 },
    { _id: 'whole', a: 1, b: 1 },
    { _id: 'gone', a: 1 },
    { _id: 'main', a: 1 },
    { _id: 'unused', a: 1, b: 1 },
  ]);
  await sandbox.updateOne(one('field'), { $set: { price: 2, stock: 2, note: 'b' } });
  await main.updateOne(one('field'), { $set: { price: 3 } });
  await sandbox.updateOne(one('above'), { $set: { 'address.city': 'B', 'address.lines.0': 2, other: 2 } });
  await sandbox.updateOne(one('whole'), { $set: { a: 2 } });
  await main.updateOne(one('whole'), { $set: { a: 3 } });
  await sandbox.deleteOne(one('gone'));
  await main.updateOne(one('gone'), { $set: { a: 2 } });
  await sandbox.updateOne(one('main'), { $set: { a: 2 } });
  await sandbox.updateOne(one('unused'), { $set: { a: 2 } });
  const at = (key: string, ...path: string[]) => ({ ns, id: id(key), ...(path.length > 0 ? { path } : {}) });

  const before = await contents(client, ns);
  const { plan, checks, conflicts } = await yard.call('plan.create', {
    branch: 'edited',
    except: [at('field', 'note')],
    take: [
      { target: at('field', 'price'), take: value('{"$numberDouble":"2.5"}') },
      { target: at('above', 'address'), take: value('{"city":"C","zip":"9"}') },
      { target: at('whole'), take: value('{"a":{"$numberLong":"9"},"new":true}') },
      { target: at('gone'), take: value('{"_id":"gone","a":7}') },
      { target: at('main', 'a'), take: value('1') },
      { target: at('unused', 'b'), take: value('5') },
    ],
  });
  expect(conflicts).toBe(0);
  expect(checks.find(({ name }) => name === 'edited value')).toEqual({
    name: 'edited value',
    ok: false,
    detail: 'The edited value for "unused" of outcome.edited at /b stands at no change and is not used.',
  });
  // What equals main is decided, and no change: five documents are written of six.
  const { applied, entry } = await yard.call('plan.apply', { plan });
  expect(applied).toBe(5);
  const all = await main.find({}, { promoteValues: false, sort: { _id: 1 } }).toArray();
  expect(all).toEqual([
    { _id: 'above', address: { city: 'C', zip: '9' }, other: new Int32(2) },
    { _id: 'field', price: new Double(2.5), stock: new Int32(2), note: 'a' },
    { _id: 'gone', a: new Int32(7) },
    { _id: 'main', a: new Int32(1) },
    { _id: 'unused', a: new Int32(2), b: new Int32(1) },
    { _id: 'whole', a: Long.fromNumber(9), new: true },
  ]);
  // Of what was decided nothing is left; the field that was left out still is.
  const left = await yard.call('diff.get', { branch: 'edited' });
  expect(left.documents.map((each) => [ejson(each.id), each.fields.map(({ path }) => path.join('/'))])).toEqual([
    ['field', ['note']],
  ]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(client, ns)).toEqual(before);
  expect((await yard.call('diff.get', { branch: 'edited' })).documents).toHaveLength(6);

  for (const [take, message] of [
    [{ target: at('whole'), take: { value: bson({ _id: 'other' }) } }, 'has another _id'],
    [{ target: at('whole'), take: value('5') }, 'it is no document'],
    [{ target: { ns }, take: value('5') }, 'names no document'],
  ] as const) {
    const refused = await yard.refusal('plan.create', { branch: 'edited', take: [take] });
    expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  }
});

it('strict: a document edited on both sides is a conflict also where the fields differ, in the diff, the plan and the adoption', async () => {
  const { ns, main, sandbox } = await sides('strict', [
    { _id: 1, a: 1, b: 1 },
    { _id: 2, a: 1, b: 1 },
  ]);
  await sandbox.updateMany({}, { $set: { a: 2 } });
  await main.updateOne(one(1), { $set: { b: 2 } });
  const counts = async (strict: boolean) =>
    (await yard.call('diff.get', { branch: 'strict', strict, summary: true })).summary[0]?.conflicts;
  expect([await counts(false), await counts(true)]).toEqual([0, 1]);
  expect(await yard.call('plan.create', { branch: 'strict', strict: true })).toMatchObject({ items: 1, conflicts: 1 });
  const refused = await yard.refusal('plan.adopt', { branch: 'strict', strict: true });
  expect(refused.code).toBe('conflicts');
  expect(refused.message).toContain('strict changed /a of 1 of outcome.strict, main changed other fields of it.');
  const take = [{ target: { ns, id: id('1') }, take: { side: 'strict' } }];
  expect(await yard.call('plan.adopt', { branch: 'strict', strict: true, take })).toMatchObject({ applied: 2 });
  expect(await main.find().toArray()).toEqual([
    { _id: 1, a: 2, b: 2 },
    { _id: 2, a: 2, b: 1 },
  ]);
});
