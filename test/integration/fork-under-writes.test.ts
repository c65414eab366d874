import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Int32, type Document, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ForkGate } from '../../electron/engine/branches/fork-gate.ts';
import { field } from '../../shared/bson/walk.ts';
import { keyText } from '../../shared/bson/key.ts';
import { documentBytes, fromBase64, toBase64 } from '../../shared/bson/value.ts';
import { rawFindAll } from '../../electron/engine/mongod/raw.ts';
import { ejson } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { allChanges } from '../harness/settled.ts';
import { until } from '../harness/until.ts';

const accounts = 50;
const total = 2 * accounts * 100;
const collections = ['checking', 'savings'] as const;
const forks = 20;

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  const main = await yard.client('main');
  const rows = () => Array.from({ length: accounts }, (_, _id) => ({ _id: _id as never, amount: new Int32(100) }));
  for (const name of collections) await main.db('bank').collection(name).insertMany(rows());
});
afterAll(() => yard.close());

/** Moves amounts between two collections, each in a transaction, until told to stop. */
function transferLoop(client: MongoClient) {
  let stopped = false;
  let transfers = 0;
  const bank = client.db('bank');
  const run = async () => {
    while (!stopped) {
      const [from, to] = transfers % 2 === 0 ? collections : [collections[1], collections[0]];
      const amount = new Int32((transfers % 7) + 1);
      const session = client.startSession();
      await session.withTransaction(async () => {
        const options = { session };
        const [source, target] = [(transfers * 7) % accounts, (transfers * 11) % accounts];
        await bank
          .collection(from)
          .updateOne({ _id: source as never }, { $inc: { amount: new Int32(-amount.value) } }, options);
        await bank.collection(to).updateOne({ _id: target as never }, { $inc: { amount } }, options);
      });
      await session.endSession();
      transfers += 1;
    }
  };
  const running = run();
  return {
    get count() {
      return transfers;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

async function sumOf(client: MongoClient): Promise<number> {
  const rows = await Promise.all(
    collections.map((name) => client.db('bank').collection<{ amount: number }>(name).find().toArray()),
  );
  return rows.flat().reduce((sum, { amount }) => sum + amount, 0);
}

/** Documents as base64, by `collection/key`. */
async function holdings(client: MongoClient): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const collection of collections) {
    for (const bytes of await rawFindAll(client.db('bank'), { collection, filter: {} })) {
      all.set(`bank.${collection}/${keyText(field(bytes, '_id')!)}`, toBase64(bytes));
    }
  }
  return all;
}

it('MG-20: 20 forks under a loop of transfers each hold the right total, and their capture starts exactly where the copy ends', async () => {
  const main = await yard.client('main');
  const loop = transferLoop(main);
  const copies = new Map<string, { seq: number | undefined; held: Map<string, string> }>();
  let before = 0;
  try {
    for (let turn = 0; turn < forks; turn += 1) {
      const name = `copy-${turn}`;
      await yard.fork(name, { ttlMs: null });
      const sandbox = await yard.client(name);
      expect(await sumOf(sandbox)).toBe(total);
      const held = await holdings(sandbox);

      // Nothing of the parent's came along as a change, and the first own write is the first entry.
      const checking = sandbox.db('bank').collection<Document>('checking');
      await checking.updateOne({ _id: 0 as never }, { $set: { mark: turn } });
      const [change, ...more] = await allChanges(yard, name);
      expect(more).toEqual([]);
      expect(change).toMatchObject({ seq: 1, op: 'update', ns: 'bank.checking' });
      const key = [...held.keys()].find((each) => each.startsWith('bank.checking/') && isZero(each));
      expect(toBase64(documentBytes(fromBase64(change!.before!)))).toBe(held.get(key!));
      const row = (await yard.call('branches.list', {})).find((each) => each.name === name);
      copies.set(name, { seq: row?.forkPoint?.seq, held });
      await yard.call('branches.discard', { branch: name, now: true });
      await until('a transfer', () => loop.count > before);
      before = loop.count;
    }
  } finally {
    await loop.stop();
  }

  // Main's own history up to each fork point gives what that fork held: no write is on the wrong side of it.
  const history = await allChanges(yard, 'main');
  const state = new Map<string, string>();
  let at = 0;
  for (const { seq, held } of copies.values()) {
    expect(seq).toBeTypeOf('number');
    for (; at < history.length && history[at]!.seq <= seq!; at += 1) {
      const { ns, id, after } = history[at]!;
      if (id !== undefined && after !== undefined)
        state.set(`${ns}/${keyText(fromBase64(id))}`, toBase64(documentBytes(fromBase64(after))));
    }
    expect(state).toEqual(held);
  }
  expect(await sumOf(main)).toBe(total);
});

const zero = keyText(new Uint8Array([0x10, 0, 0, 0, 0]));
const isZero = (each: string) => each.endsWith(`/${zero}`);

it('MG-20: several forks at once under the same loop share one lock and one moment, and hold the same bytes', async () => {
  const main = await yard.client('main');
  const loop = transferLoop(main);
  const names = ['at-once-1', 'at-once-2', 'at-once-3', 'at-once-4'];
  // How long each takes to come to the gate is the machine's affair: they are let in together.
  const atGate: (() => void)[] = [];
  const { clone } = ForkGate.prototype;
  const asked = vi.spyOn(ForkGate.prototype, 'clone').mockImplementation(async function (this: ForkGate, ...given) {
    await new Promise<void>((resolve) => {
      atGate.push(resolve);
      if (atGate.length === names.length) for (const enter of atGate) enter();
    });
    return clone.apply(this, given);
  });
  try {
    const before = await locks();
    const answers = await Promise.all(names.map((name) => yard.fork(name, { ttlMs: null })));
    expect((await locks()) - before).toBe(1);
    expect(new Set(answers.map(({ branch }) => JSON.stringify(branch.forkPoint?.clusterTime))).size).toBe(1);
    const [first, ...others] = await Promise.all(names.map(async (name) => holdings(await yard.client(name))));
    for (const held of others) expect(held).toEqual(first);
    for (const name of names) expect(await sumOf(await yard.client(name))).toBe(total);
  } finally {
    asked.mockRestore();
    await loop.stop();
  }
  for (const name of names) {
    expect(await allChanges(yard, name)).toEqual([]);
    await yard.call('branches.discard', { branch: name, now: true });
  }
});

/** How often main was locked so far. */
const locks = async () =>
  (await readFile(join(yard.data, 'branches', 'main', 'mongod.log'), 'utf8')).split('"attr":{"lock":true}').length;

it('MG-20: transactions that follow each other without a moment in between do not keep a fork from being made', async () => {
  const main = await yard.client('main');
  const loops = Array.from({ length: 6 }, () => transferLoop(main));
  try {
    const { branch } = await yard.fork('no-moment', { ttlMs: null });
    expect(branch.state).toBe('live');
    expect(await sumOf(await yard.client('no-moment'))).toBe(total);
  } finally {
    for (const loop of loops) await loop.stop();
  }
  expect(await sumOf(main)).toBe(total);
  await yard.call('branches.discard', { branch: 'no-moment', now: true });
});

it('a write right after the fork’s answer is never lost, however soon it comes', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    const name = `soon-${turn}`;
    await yard.fork(name, { ttlMs: null });
    const client = await yard.client(name, undefined, { w: 1 });
    await client.db('soon').collection<{ _id: number }>('first').insertOne({ _id: turn });
    const inserts = (await allChanges(yard, name)).filter(({ op }) => op === 'insert');
    expect(inserts.map(({ id }) => ejson(id))).toEqual([{ $numberInt: String(turn) }]);
    expect((await yard.call('diff.get', { branch: name })).summary).toEqual([
      { ns: 'soon.first', added: 1, modified: 0, removed: 0, conflicts: 0 },
    ]);
    await yard.call('branches.discard', { branch: name, now: true });
  }
});
