import { type Db, type Document, MongoServerError } from 'mongodb';
import type { ImportTarget, SampleName } from '../contract.ts';
import type { ImportWriter } from '../writer.ts';
import { shop } from './shop.ts';
import { three } from './three.ts';

/** A data set that Forkyard brings along. Its documents are the same bytes every time. */
export interface Sample {
  readonly collections: readonly SampleCollection[];
}

export interface SampleCollection {
  readonly name: string;
  /** As the `create` command takes them. */
  readonly options?: Document;
  readonly indexes?: readonly { key: Document; name: string; [option: string]: unknown }[];
  readonly count: number;
  readonly documents: () => Iterable<Uint8Array>;
}

const samples: Readonly<Record<SampleName, Sample>> = { three, shop };

/**
 * Imports a sample into `db`. Documents whose `_id` is there already are named as problems, as with every import, and so
 * are indexes that what is there already does not allow.
 */
export async function importSample(
  name: SampleName,
  db: string,
  target: ImportTarget,
  writer: ImportWriter,
): Promise<void> {
  const into = target.client.db(db);
  for (const { name: collection, options, indexes, count, documents } of samples[name].collections) {
    await createUnlessThere(into, collection, options);
    const destination = writer.collection({ db, collection }, { bypassValidation: false, needsId: true, total: count });
    for (const document of documents()) await destination.add(document);
    await destination.finish();
    for (const index of indexes ?? []) {
      await into.command({ createIndexes: collection, indexes: [index] }).catch((error: unknown) => {
        if (!(error instanceof MongoServerError)) throw error;
        const message = `the index ${index.name} could not be built (${error.message})`;
        writer.problem({ ns: `${db}.${collection}`, message });
      });
    }
  }
}

async function createUnlessThere(db: Db, collection: string, options: Document | undefined): Promise<void> {
  const there = await db.listCollections({ name: collection }, { nameOnly: true }).hasNext();
  if (!there) await db.command({ create: collection, ...options });
}
