import type { CollectionInfo, MongoClient } from 'mongodb';
import { Type, documentBytes, stringValue, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement, type Element } from '../../../shared/bson/walk.ts';
import { listCatalog } from '../mongod/catalog.ts';

/** One collection, view or time-series collection as the server describes it; options and indexes as bytes. */
export interface CollectionSchema {
  readonly ns: string;
  readonly db: string;
  readonly name: string;
  readonly kind: 'collection' | 'view' | 'timeseries';
  /** Hex; identity across renames and clones. Views and time-series collections have none: they are what has their name. */
  readonly uuid: string | undefined;
  /** Of a time-series collection: the UUID, hex, of the collection that holds its measurements, packed in buckets. */
  readonly buckets?: string | undefined;
  /**
   * The create options but for identity, images and validation. For a view: `viewOn`, `pipeline`, `collation`. For a
   * time-series collection those of its buckets that a create takes.
   */
  readonly options: Uint8Array;
  /** `validator`, `validationLevel`, `validationAction`, in this order, where there is a validator. */
  readonly validation: Uint8Array | undefined;
  /** `validationLevel` and `validationAction` of a collection without a validator: they count again once it gets one. */
  readonly dormantValidation?: Uint8Array | undefined;
  /** Index specifications by name, `_id_` left out. Those of a time-series collection are its buckets'. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  /** The server stores images for it. */
  readonly images: boolean;
}

export class Catalog {
  readonly byNamespace: ReadonlyMap<string, CollectionSchema>;
  readonly byUuid: ReadonlyMap<string, CollectionSchema>;
  /** By the UUID of the collection that the documents stand in: a time-series collection by that of its buckets. */
  readonly byStore: ReadonlyMap<string, CollectionSchema>;

  constructor(collections: readonly CollectionSchema[]) {
    this.byNamespace = new Map(collections.map((collection) => [collection.ns, collection]));
    this.byUuid = new Map(
      collections.flatMap((collection) => (collection.uuid ? [[collection.uuid, collection]] : [])),
    );
    this.byStore = new Map(
      collections.flatMap((collection) => {
        const store = storeOf(collection);
        return store === undefined ? [] : [[store, collection]];
      }),
    );
  }

  get databases(): number {
    return new Set([...this.byNamespace.values()].map(({ db }) => db)).size;
  }
}

/** The UUID, hex, of the collection that the documents stand in; views have none. */
export function storeOf({ uuid, buckets }: Pick<CollectionSchema, 'uuid' | 'buckets'>): string | undefined {
  return uuid ?? buckets;
}

/** The namespace that the documents stand in: measurements are read and written by their buckets. */
export function storeNamespace({ ns, kind }: Pick<CollectionSchema, 'ns' | 'kind'>): string {
  return kind === 'timeseries' ? bucketsNamespace(ns) : ns;
}

/** What holds the measurements of this time-series collection. */
export function bucketsNamespace(series: string): string {
  return series.replace('.', `.${bucketPrefix}`);
}

/** What everybody but the server calls it: a time-series collection by its own name. */
export function shownNamespace(ns: string): string {
  return ns.replace(`.${bucketPrefix}`, '.');
}

export async function readCatalog(client: MongoClient): Promise<Catalog> {
  return parseCatalog(await listCatalog(client));
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

export const validationFields: ReadonlySet<string> = new Set(['validator', 'validationLevel', 'validationAction']);
const identityFields = new Set(['uuid', 'changeStreamPreAndPostImages', 'idIndex', 'temp']);

export const bucketPrefix = 'system.buckets.';
const viewFields = new Set(['viewOn', 'pipeline', 'collation']);
/** Of the buckets' options, what creates the time-series collection; the rest follows from it. */
const seriesFields = new Set(['timeseries', 'expireAfterSeconds', 'collation', 'storageEngine']);

/** The UUID of the collection that has the name now; a view or time-series collection has none of its own. */
export async function uuidNamed(client: MongoClient, db: string, name: string): Promise<Uint8Array | undefined> {
  const [found] = await client.db(db).listCollections<CollectionInfo>({ name }).toArray();
  return found?.info?.uuid?.buffer;
}

/** What a server's `$listCatalog` says. */
export function parseCatalog(entries: readonly Uint8Array[]): Catalog {
  const collections: CollectionSchema[] = [];
  const buckets = new Map<string, Uint8Array>();
  const named = entries.map((entry) => ({
    entry,
    db: text(field(entry, 'db')),
    name: text(field(entry, 'name')),
    type: text(field(entry, 'type')),
  }));
  for (const { entry, db, name } of named) {
    if (name.startsWith(bucketPrefix)) buckets.set(`${db}.${name.slice(bucketPrefix.length)}`, entry);
  }
  for (const { entry, db, name, type } of named) {
    // Stored functions are documents like others; the rest of `system.` is the server's own.
    if (db === '' || name === '' || (name.startsWith('system.') && name !== 'system.js')) continue;
    const base = { ns: `${db}.${name}`, db, name };
    if (type === 'collection') collections.push({ ...base, kind: 'collection', ...parseCollection(entry) });
    else if (type === 'timeseries')
      collections.push({ ...base, kind: 'timeseries', ...parseSeries(buckets.get(base.ns)) });
    else {
      const options = buildDocument(elements(entry).filter((element) => viewFields.has(element.name)));
      collections.push({ ...base, kind: 'view', ...withoutParts, options });
    }
  }
  return new Catalog(collections);
}

const withoutParts = { uuid: undefined, validation: undefined, indexes: new Map<string, Uint8Array>(), images: false };

function parseSeries(bucket: Uint8Array | undefined): Omit<CollectionSchema, 'ns' | 'db' | 'name' | 'kind'> {
  if (!bucket) return { ...withoutParts, options: buildDocument([]) };
  const { uuid, options, indexes } = parseCollection(bucket);
  return { ...withoutParts, buckets: uuid, options: seriesOptions(options), indexes };
}

/** What creates a time-series collection, of the options that its buckets have. */
export function seriesOptions(buckets: Uint8Array): Uint8Array {
  return buildDocument(elements(buckets).filter(({ name }) => seriesFields.has(name)));
}

function parseCollection(entry: Uint8Array): Omit<CollectionSchema, 'ns' | 'db' | 'name' | 'kind'> {
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
    if (spec && name && name !== '_id_') indexes.set(name, indexSpec(spec));
  }
  return {
    uuid: uuid && Buffer.from(uuid.subarray(6)).toString('hex'),
    ...splitOptions(all),
    indexes,
    images: images?.[0] === Type.Object && field(images.subarray(1), 'enabled')?.[1] === 1,
  };
}

/** Create options as they are compared: validation apart, identity and images left out. */
export function splitOptions(
  all: readonly Element[],
): Pick<CollectionSchema, 'options' | 'validation' | 'dormantValidation'> {
  const hasValidator = all.some(({ name, value }) => name === 'validator' && value.length > 6);
  return {
    options: buildDocument(
      all.filter(
        ({ name, value }) => !validationFields.has(name) && !identityFields.has(name) && !isNoLimit(name, value),
      ),
    ),
    validation: hasValidator ? validationOf(all) : undefined,
    dormantValidation: hasValidator
      ? undefined
      : buildDocument(all.filter(({ name }) => name !== 'validator' && validationFields.has(name))),
  };
}

/** The limit of documents of a capped collection whose limit was taken away by collMod (seen on 6.0.5). */
export const noLimit = 0x7fffffff;

function isNoLimit(name: string, value: BsonValue): boolean {
  return name === 'max' && wholeNumber(value) === noLimit;
}

/**
 * In one order, and each option written in one way: whether an index was made with an option or got it by collMod, it is
 * the same index.
 */
export function indexSpec(spec: Uint8Array): Uint8Array {
  const rank = ({ name }: Element) => ['v', 'key', 'name'].indexOf(name) >>> 0;
  const parts = elements(spec).filter(({ name, value }) => name !== 'hidden' || value[1] === 1);
  const same = parts.map((part) => {
    const seconds = part.name === 'expireAfterSeconds' ? wholeNumber(part.value) : undefined;
    return seconds === undefined ? part : rawElement(part.name, int32(seconds));
  });
  return buildDocument(same.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1)));
}

/** A number's value where it is a whole one of 32 bits. */
export function wholeNumber(value: BsonValue): number | undefined {
  const view = new DataView(value.buffer, value.byteOffset + 1, value.length - 1);
  const number =
    value[0] === Type.Int32
      ? view.getInt32(0, true)
      : value[0] === Type.Int64
        ? Number(view.getBigInt64(0, true))
        : value[0] === Type.Double
          ? view.getFloat64(0, true)
          : undefined;
  return number !== undefined && (number | 0) === number ? number : undefined;
}

export function int32(value: number): BsonValue {
  const bytes = new Uint8Array(5);
  bytes[0] = Type.Int32;
  new DataView(bytes.buffer).setInt32(1, value, true);
  return bytes;
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

/** A String's text; empty where it is none. */
export function text(value: BsonValue | undefined): string {
  return value?.[0] === Type.String ? new TextDecoder().decode(value.subarray(5, value.length - 1)) : '';
}
