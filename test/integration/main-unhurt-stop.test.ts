import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineProcess } from '../harness/engine-process.ts';
import { MainWatch } from '../harness/main-watch.ts';
import { timed } from '../harness/own-time.ts';
import { onceComplete } from '../harness/settled.ts';
import { until } from '../harness/until.ts';

/** The engine stops, is killed, comes back; it is killed before it was ever ready. */
let engine: EngineProcess | undefined;
afterEach(async () => {
  await engine?.close();
  engine = undefined;
});

/** Inserts one document after the other until told to end; gives how many were acknowledged. */
function insertAll(client: MongoClient): () => Promise<number> {
  const items = client.db('shop').collection<{ _id: number }>('items');
  let over = false;
  let count = 0;
  const running = (async () => {
    for (; !over; count += 1) {
      await items.insertOne({ _id: count });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  running.catch(() => undefined);
  return async () => {
    over = true;
    await running;
    return count;
  };
}

const identities = async (of: EngineProcess) =>
  (await of.servers()).map(({ pid, startTime, dbPath }) => `${dbPath} ${pid} ${startTime}`).sort();

describe('an engine that is killed', () => {
  it('finds its servers as they were: nobody connected to them noticed, and nothing written meanwhile is missing', async () => {
    engine = await EngineProcess.open();
    const yard = engine;
    const watch = await MainWatch.start(yard);
    for (const name of ['one', 'two']) await yard.call('branches.fork', { name });
    const sandbox = insertAll(await yard.outside('one'));
    const before = await identities(yard);
    expect(before).toHaveLength(4);
    for (let time = 0; time < 2; time += 1) {
      await yard.kill();
      await watch.writer.writes(30);
      await yard.start();
      expect(await identities(yard)).toEqual(before);
      expect(await watch.harm()).toEqual([]);
    }
    const inserted = await sandbox();
    const ids: string[] = [];
    for (let after = 0; ;) {
      const { changes } = await onceComplete(() => yard.call('changes.page', { branch: 'one', after, settle: true }));
      if (changes.length === 0) break;
      ids.push(...changes.flatMap(({ op, id }) => (op === 'insert' && id !== undefined ? [id] : [])));
      after = changes.at(-1)!.seq;
    }
    expect(ids).toHaveLength(inserted);
    await watch.stop();
  });
});

describe('an engine that is stopped', () => {
  it('leaves no server and no guard after ten seconds, and comes back with everything', async () => {
    engine = await EngineProcess.open();
    const yard = engine;
    await (await yard.outside('main')).db('shop').collection<{ _id: number }>('items').insertOne({ _id: 1 });
    for (const name of ['one', 'two']) await yard.call('branches.fork', { name });
    const insert = insertAll(await yard.outside('two', { serverSelectionTimeoutMS: 3_000 }));
    expect(await timed(() => yard.down())).toBeLessThan(10_000);
    expect(await yard.servers()).toEqual([]);
    expect(await yard.oldGuardsGone()).toBe(true);
    await expect(insert()).rejects.toThrow();
    await yard.start();
    const rows = await yard.call('branches.list', {});
    expect(rows.map(({ name, state }) => [name, state])).toEqual(['main', 'one', 'two'].map((name) => [name, 'live']));
    expect(await (await yard.outside('one')).db('shop').collection('items').countDocuments()).toBe(1);
  });

  it.each(['its row', 'its files', 'its server'])('while a fork is at %s leaves nothing of it', async (step) => {
    engine = await EngineProcess.open();
    const yard = engine;
    const before = await readdir(join(yard.data, 'branches'));
    let outcome: unknown;
    // A fork that was done before the stop began is no case: again.
    for (let attempt = 0; outcome === undefined && attempt < 20; attempt += 1) {
      if (attempt > 0) {
        await yard.start();
        await yard.call('branches.discard', { branch: 'late', now: true });
      }
      const home = await yard.inside('home');
      const forked = yard.call('branches.fork', { name: 'late' }).then(
        () => undefined,
        (error: unknown) => error,
      );
      const reached = {
        'its row': async () => (await home.db('forkyard').collection('branches').countDocuments()) > 1,
        'its files': async () => (await readdir(join(yard.data, 'branches'))).length > before.length,
        'its server': async () => (await yard.servers()).length > 2,
      }[step]!;
      await until(step, reached);
      await home.close();
      await yard.down();
      outcome = await forked;
    }
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^engine_(stopped|unreachable)$/) });
    expect(await yard.servers()).toEqual([]);
    expect(await readdir(join(yard.data, 'branches'))).toEqual(before);
  });
});

describe('an engine that is killed in its very first start', () => {
  const log = (yard: EngineProcess, of: string) => readFile(join(yard.data, of, 'mongod.log'), 'utf8').catch(() => '');
  /** Messages of a server: it waits for connections; it is primary of its new set. */
  const [waits, isPrimary] = ['"id":23016,', '"id":21331,'];
  const steps: [string, (yard: EngineProcess) => Promise<boolean>][] = [
    ['home runs', async (yard) => (await log(yard, 'home')).includes(waits)],
    ['home is a set', async (yard) => (await log(yard, 'home')).includes(isPrimary)],
    ['main runs', async (yard) => (await log(yard, 'branches/main')).includes(waits)],
    ['main is a set', async (yard) => (await log(yard, 'branches/main')).includes(isPrimary)],
  ];
  it.each(steps)('as soon as %s starts well the next time', async (_step, reached) => {
    engine = await EngineProcess.on();
    const yard = engine;
    await yard.startAndKill(() => reached(yard));
    await yard.start();
    const watch = await MainWatch.start(yard);
    await yard.call('branches.fork', { name: 'one' });
    expect(await watch.harm()).toEqual([]);
    await watch.stop();
  });
});
