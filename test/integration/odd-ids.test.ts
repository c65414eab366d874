import { Int32, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { typeName, Type, valueOf, fromBase64, stringValue, documentValue } from '../../shared/bson/value.ts';
import { buildArray, buildDocument, rawElement } from '../../shared/bson/walk.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges, completeDiff } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const int = (value: number) => new Uint8Array([Type.Int32, value, 0, 0, 0]);
const bytes = (...parts: (number | Uint8Array)[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const size = (length: number) => new Uint8Array([length, 0, 0, 0]);
const object = (...fields: [name: string, value: Uint8Array][]) =>
  documentValue(buildDocument(fields.map(([name, value]) => rawElement(name, value))));
const list = (...values: Uint8Array[]) => valueOf(Type.Array, buildArray(values));

const pointer = (last: number) =>
  bytes(Type.DBPointer, stringValue('shop.products').subarray(1), new Uint8Array(11), last);
const symbol = (text: string) => valueOf(Type.Symbol, stringValue(text).subarray(1));
const code = (text: string) => valueOf(Type.Code, stringValue(text).subarray(1));
const scoped = (scope: Uint8Array) => {
  const inner = bytes(stringValue('f').subarray(1), scope.subarray(1));
  return bytes(Type.CodeWScope, size(inner.length + 4), inner);
};
const notUtf8 = bytes(Type.String, size(3), 0xff, 0xc0, 0);
const regex = bytes(Type.Regex, 0x61, 0, 0x69, 0);
const zeroTime = valueOf(Type.Timestamp, new Uint8Array(8));
const none = new Uint8Array([Type.Undefined]);

/** What JavaScript has no values for, or loses on the way. */
const odd: Readonly<Record<string, Uint8Array>> = {
  pointer: pointer(1),
  symbol: symbol('s'),
  code: code('f'),
  scoped: scoped(object(['7', int(1)], ['a', int(1)], ['a', int(2)])),
  notUtf8,
};
const ids: readonly Uint8Array[] = [
  ...Object.values(odd),
  pointer(2),
  scoped(object(['a', int(1)], ['7', int(1)], ['a', int(2)])),
  object(['a', int(1)], ['a', int(2)]),
  object(['b', int(1)], ['7', int(1)]),
  object(['__proto__', int(1)]),
  zeroTime,
  object(['k', zeroTime]),
  ...[...Object.values(odd), none, regex].flatMap((value) => [
    object(['k', value]),
    object(['k', list(int(1), value)]),
    object(['deep', object(['k', value], ['', int(1)])]),
  ]),
];
const document = (id: Uint8Array, at: number, n: number) =>
  buildDocument([rawElement('_id', id), rawElement('at', int(at)), rawElement('n', int(n))]);

it('BS-21: an _id of a deprecated type, or one that only bytes can carry, alone or inside an object, is told from all others, changed, deleted, brought back, adopted and undone byte for byte', async () => {
  const ns = 'odd.ids';
  const main = await yard.client('main');
  await insertExactly(
    main,
    ns,
    ids.map((id, at) => document(id, at, 1)),
  );
  const before = await contents(main, ns);
  expect(before.size).toBe(ids.length);
  await yard.fork('ids', { ttlMs: null });
  const sandbox = await yard.client('ids');
  const collection = sandbox.db('odd').collection<Document>('ids');
  await collection.updateMany({ at: { $mod: [3, 0] } }, { $set: { n: new Int32(2) } });
  await collection.deleteMany({ at: { $mod: [3, 1] } });
  await collection.updateMany({ at: { $mod: [3, 2] } }, [{ $set: { n: new Int32(3), more: '$at' } }]);
  const wanted = await contents(sandbox, ns);

  const diff = await completeDiff(yard, { branch: 'ids' });
  const counts = [0, 1, 2].map((rest) => ids.filter((_, at) => at % 3 === rest).length);
  expect(diff).toMatchObject({ complete: true, gaps: [] });
  expect(diff.summary).toEqual([{ ns, added: 0, modified: counts[0]! + counts[2]!, removed: counts[1], conflicts: 0 }]);
  expect(new Set(diff.documents.map(({ id }) => id)).size).toBe(ids.length);
  const changed = await allChanges(yard, 'ids');
  expect(new Set(changed.map(({ id }) => id))).toEqual(new Set(diff.documents.map(({ id }) => id)));
  for (const { id, kind, fields } of diff.documents) {
    const at = ids.findIndex((each) => Buffer.compare(each, fromBase64(id)) === 0);
    expect(kind, typeName(ids[at]!)).toBe(at % 3 === 1 ? 'removed' : 'modified');
    if (kind === 'modified') expect(fields[0]?.path).toEqual(['n']);
  }
  // One of them alone, by its very _id.
  const alone = Buffer.from(ids[0]!).toString('base64');
  const one = await yard.call('plan.adopt', { branch: 'ids', only: [{ ns, id: alone }] });
  expect(one.applied).toBe(1);
  await yard.call('log.undo', { entry: one.entry! });
  expect(await contents(main, ns)).toEqual(before);

  const { applied, entry } = await yard.call('plan.adopt', { branch: 'ids' });
  expect(applied).toBe(ids.length);
  expect(await contents(main, ns)).toEqual(wanted);
  expect((await completeDiff(yard, { branch: 'ids' })).documents).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, ns)).toEqual(before);
  // Inside the sandbox too, back to where it began.
  const { plan } = await yard.call('restore.plan', { branch: 'ids', to: { seq: 0 } });
  await yard.call('plan.apply', { plan });
  expect(await contents(sandbox, ns)).toEqual(before);
  expect(await yard.call('branches.verify', { branch: 'ids' })).toMatchObject({ exact: true, parentExact: true });
});

it('BS-21: the same on both sides is a conflict that is shown, and a document with it that main changed makes a plan stale', async () => {
  const ns = 'odd.both';
  const main = await yard.client('main');
  const some = [ids[0]!, ids[4]!, object(['k', pointer(1)]), object(['a', int(1)], ['a', int(2)])];
  await insertExactly(
    main,
    ns,
    some.map((id, at) => document(id, at, 1)),
  );
  await yard.fork('both', { ttlMs: null });
  const sandbox = (await yard.client('both')).db('odd').collection<Document>('both');
  await sandbox.updateMany({}, { $set: { n: new Int32(2) } });
  const { plan } = await yard.call('plan.create', { branch: 'both' });
  await main
    .db('odd')
    .collection('both')
    .updateMany({}, { $set: { n: new Int32(3) } });
  const stale = await yard.refusal('plan.apply', { plan });
  expect(stale).toMatchObject({ code: 'plan_stale' });
  expect(stale.details?.['moved']).toHaveLength(some.length);
  expect((await completeDiff(yard, { branch: 'both' })).summary).toEqual([
    { ns, added: 0, modified: 4, removed: 0, conflicts: 4 },
  ]);
});

it('values of every deprecated type, in fields, objects and arrays, are shown as they are, adopted and undone byte for byte', async () => {
  const ns = 'odd.values';
  const main = await yard.client('main');
  const values = [...Object.values(odd), none, regex];
  const holding = (id: number, value: Uint8Array) =>
    buildDocument([
      rawElement('_id', int(id)),
      rawElement('v', value),
      rawElement('list', list(int(1), value, object(['id', int(1)], ['in', value]))),
      rawElement('inner', object(['v', value], ['other', value])),
    ]);
  await insertExactly(
    main,
    ns,
    values.map((value, id) => holding(id, value)),
  );
  const before = await contents(main, ns);
  await yard.fork('values', { ttlMs: null });
  const sandbox = await yard.client('values');
  await sandbox.db('odd').collection('values').deleteMany({});
  // Each value gives its place to the next one.
  await insertExactly(
    sandbox,
    ns,
    values.map((_, id) => holding(id, values[(id + 1) % values.length]!)),
  );
  const diff = await completeDiff(yard, { branch: 'values' });
  expect(diff.summary).toEqual([{ ns, added: 0, modified: values.length, removed: 0, conflicts: 0 }]);
  const types = values.map((value) => typeName(value));
  for (const [at, { fields }] of diff.documents.entries()) {
    const next = types[(at + 1) % types.length];
    const shown = fields.map(({ path, base, branch }) => [
      path.join('/'),
      ...[base, branch].map((value) => value && typeName(fromBase64(value))),
    ]);
    expect(shown).toEqual(
      ['v', 'list/1', 'list/2/in', 'inner/v', 'inner/other'].map((path) => [path, types[at], next]),
    );
  }
  const wanted = await contents(sandbox, ns);
  const { entry } = await yard.call('plan.adopt', { branch: 'values' });
  expect(await contents(main, ns)).toEqual(wanted);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, ns)).toEqual(before);
});
