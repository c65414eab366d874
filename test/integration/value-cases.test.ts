import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Binary, Int32, Timestamp, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { fromBase64, toBase64, Type, valueOf } from '../../shared/bson/value.ts';
import { buildDocument, rawElement } from '../../shared/bson/walk.ts';
import { ejson, id, one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf, fieldRows, insertExactly, round } from '../harness/round.ts';

let yard: TestYard;
let main: MongoClient;
beforeAll(async () => {
  yard = await TestYard.open();
  main = await yard.client('main');
});
afterAll(() => yard.close());

const int = (value: number) => new Uint8Array([Type.Int32, value, 0, 0, 0]);

/** Imports documents given as lines of canonical Extended JSON into main. */
async function imported(ns: string, ...lines: string[]): Promise<void> {
  const [db, collection] = ns.split('.') as [string, string];
  const source = join(yard.data, `${ns}.json`);
  await writeFile(source, lines.join('\n'));
  const { problems } = await yard.call('transfer.import', { source, into: 'main', db, collection });
  expect(problems).toEqual([]);
}

const moments = [
  '-1',
  '0',
  '-14256000000',
  '253402300799999',
  '253402300800000',
  '-62135596800001',
  '8640000000000001',
  '9223372036854775807',
  '-9223372036854775808',
];

it('BS-07: dates before 1970, past the year 9999 and past what JavaScript has come in, change, are edited, adopted and undone to the millisecond', async () => {
  const date = (ms: string) => `{"$date":{"$numberLong":"${ms}"}}`;
  await imported('dates.docs', ...moments.map((ms, at) => `{"_id":${at},"at":${date(ms)},"list":[${date(ms)}]}`));
  const before = await contents(main, 'dates.docs');
  expect([...before.values()].map((text) => /"at":(\{.*?\}\})/.exec(text)?.[1])).toEqual(moments.map(date));
  await yard.fork('dates', { ttlMs: null });
  const sandbox = await yard.client('dates');
  // Each goes one millisecond on, in the server's own arithmetic where that has room; the ends change places.
  await sandbox
    .db('dates')
    .collection('docs')
    .updateMany(one({ $lt: 6 }), [{ $set: { at: { $add: ['$at', 1] } } }]);
  const diff = await yard.call('diff.get', { branch: 'dates' });
  expect(
    diff.documents.map(({ fields }) =>
      fields.map(({ path, base, branch }) =>
        [path, base, branch].map((each) => (typeof each === 'string' ? JSON.stringify(ejson(each)) : each)),
      ),
    ),
  ).toEqual(moments.slice(0, 6).map((ms) => [[['at'], date(ms), date(String(BigInt(ms) + 1n))]]));
  // Typed in by a person.
  const take = moments.slice(0, 6).map((_, at) => ({
    target: { ns: 'dates.docs', id: id(String(at)), path: ['at'] },
    take: { value: toBase64(parseEjson(date(moments[moments.length - 1 - at]!))) },
  }));
  const { entry } = await yard.call('plan.adopt', { branch: 'dates', take });
  const edited = [...(await contents(main, 'dates.docs')).values()].map((text) => /"at":(\{.*?\}\})/.exec(text)?.[1]);
  expect(edited.slice(0, 6)).toEqual(moments.slice(0, 6).map((_, at) => date(moments[moments.length - 1 - at]!)));
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'dates.docs')).toEqual(before);
});

it('BS-10: binaries keep their subtypes, the old UUID its order of bytes; another subtype alone is a change', async () => {
  const bytes = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
  const subtypes = [0, 1, 2, 3, 4, 5, 6, 8, 9, 128, 255];
  const binary = (subtype: number) => {
    const inner = subtype === 2 ? [16, 0, 0, 0, ...bytes] : [...bytes];
    return valueOf(Type.Binary, new Uint8Array([inner.length, 0, 0, 0, subtype, ...inner]));
  };
  const documents = [
    ...subtypes.map((subtype, at) =>
      buildDocument([rawElement('_id', int(at)), rawElement('b', binary(subtype)), rawElement('n', int(1))]),
    ),
    ...subtypes.map((subtype) => buildDocument([rawElement('_id', binary(subtype)), rawElement('n', int(1))])),
  ];
  const { diff } = await round(yard, {
    ns: 'binaries.docs',
    documents,
    edit: async (sandbox) => {
      const collection = sandbox.db('binaries').collection<Document>('docs');
      await collection.updateMany({}, { $set: { n: new Int32(2) } });
      await collection.updateOne(one(3), { $set: { b: new Binary(bytes, 4) } });
      await collection.deleteOne(one(new Binary(bytes, 3)));
    },
  });
  expect(diff.documents).toHaveLength(2 * subtypes.length);
  const hex = (value: string | undefined) => value && Buffer.from(fromBase64(value)).toString('hex');
  for (const [at, subtype] of subtypes.entries()) {
    const { fields } = documentOf(diff, { $numberInt: String(at) });
    const changed = fields.filter(({ path }) => path[0] === 'b').map(({ base, branch }) => [hex(base), hex(branch)]);
    const raw = (kind: number) => Buffer.from(binary(kind)).toString('hex');
    expect(changed).toEqual(subtype === 3 ? [[raw(3), raw(4)]] : []);
  }
  expect(fieldRows(diff, { $numberInt: '3' })[0]).toEqual([
    ['b'],
    { $binary: { base64: bytes.toString('base64'), subType: '03' } },
    { $binary: { base64: bytes.toString('base64'), subType: '04' } },
  ]);
});

it('BS-11: a zero timestamp stays zero, at the top and inside, through import, fork, delete, undo and adoption', async () => {
  const zero = '{"$timestamp":{"t":0,"i":0}}';
  await imported(
    'zero.docs',
    `{"_id":1,"t":${zero},"n":{"t":${zero}},"list":[${zero}]}`,
    `{"_id":{"t":${zero}},"a":1}`,
  );
  const before = await contents(main, 'zero.docs');
  expect([...before.values()].join().split(zero)).toHaveLength(5);
  await yard.fork('zero', { ttlMs: null });
  const sandbox = await yard.client('zero');
  expect(await contents(sandbox, 'zero.docs')).toEqual(before);
  await sandbox.db('zero').collection('docs').deleteMany({});
  // Taken back in the sandbox itself.
  const back = await yard.call('changes.undo', { branch: 'zero', what: { from: 1, to: 2 } });
  await yard.call('plan.apply', { plan: back.plan });
  expect(await contents(sandbox, 'zero.docs')).toEqual(before);
  expect((await yard.call('diff.get', { branch: 'zero' })).documents).toEqual([]);
  // And deleted in main by an adoption, that brought back.
  await sandbox.db('zero').collection('docs').deleteMany({});
  const { entry } = await yard.call('plan.adopt', { branch: 'zero' });
  expect((await contents(main, 'zero.docs')).size).toBe(0);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, 'zero.docs')).toEqual(before);
  // One that the sandbox writes is adopted as it is; a conflict can be decided for it.
  await yard.fork('zero-again', { ttlMs: null });
  const again = await yard.client('zero-again');
  const collection = again.db('zero').collection<Document>('docs');
  await insertExactly(again, 'zero.docs', [{ _id: 2, n: { t: new Timestamp({ t: 0, i: 0 }) } }]);
  await collection.updateOne(one(2), [{ $set: { t: new Timestamp({ t: 0, i: 0 }) } }]);
  await collection.updateOne(one(1), { $set: { other: new Int32(1) } });
  const wanted = await contents(again, 'zero.docs');
  const adopted = await yard.call('plan.adopt', { branch: 'zero-again' });
  expect(await contents(main, 'zero.docs')).toEqual(wanted);
  await yard.call('log.undo', { entry: adopted.entry! });
  expect(await contents(main, 'zero.docs')).toEqual(before);
});
