import { Binary, type MongoClient } from 'mongodb';
import { Type, documentBytes, stringValue, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement, type Element } from '../../../shared/bson/walk.ts';
import type { Home } from '../home/home.ts';
import { listCatalog } from '../mongod/catalog.ts';

/** One collection, view or time-series collection as the server describes it; options and indexes as bytes. */
export interface CollectionSchema {
  readonly ns: string;
  readonly db: string;
  readonly name: string;
  readonly kind: 'collection' | 'view' | 'timeseries';
  /** Hex; identity across renames and clones. Views have none. */
  readonly uuid: string | undefined;
  /** The create options but for identity, images and validation. For a view: `viewOn`, `pipeline`, `collation`. */
  readonly options: Uint8Array;
  /** `validator`, `validationLevel`, `validationAction`, in this order, where there is a validator. */
  readonly validation: Uint8Array | undefined;
  /** Index specifications by name, `_id_` left out. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  /** The server stores images for it. */
  readonly images: boolean;
}

export class Catalog {
  readonly byNamespace: ReadonlyMap<string, CollectionSchema>;
  readonly byUuid: ReadonlyMap<string, CollectionSchema>;

  constructor(collections: readonly CollectionSchema[]) {
    this.byNamespace = new Map(collections.map((collection) => [collection.ns, collection]));
    this.byUuid = new Map(
      collections.flatMap((collection) => (collection.uuid ? [[collection.uuid, collection]] : [])),
    );
  }

  get databases(): number {
    return new Set([...this.byNamespace.values()].map(({ db }) => db)).size;
  }
}

export async function readCatalog(client: MongoClient): Promise<Catalog> {
  return parseCatalog(await listCatalog(client));
}

interface StoredSchema {
  _id: string;
  entries: Binary[];
  /** What `admin` held in ordinary collections, which no stream shows. */
  adminHash: string;
}

/** Keeps a branch's catalog at its fork: the base of every schema comparison. */
export async function storeBaseCatalog(home: Home, branchId: string, client: MongoClient): Promise<Catalog> {
  const entries = await listCatalog(client);
  const adminHash = await hashAdmin(client);
  await home.catalog
    .collection<StoredSchema>('schemas')
    .replaceOne({ _id: branchId }, { entries: entries.map((entry) => new Binary(entry)), adminHash }, { upsert: true });
  return parseCatalog(entries);
}

export async function loadBaseCatalog(home: Home, branchId: string): Promise<{ catalog: Catalog; adminHash: string }> {
  const stored = await home.catalog.collection<StoredSchema>('schemas').findOne({ _id: branchId });
  const entries = stored?.entries.map((entry) => entry.buffer as Uint8Array) ?? [];
  return { catalog: parseCatalog(entries), adminHash: stored?.adminHash ?? '' };
}

/** A fingerprint of the ordinary collections of `admin`; empty where there are none. */
export async function hashAdmin(client: MongoClient): Promise<string> {
  const listed = await client
    .db('admin')
    .listCollections({ name: { $not: /^system\./ } }, { nameOnly: true })
    .toArray();
  if (listed.length === 0) return '';
  const reply = await client.db('admin').command({ dbHash: 1, collections: listed.map(({ name }) => name) });
  return JSON.stringify(reply['collections']);
}

const validationFields = new Set(['validator', 'validationLevel', 'validationAction']);
const identityFields = new Set(['uuid', 'changeStreamPreAndPostImages', 'idIndex', 'temp']);

function parseCatalog(entries: readonly Uint8Array[]): Catalog {
  const collections: CollectionSchema[] = [];
  for (const entry of entries) {
    const db = text(field(entry, 'db'));
    const name = text(field(entry, 'name'));
    const type = text(field(entry, 'type'));
    // Stored functions are documents like others; the rest of `system.` is the server's own.
    if (db === '' || name === '' || (name.startsWith('system.') && name !== 'system.js')) continue;
    const base = { ns: `${db}.${name}`, db, name };
    if (type === 'collection') collections.push({ ...base, kind: 'collection', ...parseCollection(entry) });
    else {
      const kind = type === 'timeseries' ? ('timeseries' as const) : ('view' as const);
      const kept = new Set(['viewOn', 'pipeline', 'collation', 'options']);
      const options = buildDocument(elements(entry).filter((element) => kept.has(element.name)));
      collections.push({
        ...base,
        kind,
        uuid: undefined,
        options,
        validation: undefined,
        indexes: new Map(),
        images: false,
      });
    }
  }
  return new Catalog(collections);
}

function parseCollection(
  entry: Uint8Array,
): Pick<CollectionSchema, 'uuid' | 'options' | 'validation' | 'indexes' | 'images'> {
  const md = subdocument(field(entry, 'md'));
  const options = md && subdocument(field(md, 'options'));
  const all: Element[] = options ? elements(options) : [];
  const uuid = all.find(({ name }) => name === 'uuid')?.value;
  const images = all.find(({ name }) => name === 'changeStreamPreAndPostImages')?.value;
  const indexes = new Map<string, Uint8Array>();
  const list = md && field(md, 'indexes');
  for (const { value } of list ? elements(list.subarray(1)) : []) {
    const spec = subdocument(field(value.subarray(1), 'spec'));
    const name = spec && text(field(spec, 'name'));
    if (spec && name && name !== '_id_') indexes.set(name, spec);
  }
  return {
    uuid: uuid && Buffer.from(uuid.subarray(6)).toString('hex'),
    ...splitOptions(all),
    indexes,
    images: images?.[0] === Type.Object && field(images.subarray(1), 'enabled')?.[1] === 1,
  };
}

/** Create options as they are compared: validation apart, identity and images left out. */
export function splitOptions(all: readonly Element[]): Pick<CollectionSchema, 'options' | 'validation'> {
  const hasValidator = all.some(({ name, value }) => name === 'validator' && value.length > 6);
  return {
    options: buildDocument(all.filter(({ name }) => !validationFields.has(name) && !identityFields.has(name))),
    validation: hasValidator ? validationOf(all) : undefined,
  };
}

/** In one order and with the server's defaults written out: it tells them or not, by which command set them. */
function validationOf(options: readonly Element[]): Uint8Array {
  const value = (name: string) => options.find((option) => option.name === name)?.value;
  return buildDocument([
    rawElement('validator', value('validator')!),
    rawElement('validationLevel', value('validationLevel') ?? stringValue('strict')),
    rawElement('validationAction', value('validationAction') ?? stringValue('error')),
  ]);
}

function subdocument(value: BsonValue | undefined): Uint8Array | undefined {
  return value?.[0] === Type.Object ? documentBytes(value) : undefined;
}

function text(value: BsonValue | undefined): string {
  return value?.[0] === Type.String ? new TextDecoder().decode(value.subarray(5, value.length - 1)) : '';
}
