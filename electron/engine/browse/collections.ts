import type { MongoClient } from 'mongodb';
import { Type, documentBytes, documentValue, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field } from '../../../shared/bson/walk.ts';
import { listCatalog } from '../mongod/catalog.ts';

export interface BrowsedIndex {
  readonly name: string;
  /** The server's specification, whole. */
  readonly spec: BsonValue;
  readonly sizeBytes: number | undefined;
}

export interface BrowsedCollection {
  readonly db: string;
  readonly name: string;
  readonly type: 'collection' | 'view' | 'timeseries';
  /** As the server counts without looking at the documents; undefined for views and time-series collections. */
  readonly documents: number | undefined;
  /** Uncompressed, without indexes. */
  readonly sizeBytes: number | undefined;
  readonly indexes: readonly BrowsedIndex[];
  /** Its options as the server keeps them, `uuid` and the recording of images aside. */
  readonly options: BsonValue;
  readonly validator: BsonValue | undefined;
}

/** How many collections are measured at once: the branch's own clients keep theirs of the server's time. */
const atOnce = 8;
const ownOptions = new Set(['uuid', 'changeStreamPreAndPostImages', 'temp', 'idIndex']);

/** Every collection and view of a branch but the server's own, by name. */
export async function browseCollections(client: MongoClient): Promise<BrowsedCollection[]> {
  const entries = await listCatalog(client);
  const byNamespace = new Map(entries.map((entry) => [text(field(entry, 'ns')), entry]));
  const described = entries.flatMap((entry) => describe(entry, byNamespace));
  const collections = new Array<BrowsedCollection>(described.length);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < described.length; at = next++) {
      collections[at] = await measure(client, described[at]!);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return collections.sort((a, b) => compareNames(a.db, b.db) || compareNames(a.name, b.name));
}

/** What a namespace is, by the catalog alone; undefined where there is no such collection. */
export async function browseNamespace(
  client: MongoClient,
  db: string,
  name: string,
): Promise<BrowsedCollection | undefined> {
  return (await listCatalog(client, { ns: `${db}.${name}` })).flatMap((entry) => describe(entry))[0];
}

function describe(entry: Uint8Array, all?: ReadonlyMap<string, Uint8Array>): BrowsedCollection[] {
  const [db, name, type] = [text(field(entry, 'db')), text(field(entry, 'name')), text(field(entry, 'type'))];
  // Stored functions are documents like others; the rest of `system.` is the server's own.
  if (name.startsWith('system.') && name !== 'system.js') return [];
  const unmeasured = { db, name, documents: undefined, sizeBytes: undefined };
  if (type === 'view') {
    const options = kept(entry, ({ name: each }) => ['viewOn', 'pipeline', 'collation'].includes(each));
    return [{ ...unmeasured, type, indexes: [], options, validator: undefined }];
  }
  if (type === 'timeseries') {
    // What it was created with is kept with its buckets.
    const buckets = all?.get(`${db}.system.buckets.${name}`);
    const options = buckets && catalogOptions(buckets);
    const own = options && kept(options, ({ name: each }) => timeseriesOptions.has(each));
    return [{ ...unmeasured, type, indexes: [], options: own ?? documentValue(emptyDocument), validator: undefined }];
  }
  const options = catalogOptions(entry);
  const validator = options && field(options, 'validator');
  const indexes = field(object(field(entry, 'md')) ?? emptyDocument, 'indexes');
  return [
    {
      ...unmeasured,
      type: 'collection',
      indexes: indexes ? elements(indexes.subarray(1)).flatMap(({ value }) => index(value)) : [],
      options: options ? kept(options, (option) => !ownOptions.has(option.name)) : documentValue(emptyDocument),
      validator: object(validator) ? validator : undefined,
    },
  ];
}

function catalogOptions(entry: Uint8Array): Uint8Array | undefined {
  return object(field(object(field(entry, 'md')) ?? emptyDocument, 'options'));
}

const timeseriesOptions = new Set(['timeseries', 'collation', 'expireAfterSeconds', 'storageEngine']);
const emptyDocument = Uint8Array.of(5, 0, 0, 0, 0);

function kept(document: Uint8Array, wanted: (option: { readonly name: string }) => boolean): BsonValue {
  return documentValue(buildDocument(elements(document).filter(wanted)));
}

function index(entry: BsonValue): BrowsedIndex[] {
  const spec = field(documentBytes(entry), 'spec');
  const bytes = object(spec);
  return spec && bytes ? [{ name: text(field(bytes, 'name')), spec, sizeBytes: undefined }] : [];
}

interface Stats {
  readonly storageStats?: {
    readonly size?: number;
    readonly indexSizes?: Readonly<Record<string, number>>;
    readonly count?: number;
  };
}

/** A collection that is dropped meanwhile keeps what the catalog told. */
async function measure(client: MongoClient, collection: BrowsedCollection): Promise<BrowsedCollection> {
  if (collection.type === 'view') return collection;
  const [stats] = await client
    .db(collection.db)
    .collection(collection.name)
    .aggregate<Stats>([{ $collStats: { storageStats: {} } }])
    .toArray()
    .catch(() => []);
  const { size, count, indexSizes = {} } = stats?.storageStats ?? {};
  return {
    ...collection,
    documents: count === undefined ? undefined : Number(count),
    sizeBytes: size === undefined ? undefined : Number(size),
    indexes: collection.indexes.map((each) => {
      const bytes = indexSizes[each.name];
      return { ...each, sizeBytes: bytes === undefined ? undefined : Number(bytes) };
    }),
  };
}

function object(value: BsonValue | undefined): Uint8Array | undefined {
  return value?.[0] === Type.Object ? documentBytes(value) : undefined;
}

function text(value: BsonValue | undefined): string {
  return value?.[0] === Type.String ? new TextDecoder().decode(value.subarray(5, value.length - 1)) : '';
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
