import { MongoServerError, type Document, type MongoClient } from 'mongodb';
import { documentBytes, fromBase64, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { driverValue, rawFind } from '../mongod/raw.ts';
import { browseNamespace, type BrowsedCollection } from './collections.ts';
import { parseFilter, parseSort } from './query.ts';

export interface DocumentsQuery {
  readonly db: string;
  readonly name: string;
  readonly filter: string | undefined;
  readonly sort: string | undefined;
  readonly skip: number;
  /** `next` of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface DocumentsPage {
  /** Whole documents as the server holds them. */
  readonly documents: readonly Uint8Array[];
  readonly next: string | undefined;
}

/** A page ends behind the document that passes this, so that a reply fits on every transport. */
const pageBytes = 8 * 1024 * 1024;
/** A query that takes longer is ended by the server: nothing that a person browses for may hold a branch up. */
const patienceMs = 5_000;

/**
 * A page of a collection's documents, read and nothing else. Without a filter and a sort they come in the order of `_id`
 * and the next page begins behind the last `_id`, so that no page costs more than the first; otherwise pages are counted.
 * @throws ForkyardError `unknown_collection`, `query_invalid`, `query_refused`, `query_slow`
 */
export async function browseDocuments(client: MongoClient, query: DocumentsQuery): Promise<DocumentsPage> {
  const [filter, sort] = [parseFilter(query.filter), parseSort(query.sort)];
  const collection = await browseNamespace(client, query.db, query.name);
  if (!collection) {
    throw new ForkyardError('unknown_collection', `There is no collection ${query.db}.${query.name}.`, {
      hint: 'It may have been dropped or renamed; look at the list again.',
    });
  }
  const byKey = !filter && !sort && query.skip === 0 && hasPlainIds(collection);
  const start = pageStart(query.after, query.skip);
  const find: Document = {
    filter: filter ? driverValue(filter) : {},
    ...(sort ? { sort: driverValue(sort) } : {}),
    ...(byKey ? orderById(start.key) : start.skip > 0 ? { skip: start.skip } : {}),
    // One more tells whether there is a next page.
    limit: query.limit + 1,
    batchSize: Math.min(query.limit + 1, 200),
    maxTimeMS: patienceMs,
  };
  const { documents, more } = await read(client, query, find);
  const last = documents.at(-1);
  if (!more || !last) return { documents, next: undefined };
  const key = byKey ? field(last, '_id') : undefined;
  return { documents, next: key ? `id:${toBase64(key)}` : `at:${start.skip + documents.length}` };
}

/** Whether an ordinary index on `_id` holds every document, in the order of the values themselves. */
function hasPlainIds({ type, options }: BrowsedCollection): boolean {
  const given = documentBytes(options);
  return type === 'collection' && !field(given, 'collation') && !field(given, 'clusteredIndex');
}

/** As an expression `$gt` goes on behind a value of any type, through the index; as a query only within its type. */
function orderById(after: BsonValue | undefined): Document {
  const order = { sort: { _id: 1 }, hint: { _id: 1 } };
  if (!after) return order;
  return { ...order, filter: { $expr: { $gt: ['$_id', { $literal: driverValue(after) }] } } };
}

function pageStart(after: string | undefined, skip: number): { key?: BsonValue; skip: number } {
  if (after === undefined) return { skip };
  const [kind, place = ''] = after.split(':');
  try {
    if (kind === 'id') return { key: fromBase64(place), skip: 0 };
    if (kind === 'at' && /^\d{1,15}$/.test(place)) return { skip: Number(place) };
  } catch {
    // Told below.
  }
  throw new ForkyardError('usage', `"${after}" is not where a page of documents ended.`, {
    hint: 'Pass the `next` of the page before.',
  });
}

/** At most one page, in documents and in bytes, and whether there are more; never an empty page where there are. */
async function read(
  client: MongoClient,
  { db, name, limit, signal }: DocumentsQuery,
  find: Document,
): Promise<{ documents: Uint8Array[]; more: boolean }> {
  const documents: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const batch of rawFind(client.db(db), { collection: name, filter: {}, ...find }, { signal })) {
      for (const document of batch) {
        if (documents.length === limit || bytes > pageBytes) return { documents, more: true };
        documents.push(document);
        bytes += document.length;
      }
    }
    return { documents, more: false };
  } catch (error) {
    throw told(error);
  }
}

const timeLimit = 50;

function told(error: unknown): unknown {
  if (!(error instanceof MongoServerError)) return error;
  if (error.code === timeLimit) {
    return new ForkyardError('query_slow', `This query took longer than ${patienceMs / 1000} seconds and was ended.`, {
      hint: 'Filter or sort by a field with an index.',
    });
  }
  return new ForkyardError('query_refused', `The server refuses this query: ${error.message}`, {
    hint: 'Look at the operators and at the types of their values.',
    cause: error,
  });
}
