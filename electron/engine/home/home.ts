import type { Collection, Db, MongoClient } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import type { BranchRecord, GapRecord, LogRecord } from './records.ts';

const schemaVersion = 1;

/** The engine's own database: catalog, history and plans. No agent ever gets a way into it. */
export class Home {
  readonly client: MongoClient;
  readonly catalog: Db;
  readonly history: Db;
  readonly plans: Db;
  /** Collections of the moment, on which indexes and validators are tried out. Emptied at every start. */
  readonly rehearsals: Db;

  constructor(client: MongoClient) {
    this.client = client;
    this.catalog = client.db('forkyard');
    this.history = client.db('history');
    this.plans = client.db('plans');
    this.rehearsals = client.db('rehearsals');
  }

  get branches(): Collection<BranchRecord> {
    return this.catalog.collection<BranchRecord>('branches');
  }

  get log(): Collection<LogRecord> {
    return this.catalog.collection<LogRecord>('log');
  }

  get gaps(): Collection<GapRecord> {
    return this.catalog.collection<GapRecord>('gaps');
  }

  /** Opens the catalog, making or migrating it. @throws ForkyardError where a newer Forkyard wrote it. */
  static async open(client: MongoClient): Promise<Home> {
    const home = new Home(client);
    const meta = home.catalog.collection<{ _id: string; version: number }>('meta');
    const stored = await meta.findOne({ _id: 'schema' });
    if (stored && stored.version > schemaVersion) {
      throw new ForkyardError(
        'engine_old',
        `This data folder was written by a newer Forkyard (its catalog is version ${stored.version}, this one knows ${schemaVersion}).`,
        { hint: 'Update Forkyard, or name another folder with --data.' },
      );
    }
    if (!stored) {
      await home.branches.createIndex({ name: 1 }, { unique: true, partialFilterExpression: { active: true } });
      await home.log.createIndex({ time: 1 });
      await home.gaps.createIndex({ branch: 1 });
      await meta.insertOne({ _id: 'schema', version: schemaVersion });
    }
    await home.rehearsals.dropDatabase();
    return home;
  }
}
