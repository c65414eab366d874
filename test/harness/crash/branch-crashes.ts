import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MongoClient } from 'mongodb';
import type { Output } from '../../../shared/api.ts';
import type { BranchRecord } from '../../../electron/engine/home/records.ts';
import { until } from '../until.ts';
import type { Crash, CrashYard, Victim } from './crash-yard.ts';
import { fingerprint } from './fingerprint.ts';
import type { Stop } from './stops.ts';

type Fingerprint = Record<string, unknown>;

/** What ends or changes a whole branch, while somebody is killed; each crash has a sandbox of its own. */
export class BranchCrashes {
  private readonly yard: CrashYard;
  private readonly mains: Fingerprint;
  private made = 0;

  private constructor(yard: CrashYard, mains: Fingerprint) {
    this.yard = yard;
    this.mains = mains;
  }

  static async open(yard: CrashYard): Promise<BranchCrashes> {
    const main = await yard.inside('main');
    const rows = Array.from({ length: 500 }, (_, _id) => ({ _id: _id as never, n: 0, text: 'x'.repeat(200) }));
    await main.db('whole').collection('items').insertMany(rows);
    return new BranchCrashes(yard, await fingerprint(main));
  }

  /** Forks a sandbox and changes something in it. */
  async sandbox(): Promise<{ name: string; id: string; uri: string; contents: Fingerprint }> {
    const name = `crash-${(this.made += 1)}`;
    const { branch, uri } = await this.yard.engine.call('branches.fork', { name, ttlMs: null });
    const client = await this.connect(uri);
    await client
      .db('whole')
      .collection('items')
      .updateMany({}, { $set: { n: 1 } });
    await client.close();
    return { name, id: branch.id, uri, contents: await this.holds(branch.id) };
  }

  /** What a branch's server holds. */
  async holds(id: string): Promise<Fingerprint> {
    const client = new MongoClient(await this.yard.engine.insideUri(id));
    try {
      return await fingerprint(await client.connect());
    } finally {
      await client.close();
    }
  }

  /** Fails where a branch's server does not let in those that the catalog has, or knows others. */
  async checkAccounts(name: string): Promise<void> {
    const { engine } = this.yard;
    const listed = await engine.call('actors.list', { branch: name });
    for (const { actor } of listed) {
      const client = await this.connect((await engine.call('branches.uri', { branch: name, actor })).uri);
      await client.db('whole').collection('items').findOne();
      await client.close();
    }
    const record = await this.row({ name, active: true });
    const client = await this.yard.inside(record!._id);
    const { users } = (await client.db('admin').command({ usersInfo: 1 })) as unknown as { users: { user: string }[] };
    const own = (await engine.credentials()).user;
    const known = users.map(({ user }) => user).filter((user) => user !== own);
    const wanted = listed.map(({ user }) => user);
    if (!isDeepStrictEqual(known.sort(), wanted.sort())) throw new Error(`${known.join()} instead of ${wanted.join()}`);
  }

  private connect(uri: string): Promise<MongoClient> {
    return new MongoClient(uri).connect();
  }

  get main(): Fingerprint {
    return this.mains;
  }

  async crash<T>(begin: () => Promise<T>, stop: Stop, victim: Victim): Promise<Crash<T>> {
    const crash = await this.yard.crash(begin, stop, victim);
    if (!isDeepStrictEqual(await fingerprint(await this.yard.inside('main')), this.mains))
      throw new Error('main has changed');
    return crash;
  }

  /** The live branch of this name, once it runs; undefined where none has it. */
  async live(name: string): Promise<BranchRecord | undefined> {
    const record = await this.row({ name, active: true });
    if (!record) return undefined;
    await until(`${name} runs, which was ${record.state}`, async () => {
      const row = (await this.yard.engine.call('branches.list', {})).find((each) => each.name === name);
      return row?.state === 'live' && (await this.runs(record._id));
    });
    return record;
  }

  async runs(id: string): Promise<boolean> {
    return (await this.yard.engine.servers()).some(({ dbPath }) => basename(dirname(dbPath)) === id);
  }

  async row(filter: Partial<BranchRecord>): Promise<BranchRecord | null> {
    const home = await this.yard.inside('home');
    return home.db('forkyard').collection<BranchRecord>('branches').findOne(filter);
  }

  async log(branchId: string): Promise<Output<'log.list'>> {
    const entries = await this.yard.engine.call('log.list', {});
    const home = await this.yard.inside('home');
    const own = home
      .db('forkyard')
      .collection<{ _id: string }>('log')
      .find({ branchId } as never);
    const ids = new Set((await own.toArray()).map(({ _id }) => _id));
    return entries.filter(({ entry }) => ids.has(entry));
  }

  /** Rows, files and processes that do not belong together, a sentence each. */
  async halfMade(): Promise<string[]> {
    const home = await this.yard.inside('home');
    const rows = await home.db('forkyard').collection<BranchRecord>('branches').find().toArray();
    const known = new Set(rows.map(({ _id }) => _id));
    const live = new Set(rows.filter(({ state }) => state === 'live').map(({ _id }) => _id));
    const running = (await this.yard.engine.servers()).map(({ dbPath }) => basename(dirname(dbPath)));
    const folders = await readdir(join(this.yard.engine.data, 'branches'));
    return [
      ...rows
        .filter(({ state }) => state === 'starting' || state === 'failed')
        .map(({ name, state }) => `${name} ${state}`),
      ...rows.filter(({ restoring }) => restoring).map(({ name }) => `${name} is being restored`),
      ...folders.filter((name) => !known.has(name)).map((name) => `files of ${name}`),
      ...running.filter((name) => name !== 'home' && !live.has(name)).map((name) => `a server of ${name}`),
    ];
  }
}
