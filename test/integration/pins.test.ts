import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Double, Int32, Long, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { serversIn } from '../harness/killable.ts';
import { contents, insertExactly } from '../harness/round.ts';

let yard: TestYard;
let main: MongoClient;
beforeAll(async () => {
  yard = await TestYard.open();
  main = await yard.client('main');
  await insertExactly(main, 'kit.parts', [
    { _id: 1, n: new Int32(1) },
    { _id: 2, n: new Double(1) },
  ]);
  await main.db('kit').collection('parts').createIndex({ n: 1 });
  await main.db('kit').createCollection('few', { viewOn: 'parts', pipeline: [] });
});
afterAll(() => yard.close());

const hashOf = async (branch: string) => (await yard.call('branches.hash', { branch })).hash;
const parts = (client: MongoClient) => client.db('kit').collection('parts');

/** Every file below a folder with its bytes' hash. */
async function files(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const each of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!each.isFile()) continue;
    const path = join(each.parentPath, each.name);
    found.set(
      path,
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    );
  }
  return found;
}

it('two forks of a pin are equal at the start, to it and to each other, whatever happened to main and to the first', async () => {
  const before = await contents(main, 'kit.parts');
  const known = new Set(await readdir(join(yard.data, 'branches')));
  const pin = await yard.call('pins.create', { branch: 'main', name: 'v1' });
  expect(pin).toMatchObject({ name: 'v1', branch: 'main', collections: [{ ns: 'kit.parts', documents: 2 }] });
  expect(pin.hash).toBe(await hashOf('main'));
  // Its files alone, and no server on them.
  const made = (await readdir(join(yard.data, 'branches'))).filter((name) => !known.has(name));
  expect(made).toHaveLength(1);
  const folder = join(yard.data, 'branches', made[0]!);
  expect(await serversIn(folder)).toEqual(new Map());
  const frozen = await files(folder);
  await parts(main).updateOne(one(1), { $set: { n: new Int32(9) } });
  await yard.fork('first', { from: 'v1', ttlMs: null });
  expect(await hashOf('first')).toBe(pin.hash);
  await parts(await yard.client('first')).deleteOne(one(2));
  expect(await hashOf('first')).not.toBe(pin.hash);
  await yard.fork('second', { from: 'v1', ttlMs: null });
  expect(await hashOf('second')).toBe(pin.hash);
  expect(await contents(await yard.client('second'), 'kit.parts')).toEqual(before);
  expect(await files(folder)).toEqual(frozen);
  expect((await yard.call('pins.list', {})).map(({ name, hash }) => [name, hash])).toEqual([['v1', pin.hash]]);
  expect((await yard.call('branches.list', { all: true })).map(({ name }) => name)).toEqual([
    'main',
    'first',
    'second',
  ]);
});

it('the fork of a pin is compared with the branch that the pin is of, from the moment of the pin', async () => {
  const sandbox = parts(await yard.client('second'));
  expect((await yard.call('diff.get', { branch: 'second' })).summary).toEqual([]);
  expect((await yard.call('branches.list', {})).find(({ name }) => name === 'second')).toMatchObject({
    parent: 'main',
    ahead: 0,
    behind: 1,
  });
  await sandbox.updateOne(one(1), { $set: { n: new Int32(5) } });
  const diff = await yard.call('diff.get', { branch: 'second' });
  expect(diff).toMatchObject({ complete: true, parent: 'main', summary: [{ modified: 1, conflicts: 1 }] });
});

it.each([
  [
    'a number’s type alone',
    (client: MongoClient) => parts(client).updateOne(one(1), { $set: { n: Long.fromNumber(1) } }),
  ],
  ['an index', (client: MongoClient) => parts(client).createIndex({ other: 1 })],
  [
    'a view',
    (client: MongoClient) => client.db('kit').command({ collMod: 'few', viewOn: 'parts', pipeline: [{ $limit: 1 }] }),
  ],
  [
    'a validator',
    (client: MongoClient) => client.db('kit').command({ collMod: 'parts', validator: { n: { $gt: 0 } } }),
  ],
  ['an empty collection', (client: MongoClient) => client.db('kit').createCollection('more')],
])('the hash tells %s', async (_what, change) => {
  const before = await hashOf('first');
  await change(await yard.client('first'));
  expect(await hashOf('first')).not.toBe(before);
});

it('a pin outlives the branch that it is of, and forks from it go on', async () => {
  await yard.fork('source', { ttlMs: null });
  await parts(await yard.client('source')).insertOne({ _id: 7 as never });
  await yard.call('branches.sleep', { branch: 'source' });
  const { hash } = await yard.call('pins.create', { branch: 'source', name: 'kept' });
  await yard.call('branches.discard', { branch: 'source', now: true });
  await yard.restart();
  main = await yard.client('main');
  await yard.fork('late', { from: 'kept', ttlMs: null });
  expect(await hashOf('late')).toBe(hash);
});

it('a taken name, an unknown pin and a pin used as a branch are refused', async () => {
  expect((await yard.refusal('pins.create', { branch: 'main', name: 'v1' })).code).toBe('name_taken');
  expect((await yard.refusal('pins.create', { branch: 'main', name: 'first' })).code).toBe('name_taken');
  expect(await yard.refusal('branches.fork', { name: 'v1' })).toMatchObject({
    code: 'name_taken',
    message: 'There is a pin "v1" already.',
    hint: 'Choose another name, or remove it first with "forkyard unpin v1".',
  });
  expect((await yard.refusal('pins.create', { branch: 'nobody', name: 'v2' })).code).toBe('unknown_branch');
  expect((await yard.refusal('pins.remove', { pin: 'v9' })).code).toBe('unknown_pin');
  for (const method of ['branches.discard', 'branches.wake', 'branches.uri', 'branches.reset'] as const) {
    expect((await yard.refusal(method, { branch: 'v1' })).code).toBe('unknown_branch');
  }
  await yard.call('pins.remove', { pin: 'v1' });
  expect((await yard.refusal('branches.fork', { name: 'third', from: 'v1' })).code).toBe('unknown_branch');
  expect(await hashOf('second')).toBeTruthy();
});
