import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Binary } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { filesUnder } from '../../electron/engine/mongod/files.ts';
import { one } from '../harness/bson.ts';
import { engineClient } from '../harness/engine-client.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, insertExactly } from '../harness/round.ts';
import { allChanges } from '../harness/settled.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

const writes = 60;
const megabyte = () => new Binary(randomBytes(1_000_000));

async function bytesOn(...folders: string[]): Promise<number> {
  const files = await Promise.all(folders.map((folder) => filesUnder(join(yard.data, folder))));
  return files.flat().reduce((sum, { bytes }) => sum + bytes, 0);
}

it('CS-22: the server’s own images end after an hour, what they and the history take is counted, and the history needs them no more', async () => {
  const main = await yard.client('main');
  await insertExactly(main, 'images.docs', [{ _id: 1, blob: megabyte() }]);
  const first = await contents(main, 'images.docs');
  const { branch } = await yard.fork('images', { ttlMs: null });
  const { used: before } = (await yard.call('engine.status', {})).disk;
  const docs = (await yard.client('images')).db('images').collection('docs');
  for (let n = 0; n < writes; n += 1) await docs.updateOne(one(1), { $set: { blob: megabyte() } });
  expect(await allChanges(yard, 'images')).toHaveLength(writes);

  const engine = await engineClient(yard, 'images');
  try {
    const parameter = await engine.db('admin').command({ getClusterParameter: 'changeStreamOptions' });
    expect(parameter['clusterParameters']).toMatchObject([{ preAndPostImages: { expireAfterSeconds: 3_600 } }]);
    await engine.db('admin').command({ fsync: 1 });
    const images = engine.db('config').collection('system.preimages');
    expect(await images.countDocuments()).toBe(writes);
    // Both stores of images, the server's and the history's, are in what the engine says it uses.
    const { used } = (await yard.call('engine.status', {})).disk;
    expect(used - before).toBeGreaterThan(writes * 1_000_000);
    const [branches, home] = [await bytesOn('branches'), await bytesOn('home')];
    expect(used).toBeGreaterThan(branches);
    expect(Math.abs(used - branches - home)).toBeLessThan(0.2 * used);

    // An hour later, so to speak.
    const soon = { preAndPostImages: { expireAfterSeconds: 1 } };
    await engine.db('admin').command({ setClusterParameter: { changeStreamOptions: soon } });
    await vi.waitFor(async () => expect(await images.countDocuments()).toBe(0), { timeout: 100_000, interval: 100 });
  } finally {
    await engine.close();
  }
  const changes = await allChanges(yard, 'images');
  expect(changes.every(({ before, after }) => before !== undefined && after !== undefined)).toBe(true);
  const { entry } = await yard.call('plan.adopt', { branch: 'images' });
  expect(await contents(main, 'images.docs')).toEqual(await contents(await yard.client('images'), 'images.docs'));
  await yard.call('log.undo', { entry: entry! });
  const { plan } = await yard.call('restore.plan', { branch: 'images', to: { seq: 0 } });
  await yard.call('plan.apply', { plan });
  for (const name of ['main', 'images']) expect(await contents(await yard.client(name), 'images.docs')).toEqual(first);
  expect(branch.state).toBe('live');
});
