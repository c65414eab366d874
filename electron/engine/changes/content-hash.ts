import { createHash, type Hash } from 'node:crypto';
import type { MongoClient, Timestamp } from 'mongodb';
import { field } from '../../../shared/bson/walk.ts';
import { rawFind } from '../mongod/raw.ts';
import { readCatalog, type CollectionSchema } from './catalog.ts';

export interface CollectionHash {
  readonly ns: string;
  /** Of a time-series collection its buckets. */
  readonly documents: number;
  readonly bytes: number;
  /** SHA-256 of the documents' bytes in the order of `_id`, hex. */
  readonly hash: string;
}

export interface ContentHash {
  /** SHA-256 of every collection's hash, options, validator and indexes, and of the views; hex. */
  readonly hash: string;
  readonly collections: readonly CollectionHash[];
}

/**
 * Fingerprints everything that a branch holds but its identities (UUIDs): equal for two branches exactly when their data,
 * options, indexes and views are. It reads every document once, one collection after the other, in the memory of a batch.
 * @param at the moment to read at, where others may be writing; the server keeps five minutes
 */
export async function contentHash(client: MongoClient, at?: Timestamp): Promise<ContentHash> {
  const catalog = await readCatalog(client);
  const whole = createHash('sha256');
  const collections: CollectionHash[] = [];
  for (const schema of [...catalog.byNamespace.values()].sort((a, b) => (a.ns < b.ns ? -1 : 1))) {
    describe(whole, schema);
    if (schema.kind === 'view') continue;
    const hashed = await hashDocuments(client, schema, at);
    part(whole, Buffer.from(hashed.hash, 'hex'));
    collections.push(hashed);
  }
  return { hash: whole.digest('hex'), collections };
}

function describe(whole: Hash, { ns, kind, options, validation, indexes }: CollectionSchema): void {
  part(whole, Buffer.from(`${kind} ${ns}`));
  part(whole, options);
  part(whole, validation ?? new Uint8Array());
  for (const [name, spec] of [...indexes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    part(whole, Buffer.from(name));
    part(whole, spec);
  }
}

/** With its length in front, so that no two lists of parts read alike. */
function part(hash: Hash, bytes: Uint8Array): void {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  hash.update(length).update(bytes);
}

async function hashDocuments(
  client: MongoClient,
  { ns, db, name, kind, options }: CollectionSchema,
  at: Timestamp | undefined,
): Promise<CollectionHash> {
  const hash = createHash('sha256');
  let [documents, bytes] = [0, 0];
  // The server does not read capped collections at a moment.
  const moment = field(options, 'capped') ? undefined : at;
  const batches = rawFind(client.db(db), {
    collection: kind === 'timeseries' ? `system.buckets.${name}` : name,
    filter: {},
    sort: { _id: 1 },
    ...(moment ? { atClusterTime: moment } : {}),
  });
  for await (const batch of batches) {
    for (const document of batch) {
      hash.update(document);
      documents += 1;
      bytes += document.length;
    }
  }
  return { ns, documents, bytes, hash: hash.digest('hex') };
}
