import { BSON, Binary, Decimal128, Double, Int32, Long, ObjectId, Timestamp } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shellText } from '../../shared/bson/ejson.ts';
import { fromBase64, Type, typeName } from '../../shared/bson/value.ts';
import { buildDocument, rawElement } from '../../shared/bson/walk.ts';
import { ejson, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, fieldRows, insertExactly, round } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const typesOf = (values: readonly (string | undefined)[]) =>
  values.map((value) => (value === undefined ? 'missing' : typeName(fromBase64(value))));
const undefinedValue = new Uint8Array([Type.Undefined]);
const int = (value: number) => new Uint8Array([Type.Int32, value, 0, 0, 0]);

it('BS-01: a small Long, a whole Double and a Decimal keep their types when a neighbour is edited, adopted and undone', async () => {
  const numbers = { i: new Int32(5), l: Long.fromNumber(5), d: new Double(5), m: Decimal128.fromString('5') };
  const { diff } = await round(yard, {
    ns: 'bs01.numbers',
    documents: [
      { _id: new Int32(1), ...numbers, other: 'old' },
      { _id: Long.fromNumber(3), ...numbers, other: 'old' },
      { _id: new Double(4), ...numbers, list: [numbers], other: 'old' },
    ],
    edit: async (sandbox) => {
      const collection = sandbox.db('bs01').collection('numbers');
      await collection.updateOne(one(1), { $set: { other: 'new' } });
      // What an ordinary program does: the whole document through JavaScript objects, but with its types kept.
      const whole = await collection.findOne(one(Long.fromNumber(3)), { promoteValues: false });
      await collection.replaceOne(one(Long.fromNumber(3)), { ...whole, other: 'new' });
      await collection.updateMany({ _id: { $gt: 3 } } as never, { $set: { other: 'new' } });
    },
  });
  expect(diff.documents.map(({ id }) => ejson(id))).toEqual([
    { $numberInt: '1' },
    { $numberLong: '3' },
    { $numberDouble: '4.0' },
  ]);
  for (const { fields } of diff.documents) expect(fields.map(({ path }) => path)).toEqual([['other']]);
});

it('BS-01: a program that rewrites a Long as an Int32 is shown as a change of type, not hidden', async () => {
  const { diff } = await round(yard, {
    ns: 'bs01.promoted',
    documents: [{ _id: 'a', l: Long.fromNumber(5), inner: [{ d: new Double(1) }] }],
    edit: async (sandbox) => {
      const collection = sandbox.db('bs01').collection('promoted');
      const whole = await collection.findOne(one('a'));
      await collection.replaceOne(one('a'), whole!);
    },
  });
  expect(fieldRows(diff)).toEqual([
    [['l'], { $numberLong: '5' }, { $numberInt: '5' }],
    [['inner', 0, 'd'], { $numberDouble: '1.0' }, { $numberInt: '1' }],
  ]);
});

it('BS-02: the same number in another type is a change that names both types, each time', async () => {
  const set = (v: unknown) => ({ $set: { v } });
  const { diff, changes } = await round(yard, {
    ns: 'bs02.numbers',
    documents: ['steps', 'double', 'long', 'decimal'].map((_id) => ({ _id, v: new Int32(5) })),
    edit: async (sandbox) => {
      const collection = sandbox.db('bs02').collection('numbers');
      const [double, long, decimal] = [new Double(5), Long.fromNumber(5), Decimal128.fromString('5')];
      await collection.updateOne(one('steps'), set(double));
      await collection.updateOne(one('steps'), set(long));
      await collection.updateOne(one('steps'), set(decimal));
      await collection.updateOne(one('double'), set(double));
      await collection.updateOne(one('long'), set(long));
      await collection.updateOne(one('decimal'), set(decimal));
    },
  });
  const value = (image: string | undefined) => (ejson(image) as { v: Record<string, string> }).v;
  expect(changes.slice(0, 3).map(({ before, after }) => [value(before), value(after)])).toEqual([
    [{ $numberInt: '5' }, { $numberDouble: '5.0' }],
    [{ $numberDouble: '5.0' }, { $numberLong: '5' }],
    [{ $numberLong: '5' }, { $numberDecimal: '5' }],
  ]);
  const rows = ['double', 'long', 'decimal'].map((id) => fieldRows(diff, id));
  expect(rows).toEqual([
    [[['v'], { $numberInt: '5' }, { $numberDouble: '5.0' }]],
    [[['v'], { $numberInt: '5' }, { $numberLong: '5' }]],
    [[['v'], { $numberInt: '5' }, { $numberDecimal: '5' }]],
  ]);
});

it('BS-02: decimals that are equal and written otherwise (5, 5.0, 5E0) are changes too', async () => {
  const { diff } = await round(yard, {
    ns: 'bs02.decimals',
    documents: [{ _id: 1, a: Decimal128.fromString('5'), b: Decimal128.fromString('0') }],
    edit: (sandbox) =>
      sandbox
        .db('bs02')
        .collection('decimals')
        .updateOne(one(1), { $set: { a: Decimal128.fromString('5.0'), b: Decimal128.fromString('-0') } }),
  });
  expect(fieldRows(diff)).toEqual([
    [['a'], { $numberDecimal: '5' }, { $numberDecimal: '5.0' }],
    [['b'], { $numberDecimal: '0' }, { $numberDecimal: '-0' }],
  ]);
});

it('BS-03: 64-bit integers beyond 2^53 differ by one and show all their digits', async () => {
  const { diff } = await round(yard, {
    ns: 'bs03.numbers',
    documents: [
      { _id: Long.fromString('9007199254740992'), n: Long.fromString('9007199254740992'), min: Long.MIN_VALUE },
      { _id: Long.fromString('9007199254740993'), n: Long.fromString('9007199254740992'), max: Long.MAX_VALUE },
    ],
    edit: async (sandbox) => {
      const collection = sandbox.db('bs03').collection('numbers');
      await collection.updateOne(one(Long.fromString('9007199254740992')), {
        $set: { n: Long.fromString('9007199254740993'), min: Long.fromString('-9223372036854775807') },
      });
      await collection.updateOne(one(Long.fromString('9007199254740993')), {
        $set: { n: Long.fromString('9007199254740993'), max: Long.fromString('9223372036854775806') },
      });
    },
  });
  expect(fieldRows(diff, { $numberLong: '9007199254740992' })).toEqual([
    [['n'], { $numberLong: '9007199254740992' }, { $numberLong: '9007199254740993' }],
    [['min'], { $numberLong: '-9223372036854775808' }, { $numberLong: '-9223372036854775807' }],
  ]);
  expect(fieldRows(diff, { $numberLong: '9007199254740993' })[1]).toEqual([
    ['max'],
    { $numberLong: '9223372036854775807' },
    { $numberLong: '9223372036854775806' },
  ]);
  // As people read it.
  expect(shellText(fromBase64(diff.documents[0]!.fields[0]!.branch!))).toContain('9007199254740993');
});

it('BS-05: negative zero, NaN and the infinities are kept, and only what changed is shown', async () => {
  // A NaN with a payload of its own: equal to itself by its bits.
  const oddNaN = new Uint8Array([Type.Double, 1, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
  const special = BSON.serialize({
    _id: 1,
    a: new Double(-0),
    b: new Double(NaN),
    c: new Double(Infinity),
    d: new Double(-Infinity),
    other: 'old',
  });
  const odd = buildDocument([rawElement('_id', int(2)), rawElement('n', oddNaN), rawElement('other', int(1))]);
  const { diff } = await round(yard, {
    ns: 'bs05.numbers',
    documents: [special, odd],
    edit: (sandbox) =>
      sandbox
        .db('bs05')
        .collection('numbers')
        .updateMany({}, { $set: { other: 'new' } }),
  });
  expect(diff.documents.map(({ fields }) => fields.map(({ path }) => path))).toEqual([[['other']], [['other']]]);

  const second = await round(yard, {
    ns: 'bs05.zero',
    documents: [special],
    edit: (sandbox) =>
      sandbox
        .db('bs05')
        .collection('zero')
        .updateOne(one(1), { $set: { a: new Double(0) } }),
  });
  expect(fieldRows(second.diff)).toEqual([[['a'], { $numberDouble: '-0.0' }, { $numberDouble: '0.0' }]]);
});

it('BS-16: another order of the same fields is a change of order, with nothing removed and nothing added', async () => {
  const { diff } = await round(yard, {
    ns: 'bs16.orders',
    documents: [
      { _id: 1, a: 1, b: { x: 1, y: 2 } },
      { _id: 2, list: [{ p: 1, q: 2 }] },
    ],
    edit: async (sandbox) => {
      const collection = sandbox.db('bs16').collection('orders');
      await collection.replaceOne(one(1), { b: { y: 2, x: 1 }, a: 1 });
      await collection.replaceOne(one(2), { list: [{ q: 2, p: 1 }] });
    },
  });
  const rows = diff.documents.map(({ kind, conflict, fields }) => ({
    kind,
    conflict,
    fields: fields.map(({ path, order, base, branch }) => [path, order, ejson(base), ejson(branch)]),
  }));
  expect(rows).toEqual([
    {
      kind: 'modified',
      conflict: false,
      fields: [
        [['b'], true, ['x', 'y'], ['y', 'x']],
        [[], true, ['_id', 'a', 'b'], ['_id', 'b', 'a']],
      ],
    },
    { kind: 'modified', conflict: false, fields: [[['list', 0], true, ['p', 'q'], ['q', 'p']]] },
  ]);
});

it('BS-25: null, missing and undefined are three things: each change between them is shown, adopted and undone', async () => {
  const document = (id: number, ...fields: [name: string, value: Uint8Array][]) =>
    buildDocument([rawElement('_id', int(id)), ...fields.map(([name, value]) => rawElement(name, value))]);
  const nullValue = new Uint8Array([Type.Null]);
  const { diff } = await round(yard, {
    ns: 'bs25.absent',
    documents: [
      document(1, ['f', nullValue]),
      document(2),
      BSON.serialize({ _id: new Int32(3), list: [1, 2] }),
      document(4, ['f', undefinedValue]),
      document(5, ['f', undefinedValue]),
      document(6, ['f', nullValue]),
    ],
    edit: async (sandbox) => {
      const collection = sandbox.db('bs25').collection('absent');
      await collection.updateOne(one(1), { $unset: { f: '' } });
      await collection.updateOne(one(2), { $set: { f: null } });
      await collection.updateOne(one(3), { $set: { 'list.1': null } });
      await collection.updateOne(one(4), { $unset: { f: '' } });
      await collection.updateOne(one(5), { $set: { f: null } });
      await collection.deleteOne(one(6));
      await insertExactly(sandbox, 'bs25.absent', [document(6, ['f', undefinedValue])]);
    },
  });
  const rows = diff.documents.map(({ fields }) =>
    fields.map(({ path, base, branch }) => [path, typesOf([base, branch])]),
  );
  expect(rows).toEqual([
    [[['f'], ['Null', 'missing']]],
    [[['f'], ['missing', 'Null']]],
    [
      [
        ['list', 1],
        ['Int32', 'Null'],
      ],
    ],
    [[['f'], ['Undefined', 'missing']]],
    [[['f'], ['Undefined', 'Null']]],
    [[['f'], ['Null', 'Undefined']]],
  ]);
});

it('DF-01: an ObjectId, a Decimal, one byte of a large Binary, a Timestamp and a Date change in one row each', async () => {
  const bytes = Buffer.alloc(1_000_000, 7);
  const changed = Buffer.from(bytes);
  changed[500_000] = 8;
  const { diff } = await round(yard, {
    ns: 'df01.values',
    documents: [
      {
        _id: 1,
        oid: new ObjectId('507f1f77bcf86cd799439011'),
        decimal: Decimal128.fromString('1.10'),
        binary: new Binary(bytes),
        time: new Timestamp({ t: 5, i: 1 }),
        int: new Int32(7),
        date: new Date(1),
      },
    ],
    edit: (sandbox) =>
      sandbox
        .db('df01')
        .collection('values')
        .updateOne(one(1), {
          $set: {
            oid: new ObjectId('507f1f77bcf86cd799439012'),
            decimal: Decimal128.fromString('1.20'),
            binary: new Binary(changed),
            time: new Timestamp({ t: 5, i: 2 }),
            int: Long.fromNumber(7),
            date: new Date(2),
          },
        }),
  });
  const rows = diff.documents[0]!.fields.map(({ path, base, branch }) => [path, ...typesOf([base, branch])]);
  expect(rows).toEqual([
    [['oid'], 'ObjectId', 'ObjectId'],
    [['decimal'], 'Decimal128', 'Decimal128'],
    [['binary'], 'Binary', 'Binary'],
    [['time'], 'Timestamp', 'Timestamp'],
    [['int'], 'Int32', 'Int64'],
    [['date'], 'Date', 'Date'],
  ]);
  const text = (value: string | undefined) => shellText(fromBase64(value!));
  const [oid, decimal, , time] = diff.documents[0]!.fields;
  expect([text(oid?.base), text(oid?.branch)].join()).toMatch(/439011.*439012/);
  expect([text(decimal?.base), text(decimal?.branch)].join()).toMatch(/1\.10.*1\.20/);
  expect([text(time?.base), text(time?.branch)].join()).toMatch(/\b1\b.*\b2\b/);
});

it('DF-03: a program that reads and writes bigints changes a Long from 1 to 2, and that is shown', async () => {
  const { diff } = await round(yard, {
    ns: 'df03.longs',
    documents: [{ _id: Long.fromNumber(1), n: Long.fromNumber(1), list: [Long.fromNumber(1)] }],
    edit: async (sandbox) => {
      const collection = sandbox
        .db('df03', { useBigInt64: true } as never)
        .collection<{ _id: bigint; n: bigint; list: bigint[] }>('longs');
      const found = await collection.findOne({ _id: 1n }, { useBigInt64: true });
      expect(found?.n).toBe(1n);
      await collection.replaceOne({ _id: 1n }, { n: found!.n + 1n, list: [found!.list[0]! + 1n] });
    },
  });
  expect(fieldRows(diff)).toEqual([
    [['n'], { $numberLong: '1' }, { $numberLong: '2' }],
    [['list', 0], { $numberLong: '1' }, { $numberLong: '2' }],
  ]);
});

it('BS-01, BS-05: ids of every number type that the server holds apart or equal are found, changed and taken back', async () => {
  const main = await yard.client('main');
  const ids = [new Double(-0), new Double(NaN), Long.fromString('9007199254740993'), Decimal128.fromString('0.1')];
  await insertExactly(
    main,
    'bs01.ids',
    ids.map((_id) => ({ _id, v: new Int32(1) })),
  );
  const before = await contents(main, 'bs01.ids');
  await yard.fork('ids', { ttlMs: null });
  const sandbox = (await yard.client('ids')).db('bs01').collection('ids');
  await sandbox.deleteMany({ _id: { $in: ids.slice(0, 2) } } as never);
  await sandbox.updateMany({}, { $inc: { v: new Int32(1) } });
  expect((await allChanges(yard, 'ids')).map(({ op }) => op)).toEqual(['delete', 'delete', 'update', 'update']);
  const { applied, entry } = await yard.call('plan.adopt', { branch: 'ids' });
  expect(applied).toBe(4);
  expect((await contents(main, 'bs01.ids')).size).toBe(2);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'bs01.ids')).toEqual(before);
});
