import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KillableYard } from '../harness/killable.ts';
import { loseLog, positionOfWrite } from '../harness/lost-log.ts';
import { until } from '../harness/until.ts';

let yard: KillableYard;
beforeAll(async () => {
  yard = await KillableYard.open();
});
afterAll(() => yard.close());

/**
 * Kills the engine as if behind the transaction of this plan, has main's change log roll over, and starts an engine again.
 * Unless `isInHistory`, main's history does not hold what was committed.
 */
async function cutOff(plan: string, position: Uint8Array, isInHistory: boolean): Promise<void> {
  await yard.kill();
  await loseLog(yard.data, position, 'main', async (home, startSeq) => {
    const transactions = [{ id: 'of a session that the history does not know:1', from: 0, to: 100 }];
    const cut = { state: 'applying', schemaAt: 0, ...(isInHistory ? {} : { startSeq, transactions }) };
    await home.db('forkyard').collection<{ _id: string }>('plans').updateOne({ _id: plan }, { $set: cut });
    await home.db('forkyard').collection<Document>('log').deleteMany({ plan });
  });
  await yard.start();
}

it.each<[string, { name: string; isWritten: boolean; kind: string; isInHistory?: boolean }]>([
  ['by the documents: all of it was written', { name: 'all', isWritten: true, kind: 'adopt' }],
  ['by the documents: nothing of it was written', { name: 'none', isWritten: false, kind: 'recover' }],
  [
    'by the history where that holds it, whatever others wrote since',
    { name: 'told', isWritten: true, kind: 'adopt', isInHistory: true },
  ],
])(
  'a plan cut off before the change log of main was lost is settled %s',
  async (_, { name, isWritten, kind, isInHistory = false }) => {
    const main = (await yard.client('main')).db(name).collection<Document>('c');
    await main.insertMany([1, 2, 3].map((n) => ({ _id: n as never, v: 0 })));
    await yard.call('branches.fork', { name, ttlMs: null });
    const sandbox = (await yard.client(name)).db(name).collection<Document>('c');
    await sandbox.updateMany({}, { $set: { v: 1 } });
    await sandbox.deleteOne({ _id: 3 as never });
    const { plan } = await yard.call('plan.create', { branch: name });
    if (isWritten) await yard.call('plan.apply', { plan });

    const position = await positionOfWrite((await yard.call('branches.uri', { branch: name })).uri);
    // Main goes on later than that position, which it never had; within one second servers count on their own.
    const second = () => Math.floor(Date.now() / 1_000);
    const at = second();
    await until('the next second', () => second() > at);
    await main.insertOne({ _id: 4 as never });
    if (isInHistory) {
      await main.updateMany({}, { $set: { v: 9 } });
      await main.insertOne({ _id: 3 as never, v: 9 });
    }
    const before = await main.find().toArray();
    await cutOff(plan, position, isInHistory);

    expect(await main.find().toArray()).toEqual(before);
    const said = (await yard.call('log.list', {})).filter((entry) => entry.branch === name && entry.kind === kind);
    expect(said).toHaveLength(1);
    const left = (await yard.call('diff.get', { branch: name })).summary.filter(({ ns }) => ns === `${name}.c`);
    expect(left).toEqual(isWritten ? [] : [{ ns: `${name}.c`, added: 0, modified: 2, removed: 1, conflicts: 0 }]);
    // Nothing of it is in the way of the next.
    if (!isWritten) expect((await yard.call('plan.apply', { plan })).applied).toBe(3);
  },
);

it('a branch whose change log was lost while it slept has one gap in its history', async () => {
  const { branch } = await yard.call('branches.fork', { name: 'slept', ttlMs: null });
  await yard.call('branches.sleep', { branch: 'slept' });
  const position = await positionOfWrite((await yard.call('branches.uri', { branch: 'main' })).uri);
  await loseLog(yard.data, position, branch.id);
  await yard.call('branches.wake', { branch: 'slept' });
  const items = (await yard.client('slept')).db('slept').collection<Document>('items');
  await items.insertOne({ n: 1 });
  await until('what is written is in the history again', async () => {
    const { changes } = await yard.call('changes.page', { branch: 'slept', settle: true });
    return changes.some(({ op }) => op === 'insert');
  });
  const { changes } = await yard.call('changes.page', { branch: 'slept' });
  expect(changes.filter(({ op }) => op === 'gap')).toHaveLength(1);
});
