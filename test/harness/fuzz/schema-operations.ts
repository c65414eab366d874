import { Int32, MongoServerError, type Db, type Document } from 'mongodb';
import { operationOn, type Operation } from './operations.ts';
import { fieldNames, fields, key, type Random } from './random.ts';

/** Databases whose collections are made, changed, renamed and dropped; the second also as a whole. */
export const schemaDatabases = ['fuzz-schema', 'fuzz-gone'];
const names = ['p', 'q', 'r.s', 't'];
const views = ['v', 'w'];

/** A write to a collection that may be gone, or a change of what there is. */
export function schemaOperation(random: Random): Operation {
  const db = random.chance(0.8) ? schemaDatabases[0]! : schemaDatabases[1]!;
  if (random.chance(0.55)) return operationOn(random, db, random.pick(names));
  const act = random.pick(forms)(random);
  return async (client) => {
    try {
      await act(client.db(db));
    } catch (error) {
      // What is not there, is there already, or does not fit the data: part of a random history.
      if (!(error instanceof MongoServerError)) throw error;
    }
  };
}

/** A write to one of these collections, as a transaction has it. */
export function schemaWrite(random: Random): Operation {
  return operationOn(random, schemaDatabases[0]!, random.pick(names));
}

type Form = (random: Random) => (db: Db) => Promise<unknown>;

const forms: Form[] = [
  (random) => {
    const [name, options] = [random.pick(names), createOptions(random)];
    return (db) => db.createCollection(name, options);
  },
  ...Array.from({ length: 2 }, (): Form => (random) => {
    const [name, keys, options] = [random.pick(names), indexKeys(random), indexOptions(random)];
    return (db) => db.createIndex(name, keys, options);
  }),
  (random) => {
    const [name, nth] = [random.pick(names), random.int(4)];
    return async (db) => {
      const index = (await db.collection(name).indexes()).filter((each) => each.name !== '_id_')[nth];
      if (index?.name !== undefined) await db.collection(name).dropIndex(index.name);
    };
  },
  (random) => {
    const [name, hidden, nth] = [random.pick(names), random.chance(0.5), random.int(3)];
    return async (db) => {
      const index = (await db.collection(name).indexes()).filter((each) => each.name !== '_id_')[nth];
      if (index) await db.command({ collMod: name, index: { name: index.name, hidden } });
    };
  },
  (random) => {
    const [name, options] = [random.pick(names), validation(random)];
    return (db) => db.command({ collMod: name, ...options });
  },
  (random) => {
    const [name, viewOn, pipeline] = [random.pick(views), random.pick([...names, ...views]), viewPipeline(random)];
    return (db) => db.createCollection(name, { viewOn, pipeline });
  },
  (random) => {
    const [name, viewOn, pipeline] = [random.pick(views), random.pick(names), viewPipeline(random)];
    return (db) => db.command({ collMod: name, viewOn, pipeline });
  },
  (random) => {
    const [name, documents] = [random.pick(names), Array.from({ length: 20 }, () => fields(random))];
    const ids = documents.map(() => key(random));
    return (db) =>
      db.collection(name).insertMany(
        documents.map((document, index) => ({ _id: ids[index] as never, ...document })),
        { ordered: false },
      );
  },
  (random) => {
    const name = random.pick([...names, ...views]);
    return (db) => db.dropCollection(name);
  },
  (random) => {
    const [from, to, dropTarget] = [random.pick(names), random.pick(names), random.chance(0.5)];
    return (db) => db.renameCollection(from, to, { dropTarget });
  },
  (random) => {
    const [from, to, stages] = [random.pick(names), random.pick(names), [{ $set: { out: new Int32(random.int(9)) } }]];
    return (db) =>
      db
        .collection(from)
        .aggregate([...stages, { $out: to }])
        .toArray();
  },
  (random) => {
    const whole = random.chance(0.4);
    return async (db) => (whole && db.databaseName === schemaDatabases[1] ? db.dropDatabase() : undefined);
  },
];

function createOptions(random: Random): Document {
  return random.pick<() => Document>([
    () => ({}),
    () => validation(random),
    () => ({ collation: { locale: 'en', strength: 2 } }),
    () => ({ capped: true, size: 65_536 }),
    () => ({ clusteredIndex: { key: { _id: 1 }, unique: true } }),
  ])();
}

function validation(random: Random): Document {
  return random.pick<() => Document>([
    () => ({ validator: { [random.pick(fieldNames)]: { $exists: true } } }),
    () => ({ validator: { price: { $type: 'int' } }, validationLevel: 'moderate' }),
    () => ({ validator: { $jsonSchema: { required: ['stock'] } }, validationAction: 'warn' }),
    () => ({ validator: {} }),
  ])();
}

function indexKeys(random: Random): Document {
  return random.pick<() => Document>([
    () => ({ [random.pick(fieldNames)]: random.pick([1, -1]) }),
    () => ({ price: 1, [random.pick(['stock', 'name', 'z'])]: -1 }),
    () => ({ name: 'hashed' }),
    () => ({ name: 'text' }),
    () => ({ '$**': 1 }),
  ])();
}

function indexOptions(random: Random): Document {
  return random.pick<() => Document>([
    () => ({}),
    () => ({ unique: true }),
    () => ({ sparse: true }),
    () => ({ partialFilterExpression: { stock: { $gt: new Int32(5) } } }),
    () => ({ expireAfterSeconds: 3_600 }),
    () => ({ collation: { locale: 'fr' } }),
  ])();
}

function viewPipeline(random: Random): Document[] {
  return random.pick([[], [{ $match: { price: new Int32(random.int(5)) } }], [{ $project: { name: 1 } }]]);
}
