import type { Collection, Db, Document, MongoClient } from 'mongodb';
import type { TestYard } from './in-process.ts';
import { insertExactly, split } from './round.ts';

/** One collection on both sides of a fork. */
export interface CollectionSides {
  readonly ns: string;
  /** Main's. */
  readonly client: MongoClient;
  readonly main: Collection<Document>;
  readonly sandbox: Collection<Document>;
}

/** A collection of main with these documents, forked under the collection's name, and both sides of it. */
export async function collectionSides(
  yard: TestYard,
  ns: string,
  documents: readonly Document[],
): Promise<CollectionSides> {
  const [db, name] = split(ns);
  const client = await yard.client('main');
  await insertExactly(client, ns, documents);
  await yard.fork(name, { ttlMs: null });
  return {
    ns,
    client,
    main: client.db(db).collection<Document>(name),
    sandbox: (await yard.client(name)).db(db).collection<Document>(name),
  };
}

/** One database on both sides of a fork. */
export interface DatabaseSides {
  readonly main: Db;
  readonly sandbox: Db;
}

/** A database of main, made by `prepare`, forked under the database's name, and both sides of it. */
export async function databaseSides(
  yard: TestYard,
  name: string,
  prepare: (db: Db) => Promise<unknown>,
): Promise<DatabaseSides> {
  const main = (await yard.client('main')).db(name);
  await prepare(main);
  await yard.fork(name, { ttlMs: null });
  return { main, sandbox: (await yard.client(name)).db(name) };
}
