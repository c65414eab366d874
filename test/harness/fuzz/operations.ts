import {
  Int32,
  MongoServerError,
  type AnyBulkWriteOperation,
  type ClientSession,
  type Collection,
  type Document,
  type MongoClient,
} from 'mongodb';
import { fieldNames, fields, key, value, type Random } from './random.ts';

/** Codes that a random write may well meet: duplicate keys, type mismatches, conflicting paths, write conflicts. */
const expected = new Set([11000, 14, 2, 9, 28, 40, 52, 54, 55, 56, 57, 66, 112, 251, 10065, 16836, 17280, 31002]);

export const database = 'fuzz';
export const collections = ['a', 'b', 'c.d'];

export type Operation = (client: MongoClient, session?: ClientSession) => Promise<void>;

/** One random write: every form an ordinary driver has. Errors of the random data itself are part of it. */
export function operation(random: Random): Operation {
  const name = random.pick([...collections, ...(random.chance(0.1) ? [`new${random.int(3)}`] : [])]);
  return operationOn(random, database, name);
}

/** One random write to a collection, which may not exist. */
export function operationOn(random: Random, db: string, name: string): Operation {
  // Validators, unique indexes and capped collections refuse much of what is random.
  const anything = db !== database;
  const act = random.pick(forms)(random);
  return async (client, session) => {
    try {
      await act(client.db(db).collection(name), session ? { session } : {});
    } catch (error) {
      const ordinary =
        error instanceof MongoServerError &&
        (anything ||
          expected.has(Number(error.code)) ||
          /^Failed to apply|Cannot|must|Unsupported|Invalid|The/.test(error.message));
      if (
        !ordinary ||
        (session && error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError'))
      )
        throw error;
      // The server has aborted the transaction that this belonged to.
      if (session) throw error;
    }
  };
}

type Form = (random: Random) => (collection: Collection, options: { session?: ClientSession }) => Promise<unknown>;

const forms: Form[] = [
  (random) => {
    const document = { _id: key(random) as never, ...fields(random) };
    return (collection, options) => collection.insertOne(document, options);
  },
  (random) => {
    const documents = Array.from({ length: 1 + random.int(4) }, () => ({
      _id: key(random) as never,
      ...fields(random),
    }));
    const ordered = random.chance(0.5);
    return (collection, options) => collection.insertMany(documents, { ...options, ordered });
  },
  (random) => {
    const [filter, update, upsert] = [{ _id: key(random) as never }, randomUpdate(random), random.chance(0.3)];
    return (collection, options) => collection.updateOne(filter, update, { ...options, upsert });
  },
  (random) => {
    const [filter, update] = [randomFilter(random), randomUpdate(random)];
    return (collection, options) => collection.updateMany(filter, update, options);
  },
  (random) => {
    const [filter, pipeline] = [randomFilter(random), randomPipeline(random)];
    return (collection, options) => collection.updateMany(filter, pipeline, options);
  },
  (random) => {
    const [filter, document, upsert] = [{ _id: key(random) as never }, fields(random), random.chance(0.3)];
    return (collection, options) => collection.replaceOne(filter, document, { ...options, upsert });
  },
  (random) => {
    const filter = { _id: key(random) as never };
    return (collection, options) => collection.deleteOne(filter, options);
  },
  (random) => {
    const filter = { [random.pick(fieldNames)]: { $type: random.pick(['null', 'bool', 'array']) } };
    return (collection, options) => collection.deleteMany(filter, options);
  },
  (random) => {
    const [filter, update] = [{ _id: key(random) as never }, randomUpdate(random)];
    return (collection, options) => collection.findOneAndUpdate(filter, update, options);
  },
  (random) => {
    const [filter, document] = [{ _id: key(random) as never }, fields(random)];
    return (collection, options) => collection.findOneAndReplace(filter, document, options);
  },
  (random) => {
    const filter = { _id: key(random) as never };
    return (collection, options) => collection.findOneAndDelete(filter, options);
  },
  (random) => {
    const ordered = random.chance(0.5);
    const operations = Array.from({ length: 2 + random.int(4) }, () => bulk(random));
    return (collection, options) => collection.bulkWrite(operations, { ...options, ordered });
  },
  (random) => {
    const _id = key(random) as never;
    return (collection, options) =>
      options.session
        ? collection.updateOne({ _id }, { $set: { merged: true } }, options)
        : collection
            .aggregate([
              { $match: { _id } },
              { $set: { merged: true } },
              { $merge: { into: 'b', whenMatched: 'merge' } },
            ])
            .toArray();
  },
];

function randomFilter(random: Random): Document {
  return random.pick([
    {},
    { [random.pick(fieldNames)]: { $exists: random.chance(0.5) } },
    { _id: { $type: random.pick(['string', 'int', 'objectId']) } },
  ]);
}

function randomUpdate(random: Random): Document {
  const path = random.pick(fieldNames);
  const nested = random.chance(0.3) ? `${path}.${random.pick(['q', '0', 'name'])}` : path;
  return random.pick([
    () => ({ $set: { [nested]: value(random) } }),
    () => ({
      $set: { [path]: value(random) },
      $unset: { [fieldNames[(fieldNames.indexOf(path) + 1) % fieldNames.length]!]: '' },
    }),
    () => ({ $inc: { [path]: new Int32(1) } }),
    () => ({ $mul: { [path]: new Int32(2) } }),
    () => ({ $unset: { [nested]: '' } }),
    () => ({ $push: { tags: value(random) } }),
    () => ({ $push: { tags: { $each: [value(random), value(random)], $position: 0, $slice: 4 } } }),
    () => ({ $pop: { tags: random.pick([-1, 1]) } }),
    () => ({ $addToSet: { tags: value(random) } }),
    () => ({ $rename: { price: 'stock' } }),
    () => ({ $max: { [path]: new Int32(random.int(100)) } }),
    () => ({ $currentDate: { [path]: true } }),
    () => ({ $set: { 'tags.0': value(random) } }),
  ])() as Document;
}

function randomPipeline(random: Random): Document[] {
  return random.pick([
    [{ $set: { price: { $cond: [{ $isNumber: '$price' }, { $multiply: ['$price', 0.9] }, '$price'] } } }],
    [{ $set: { tags: { $cond: [{ $isArray: '$tags' }, { $slice: ['$tags', 1] }, '$tags'] } } }],
    [{ $unset: random.pick(fieldNames) }],
    [{ $replaceWith: { $mergeObjects: [{ z: new Int32(random.int(9)) }, '$$ROOT'] } }],
  ]);
}

function bulk(random: Random): AnyBulkWriteOperation {
  const filter = { _id: key(random) as never };
  return random.pick<() => AnyBulkWriteOperation>([
    () => ({ insertOne: { document: { ...filter, ...fields(random) } } }),
    () => ({ updateOne: { filter, update: randomUpdate(random) } }),
    () => ({ replaceOne: { filter, replacement: fields(random), upsert: random.chance(0.5) } }),
    () => ({ deleteOne: { filter } }),
  ])();
}

/** A transaction of a few writes over several collections, committed or aborted. */
export async function transaction(
  random: Random,
  client: MongoClient,
  write: (random: Random) => Operation = operation,
): Promise<void> {
  const writes = Array.from({ length: 2 + random.int(3) }, () => write(random));
  const abort = random.chance(0.3);
  const session = client.startSession();
  try {
    session.startTransaction();
    for (const write of writes) await write(client, session);
    if (abort) await session.abortTransaction();
    else await session.commitTransaction();
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    if (session.inTransaction()) await session.abortTransaction();
  } finally {
    await session.endSession();
  }
}
