import { BSON, Double, Int32, Long, type Collection, type Document, type MongoClient } from 'mongodb';
import { one } from './bson.ts';
import type { Random } from './fuzz/random.ts';
import { contents, type Contents } from './round.ts';

const indexes = [
  { key: { n: 1 }, name: 'n' },
  { key: { tag: 1, n: -1 }, name: 'tag_n', sparse: true },
  { key: { when: 1 }, name: 'when', expireAfterSeconds: 900 },
] as const;

/**
 * Writes at random: single ones of every form, upserts, bulks, transactions, index and validator changes.
 * @returns how many documents were written
 */
export async function writeAtRandom(client: MongoClient, db: string, count: number, random: Random): Promise<number> {
  const names = ['plain', 'other'];
  const key = () => one(random.int(60));
  const value = () =>
    random.pick([new Int32(1), new Double(1), Long.fromNumber(1), 'text', null, [1, { x: 2 }], { y: 1, x: 2 }]);
  const collection = (): Collection<Document> => client.db(db).collection<Document>(random.pick(names));
  let written = 0;
  while (written < count) {
    const target = collection();
    const dice = random.next();
    if (dice < 0.3) {
      const fields = { [random.pick(['n', 'a.b', 'when'])]: value() };
      await target.updateOne(key(), { $set: fields }, { upsert: true }).catch(ignoreShape);
      written += 1;
    } else if (dice < 0.45) {
      await target.replaceOne(key(), { n: value(), tag: `t${written % 5}`, at: written }, { upsert: true });
      written += 1;
    } else if (dice < 0.6) {
      await target.deleteOne(key());
      written += 1;
    } else if (dice < 0.75) {
      const steps = Array.from({ length: 20 }, () =>
        random.chance(0.6)
          ? { updateOne: { filter: key(), update: { $inc: { count: 1 }, $set: { last: value() } }, upsert: true } }
          : { deleteOne: { filter: key() } },
      );
      await target.bulkWrite(steps as never, { ordered: false });
      written += steps.length;
    } else if (dice < 0.9) {
      written += await transact(client, [collection(), collection()], key, random);
    } else if (dice < 0.95) {
      const { key: fields, ...options } = random.pick(indexes);
      const known = (await target.indexes().catch(() => [])).some(({ name }) => name === options.name);
      if (known) await target.dropIndex(options.name);
      else await target.createIndex(fields, options);
      written += 1;
    } else {
      const validator = random.chance(0.5) ? {} : { never: { $ne: new Int32(written) } };
      await client.db(db).command({ collMod: target.collectionName, validator });
      written += 1;
    }
  }
  return written;
}

/** A path through a value that is no document: such a write leaves nothing. */
function ignoreShape(error: unknown): void {
  if (error instanceof Error && /Cannot create field|parallel arrays/.test(error.message)) return;
  throw error;
}

async function transact(
  client: MongoClient,
  collections: readonly Collection<Document>[],
  key: () => { _id: never },
  random: Random,
): Promise<number> {
  const session = client.startSession();
  try {
    session.startTransaction();
    for (let at = 0; at < 6; at += 1) {
      const target = collections[at % collections.length]!;
      if (random.chance(0.3)) await target.deleteOne(key(), { session });
      else await target.updateOne(key(), { $set: { inside: at } }, { session, upsert: true });
    }
    if (random.chance(0.2)) await session.abortTransaction();
    else await session.commitTransaction();
    return 6;
  } finally {
    await session.endSession();
  }
}

/** Everything a database holds: documents by bytes, options and indexes with their types. */
export interface WholeDatabase {
  readonly documents: Readonly<Record<string, Contents>>;
  readonly schema: Readonly<Record<string, string>>;
}

export async function wholeDatabase(client: MongoClient, db: string): Promise<WholeDatabase> {
  const listed = await client.db(db).listCollections({}, { promoteValues: false }).toArray();
  const documents: Record<string, Contents> = {};
  const schema: Record<string, string> = {};
  for (const entry of listed as unknown as { name: string; type: string; options: Document }[]) {
    if (entry.name.startsWith('system.')) continue;
    const { changeStreamPreAndPostImages: _images, ...options } = entry.options;
    if (options['validator'] && Object.keys(options['validator'] as object).length === 0) delete options['validator'];
    if (!options['validator']) for (const name of ['validationLevel', 'validationAction']) delete options[name];
    const isCollection = entry.type === 'collection';
    const own = isCollection
      ? await client
          .db(db)
          .collection(entry.name)
          .listIndexes({ promoteValues: false } as never)
          .toArray()
      : [];
    const sorted = own.map((spec) => BSON.EJSON.stringify(spec, { relaxed: false })).sort();
    schema[entry.name] = `${BSON.EJSON.stringify(options, { relaxed: false })} ${sorted.join(' ')}`;
    documents[entry.name] = await contents(client, `${db}.${entry.name}`);
  }
  return { documents, schema };
}
