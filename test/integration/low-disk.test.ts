import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Binary, Int32 } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freeBytes } from '../../electron/engine/mongod/disk-space.ts';
import { one } from '../harness/bson.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';
import { collectionSides } from '../harness/sides.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

/** More is to be left free than there is: what the engine does then is what it does on a disk that is nearly full. */
async function shortDisk(): Promise<void> {
  const freeMB = Math.ceil((await freeBytes(yard.data)) / 1024 / 1024);
  await yard.call('settings.set', { diskReserveMB: freeMB + 100_000 });
}
const roomyDisk = () => yard.call('settings.set', { diskReserveMB: 64 });
const rowOf = async (name: string) => (await yard.call('branches.list', {})).find((row) => row.name === name)!;
const numbers = (what: string) =>
  new RegExp(`^There is not enough disk space for ${what}: it needs [\\d,.]+ MB, and [\\d,.]+ MB are free\\.`);

it('CS-22: on a disk that is nearly full recording waits and says so, nothing is lost, and it goes on when there is room', async () => {
  const { ns, sandbox } = await collectionSides(yard, 'low.paused', [{ _id: 1, n: new Int32(0) }]);
  await sandbox.updateOne(one(1), { $inc: { n: 1 } });
  expect(await allChanges(yard, 'paused')).toHaveLength(1);
  await yard.fork('thrown', { ttlMs: null });
  await yard.call('branches.discard', { branch: 'thrown' });
  expect((await yard.call('engine.status', {})).disk.trash).toBeGreaterThan(0);

  await shortDisk();
  // What can go goes first.
  expect((await yard.call('engine.status', {})).disk).toMatchObject({ short: true, trash: 0 });
  for (let n = 0; n < 20; n += 1) await sandbox.updateOne(one(1), { $inc: { n: 1 } });
  await vi.waitFor(async () => {
    const row = await rowOf('paused');
    expect(row.note).toBe('The disk is nearly full, so recording what happens in paused waits until there is room.');
    expect(row.lagMs).toBeGreaterThan(0);
  });
  const diff = await yard.call('diff.get', { branch: 'paused' });
  expect(diff.complete).toBe(false);
  expect(diff.gaps.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('recording what happens in paused waits until there is room'),
  ]);
  expect(await yard.call('changes.page', { branch: 'paused', settle: true })).toMatchObject({
    complete: false,
    last: 1,
  });
  expect(await yard.refusal('plan.create', { branch: 'paused' })).toMatchObject({ code: 'no_space', retry: true });
  expect(await yard.refusal('restore.plan', { branch: 'paused', to: { seq: 0 } })).toMatchObject({ code: 'no_space' });

  await roomyDisk();
  expect(await allChanges(yard, 'paused')).toHaveLength(21);
  expect((await rowOf('paused')).note).toBeUndefined();
  expect((await yard.call('engine.status', {})).disk.short).toBeUndefined();
  expect(await yard.call('diff.get', { branch: 'paused' })).toMatchObject({
    complete: true,
    gaps: [],
    summary: [{ ns, modified: 1 }],
  });
}, 60_000);

it('a sandbox that is just being discarded goes at once where the disk needs its room', async () => {
  await yard.fork('hurried', { ttlMs: null });
  let short: Promise<void> | undefined;
  const stopListening = yard.onEvent((event) => {
    // Said, and its server not stopped yet.
    if (event.type === 'log' && event.entry.kind === 'discard') short ??= shortDisk();
  });
  await yard.call('branches.discard', { branch: 'hurried' });
  stopListening();
  await short;
  expect(short).toBeDefined();
  const log = await yard.call('log.list', {});
  expect(log.filter(({ branch }) => branch === 'hurried').map(({ kind }) => kind)).toEqual(['fork', 'discard', 'gone']);
  expect((await yard.call('engine.status', {})).disk).toMatchObject({ short: true, trash: 0 });
  await roomyDisk();
});

it('forking, importing, adopting, undoing, restoring and resetting are refused up front on such a disk, with both numbers, and nothing is half done', async () => {
  const { ns, client, main, sandbox } = await collectionSides(yard, 'low.refused', [{ _id: 1, n: new Int32(0) }]);
  await sandbox.updateOne(one(1), { $inc: { n: 1 } });
  const first = await yard.call('plan.adopt', { branch: 'refused' });
  await sandbox.updateOne(one(1), { $inc: { n: 1 } });
  const { plan } = await yard.call('plan.create', { branch: 'refused' });
  const { plan: back } = await yard.call('restore.plan', { branch: 'refused', to: { seq: 0 } });
  const file = join(yard.data, 'three.ndjson');
  await writeFile(file, '{"_id": 1}\n{"_id": 2}\n');
  const before = await contents(client, ns);
  const branches = (await yard.call('branches.list', {})).map(({ name }) => name);

  await shortDisk();
  const refused = {
    'this adoption': await yard.refusal('plan.apply', { plan }),
    'this undo': await yard.refusal('log.undo', { entry: first.entry! }),
    'this restore': await yard.refusal('plan.apply', { plan: back }),
    'this fork': await yard.refusal('branches.fork', { name: 'more' }),
    'this import': await yard.refusal('transfer.import', {
      into: 'refused',
      source: file,
      db: 'low',
      collection: 'imported',
    }),
  };
  for (const [what, { code, message, details }] of Object.entries(refused)) {
    expect([what, code, message]).toEqual([what, 'no_space', expect.stringMatching(numbers(what))]);
    expect(details).toEqual({ neededBytes: expect.any(Number), freeBytes: expect.any(Number) });
  }
  expect((await yard.refusal('branches.reset', { branch: 'refused' })).code).toBe('no_space');
  expect(await contents(client, ns)).toEqual(before);
  expect((await yard.call('branches.list', {})).map(({ name }) => name)).toEqual(branches);

  await roomyDisk();
  expect((await yard.call('plan.apply', { plan })).applied).toBe(1);
  expect(await main.findOne()).toEqual({ _id: 1, n: 2 });
  expect(await (await yard.client('refused')).db('low').collection('imported').countDocuments()).toBe(0);
}, 60_000);

it('an adoption in pieces that the disk gets short under is taken back whole, and can be applied when there is room', async () => {
  const { ns, client, main, sandbox } = await collectionSides(yard, 'low.pieces', [{ _id: 0 }]);
  for (let n = 1; n <= 40; n += 1) await sandbox.insertOne({ ...one(n), blob: new Binary(Buffer.alloc(1_000_000, n)) });
  const { plan, items } = await yard.call('plan.create', { branch: 'pieces' });
  expect(items).toBe(40);
  const before = await contents(client, ns);
  let shortened: Promise<void> | undefined;
  const stopListening = yard.onEvent((event) => {
    if (event.type === 'progress' && event.job === 'pieces') shortened ??= shortDisk();
  });
  const refused = await yard.refusal('plan.apply', { plan, job: 'pieces' });
  stopListening();
  await shortened;
  expect(shortened).toBeDefined();
  expect([refused.code, refused.message]).toEqual(['no_space', expect.stringMatching(numbers('this adoption'))]);
  await roomyDisk();
  expect(await contents(client, ns)).toEqual(before);
  expect((await yard.call('plan.apply', { plan })).applied).toBe(40);
  expect(await main.countDocuments()).toBe(41);
}, 120_000);
