import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Binary,
  BSON,
  Decimal128,
  Double,
  Int32,
  Long,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  type Collection,
  type Document,
} from 'mongodb';
import { ejson } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { completeDiff } from '../harness/settled.ts';

/** Every document of a database as canonical Extended JSON, by collection and by `_id`. */
type State = Map<string, Map<string, Record<string, unknown>>>;

const oddIds: unknown[] = [
  new Double(3.5),
  Long.fromString('9007199254740993'),
  Decimal128.fromString('4.2'),
  '',
  'a',
  'x'.repeat(100),
  new ObjectId('0123456789abcdef01234567'),
  new Date(-1),
  new Binary(Buffer.from([1, 2])),
  new UUID('00112233-4455-6677-8899-aabbccddeeff'),
  null,
  true,
  new MinKey(),
  new Timestamp({ t: 1, i: 2 }),
  { a: new Int32(1), b: [new Int32(1)] },
  { b: [new Int32(1)], a: new Int32(1) },
];
const ids: unknown[] = [...oddIds, ...Array.from({ length: 44 }, (_, n) => new Int32(n + 100))];

let yard: TestYard;
/** What main was when `left` and `right` left it, and `left` when `leaf` did. */
let atLeft: State, atRight: State, atLeaf: State;

async function collection(branch: string, name: string): Promise<Collection<Document>> {
  return (await yard.client(branch)).db('d').collection(name);
}

async function read(branch: string): Promise<State> {
  const db = (await yard.client(branch)).db('d');
  const state: State = new Map();
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    const documents = await db.collection(name).find({}, { promoteValues: false }).toArray();
    const told = documents.map((each) => JSON.parse(BSON.EJSON.stringify(each, { relaxed: false })) as Document);
    state.set(name, new Map(told.map((each) => [JSON.stringify(each['_id']), each])));
  }
  return state;
}

/** Edits that differ with the seed, and often meet those of another one. */
async function edit(branch: string, name: string, seed: number): Promise<void> {
  const target = await collection(branch, name);
  let state = seed;
  const roll = (sides: number) => (state = (state * 48_271) % 2_147_483_647) % sides;
  for (const _id of ids) {
    const filter = { _id: { $eq: _id } } as never;
    const kind = roll(8);
    if (kind === 0) await target.updateOne(filter, { $set: { v: new Int32(roll(2) + 1) } });
    else if (kind === 1) await target.updateOne(filter, { $set: { w: new Int32(roll(2) + 1) } });
    else if (kind === 2) await target.updateOne(filter, { $set: { v: new Double(0) } });
    else if (kind === 3) await target.deleteOne(filter);
    else if (kind === 4) await target.replaceOne(filter, { v: new Int32(roll(2)), w: new Int32(5) }, { upsert: true });
  }
  for (let n = 0; n < 3; n += 1) {
    const _id = `new-${roll(6)}` as never;
    await target.updateOne({ _id }, { $set: { v: new Int32(roll(2)) } }, { upsert: true });
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** What a review must list, found by comparing everything that the three databases hold. */
function expected(base: State, branch: State, other: State): string[] {
  const lines: string[] = [];
  for (const [name, mine] of branch) {
    const [before, theirs] = [base.get(name), other.get(name)];
    for (const id of new Set([...mine.keys(), ...(before?.keys() ?? [])])) {
      const [a, b, c] = [before?.get(id), mine.get(id), theirs?.get(id)];
      if (same(a, b) || same(b, c)) continue;
      const fields = a && b && c ? ['v', 'w'] : [undefined];
      const of = (document: Record<string, unknown> | undefined, field: string | undefined) =>
        field === undefined ? document : document?.[field];
      const changed = fields.filter((field) => !same(of(a, field), of(b, field)));
      const open = changed.filter((field) => !same(of(b, field), of(c, field)));
      if (open.length === 0) continue;
      const conflict = open.some((field) => !same(of(a, field), of(c, field)));
      lines.push(`d.${name} ${id} ${!a ? 'added' : !b ? 'removed' : 'modified'}${conflict ? ' conflict' : ''}`);
    }
  }
  return lines.sort();
}

async function against(branch: string, other: string) {
  const diff = await completeDiff(yard, { branch, against: other });
  expect(diff).toMatchObject({ branch, parent: other, complete: true, gaps: [] });
  const lines = diff.documents.map(
    ({ ns, id, kind, conflict }) => `${ns} ${JSON.stringify(ejson(id))} ${kind}${conflict ? ' conflict' : ''}`,
  );
  return { ...diff, lines: lines.sort() };
}

beforeAll(async () => {
  yard = await TestYard.open();
  for (const name of ['things', 'spare', 'renewed']) {
    const documents = ids.map((_id) => ({ _id, v: new Int32(0), w: new Int32(0) }));
    await (await collection('main', name)).insertMany(documents as never);
  }
  atLeft = await read('main');
  await yard.fork('left');
  await edit('main', 'things', 11);
  await edit('main', 'renewed', 12);
  atRight = await read('main');
  await yard.fork('right');
  await edit('main', 'things', 13);
  await edit('left', 'things', 21);
  await edit('left', 'spare', 22);
  await edit('right', 'things', 31);
  atLeaf = await read('left');
  await yard.fork('leaf', { from: 'left' });
  await edit('left', 'things', 23);
  await edit('leaf', 'things', 41);
  await (await collection('leaf', 'made')).insertOne({ _id: 'one' as never, v: new Int32(1) });
  await (await collection('left', 'spare')).createIndex({ v: 1 }, { name: 'by_v' });
  await (await collection('right', 'spare')).drop();
  await (await collection('leaf', 'renewed')).drop();
  await edit('leaf', 'renewed', 42);
});
afterAll(() => yard.close());

describe('a branch against any other of its family', () => {
  it.each([
    ['left', 'right', () => atLeft],
    ['right', 'left', () => atLeft],
    ['leaf', 'main', () => atLeft],
    ['main', 'leaf', () => atLeft],
    ['leaf', 'right', () => atLeft],
    ['right', 'leaf', () => atLeft],
    ['main', 'right', () => atRight],
    ['left', 'leaf', () => atLeaf],
    ['right', 'main', () => atRight],
  ])('%s against %s is what a comparison of everything finds', async (branch, other, base) => {
    const [mine, theirs, { lines, summary }] = [await read(branch), await read(other), await against(branch, other)];
    const wanted = expected(base(), mine, theirs);
    expect(lines).toEqual(wanted);
    // Neither nothing but conflicts, nor none at all.
    const conflicts = wanted.filter((line) => line.endsWith('conflict')).length;
    expect(conflicts).toBeGreaterThan(0);
    expect(conflicts).toBeLessThan(wanted.length);
    expect(summary.reduce((sum, each) => sum + each.conflicts, 0)).toBe(conflicts);
  });

  it('pages, and is cut down to one collection', async () => {
    const whole = await against('right', 'leaf');
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await completeDiff(yard, {
        branch: 'right',
        against: 'leaf',
        limit: 7,
        listing: true,
        ...(after === undefined ? {} : { after }),
      });
      found.push(...page.documents.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(found).toEqual(whole.documents.map(({ id }) => id));
    const one = await completeDiff(yard, { branch: 'right', against: 'leaf', only: [{ ns: 'd.renewed' }] });
    expect(one.summary).toEqual(whole.summary.filter(({ ns }) => ns === 'd.renewed'));
  });

  it('compares the schema with what both had: a drop against edits is a conflict that names them', async () => {
    const { schema } = await against('right', 'left');
    const [then, now] = [atLeft.get('spare')!, (await read('left')).get('spare')!];
    const wanted = [...new Set([...then.keys(), ...now.keys()])].filter((id) => !same(then.get(id), now.get(id)));
    expect(schema).toMatchObject([{ type: 'collection', kind: 'removed', ns: 'd.spare', conflict: true }]);
    expect(schema[0]!.edited!.map((id) => JSON.stringify(ejson(id))).sort()).toEqual(wanted.sort());
    const added = await against('leaf', 'right');
    expect(added.schema).toMatchObject([{ type: 'collection', kind: 'added', ns: 'd.made', documents: 1 }]);
    const index = await against('left', 'leaf');
    expect(index.schema).toMatchObject([
      { type: 'index', kind: 'added', ns: 'd.spare', name: 'by_v', conflict: false },
    ]);
  });

  it('needs no branch in between to run', async () => {
    const before = await against('leaf', 'main');
    await yard.call('branches.sleep', { branch: 'left' });
    expect((await against('leaf', 'main')).lines).toEqual(before.lines);
    expect((await yard.refusal('diff.get', { branch: 'leaf', against: 'left' })).code).toBe('branch_not_live');
  });

  it('measurements of a branch in between are told by its buckets', async () => {
    await yard.fork('middle');
    const db = (await yard.client('middle')).db('d');
    await db.createCollection('measured', { timeseries: { timeField: 'at' } });
    await db.collection('measured').insertOne({ at: new Date() });
    await yard.fork('tip', { from: 'middle' });
    const { complete, gaps, summary } = await completeDiff(yard, { branch: 'tip', against: 'main' });
    expect({ complete, gaps }).toEqual({ complete: true, gaps: [] });
    expect(summary).toMatchObject([{ ns: 'd.measured', added: 1, modified: 0, removed: 0 }]);
  });

  it('says in one sentence what cannot be compared', async () => {
    await yard.fork('blank', { empty: true });
    const refusals = await Promise.all(
      [
        { branch: 'right', against: 'right' },
        { branch: 'right', against: 'blank' },
      ].map((input) => yard.refusal('diff.get', input)),
    );
    expect(refusals.map(({ code, message }) => [code, message])).toEqual([
      ['usage', 'right cannot be compared with itself.'],
      ['usage', 'right and blank cannot be compared: blank began empty, so they share nothing.'],
    ]);
    expect((await yard.refusal('diff.get', { branch: 'right', against: 'nobody' })).code).toBe('unknown_branch');
  });
});
