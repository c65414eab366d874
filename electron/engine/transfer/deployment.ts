import { type Db, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { ForkyardError, redact } from '../../../shared/errors.ts';
import { rawFind } from '../mongod/raw.ts';
import { connectDeployment, type Deployment } from './connect.ts';
import type { ImportOptions, ImportTarget, Namespace } from './contract.ts';
import { buildIndexes } from './indexes.ts';
import { createCollection, createViews, listCollections, type SourceCollection } from './schema.ts';
import type { ImportWriter } from './writer.ts';

/**
 * Copies a deployment's databases (all but admin, local and config), one of them, or one collection of it: documents as
 * the bytes the source holds, options and indexes in full. Users and roles are not copied.
 *
 * Throws ForkyardError `source_unreachable` and `source_unreadable`, without any of the credentials.
 */
export async function importDeployment(
  uri: string,
  options: ImportOptions,
  target: ImportTarget,
  writer: ImportWriter,
): Promise<void> {
  target.onProgress({ text: 'Connecting' });
  const source = await connectDeployment(uri, target.signal);
  try {
    const chosen = await chooseDatabases(source, options);
    const plan = [];
    // All of the source's catalog is read before anything is written: what cannot be read leaves the branch untouched.
    for (const db of chosen) plan.push({ db, collections: await catalogOf(source, db, options.collection) });
    for (const { db, collections } of plan) await copyDatabase(source, db, collections, target, writer);
  } catch (error) {
    throw refusedReading(source, error) ?? error;
  } finally {
    await source.client.close().catch(() => undefined);
  }
}

async function chooseDatabases({ client, label }: Deployment, { db }: ImportOptions): Promise<string[]> {
  const reply = await client.db('admin').command({ listDatabases: 1, nameOnly: true, authorizedDatabases: true });
  const names = (reply['databases'] as { name: string }[]).map(({ name }) => name);
  const own = names.filter((name) => !['admin', 'local', 'config'].includes(name));
  if (db === undefined) {
    if (own.length > 0) return own;
    throw new ForkyardError('source_unreadable', `${label} shows this user no database to import.`);
  }
  if (own.includes(db)) return [db];
  throw new ForkyardError('source_unreadable', `${label} has no database ${db} that could be imported.`, {
    hint: own.length > 0 ? `It has ${own.join(', ')}.` : 'This user sees none.',
  });
}

async function catalogOf({ client, label }: Deployment, db: string, only?: string): Promise<SourceCollection[]> {
  const all = await listCollections(client.db(db));
  if (only === undefined) return all;
  const found = all.filter(({ name }) => name === only);
  if (found.length > 0) return found;
  throw new ForkyardError('source_unreadable', `${label} has no collection ${db}.${only}.`);
}

async function copyDatabase(
  source: Deployment,
  dbName: string,
  collections: readonly SourceCollection[],
  target: ImportTarget,
  writer: ImportWriter,
): Promise<void> {
  const from = source.client.db(dbName);
  const into = target.client.db(dbName);
  for (const collection of collections.filter(({ type }) => type !== 'view')) {
    target.signal.throwIfAborted();
    const ns = { db: dbName, collection: collection.name };
    const report = (message: string) => writer.problem({ ns: `${dbName}.${collection.name}`, message });
    if (!(await createCollection(into, collection, report))) continue;
    await copyDocuments(source, into, ns, collection, target, writer);
    target.onProgress({ text: `Building the indexes of ${dbName}.${collection.name}` });
    await buildIndexes(from, into, collection.name, report);
  }
  await createViews(into, collections, (name, message) => writer.problem({ ns: `${dbName}.${name}`, message }));
}

async function copyDocuments(
  source: Deployment,
  into: Db,
  ns: Namespace,
  { type }: SourceCollection,
  target: ImportTarget,
  writer: ImportWriter,
): Promise<void> {
  const from = source.client.db(ns.db);
  const isTimeSeries = type === 'timeseries';
  const collection = writer.collection(ns, {
    bypassValidation: true,
    needsId: !isTimeSeries,
    total: await count(from, ns.collection),
  });
  const before = await count(into, ns.collection);
  // Natural order, which a capped collection is made of; a time-series collection is read through its view.
  const query = { collection: ns.collection, filter: {}, ...(isTimeSeries ? {} : { hint: { $natural: 1 } }) };
  for await (const batch of reading(source, rawFind(from, query, { signal: target.signal }))) {
    for (const document of batch) await collection.add(document);
  }
  const { given, inserted, refused } = await collection.finish();
  // In a collection that was empty all that counts is there; the account can be wrong after a crash, a scan cannot.
  const missing = before === 0 && (await count(into, ns.collection)) < inserted;
  const there = missing ? await into.collection(ns.collection).countDocuments() : inserted;
  if (inserted + refused === given && there >= inserted) return;
  writer.problem({
    ns: `${ns.db}.${ns.collection}`,
    message: `of ${given} documents read ${inserted} were imported and ${refused} refused; the branch holds ${there}`,
  });
}

/** How many documents there are by the collection's own account, which costs no scan. */
async function count(db: Db, collection: string): Promise<number> {
  const reply = await db.command({ count: collection });
  return Number(reply['n']);
}

/** The same batches; an end of the source is told from one of the branch, which is written to at the same time. */
async function* reading<T>({ label }: Deployment, batches: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    if (!(error instanceof MongoNetworkError || error instanceof MongoServerSelectionError)) throw error;
    throw new ForkyardError('source_unreachable', `The connection to ${label} was lost.`, {
      retry: true,
      cause: error,
    });
  }
}

function refusedReading({ label }: Deployment, error: unknown): ForkyardError | undefined {
  if (!(error instanceof MongoServerError) || error.code !== unauthorized) return undefined;
  return new ForkyardError('source_unreadable', `This user may not read all of ${label}: ${redact(error.message)}.`, {
    hint: 'It needs the role readAnyDatabase, or read on the one database named with --db.',
  });
}

const unauthorized = 13;
