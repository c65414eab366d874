import { MongoServerError, type Document } from 'mongodb';
import { EJSON } from 'bson';
import { shellText, toEjson } from '../../../shared/bson/ejson.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentValue, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { CollectionSchema } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace, type Comparison } from '../changes/touched.ts';
import type { PlanItemRecord, PlanRecord, PlanStore } from '../home/plans.ts';
import { driverValue, rawCursorCommand, rawFindAll } from '../mongod/raw.ts';

type Check = PlanRecord['checks'][number];

/** A dry run that writes nothing: will unique indexes and validators of the parent accept what the plan leaves? */
export async function checkPlan(
  store: PlanStore,
  plan: PlanRecord,
  parent: Side,
  comparison: Comparison,
): Promise<Check[]> {
  const unique = new UniqueKeys(parent);
  const problems: Check[] = [];
  for await (const items of store.items(plan)) {
    const written = items.filter((item) => item.writes);
    for (const [ns, group] of byNamespace(written)) {
      const collection = comparison.parentCatalog.byNamespace.get(ns) ?? comparison.branchCatalog.byNamespace.get(ns);
      if (!collection) continue;
      problems.push(...(await unique.check(collection, group)), ...(await checkValidator(parent, collection, group)));
      if (problems.length >= 100) return problems;
    }
  }
  return problems.length > 0
    ? problems
    : [{ name: 'dry run', ok: true, detail: 'Unique indexes and validators accept every document.' }];
}

export function byNamespace(items: readonly PlanItemRecord[]): Map<string, PlanItemRecord[]> {
  const groups = new Map<string, PlanItemRecord[]>();
  for (const item of items) {
    const group = groups.get(item.ns);
    if (group) group.push(item);
    else groups.set(item.ns, [item]);
  }
  return groups;
}

/** Looks for documents that would share a unique key: two of the plan, or one of the plan and one that stays. */
class UniqueKeys {
  private readonly parent: Side;
  /** Per index: unique key of a result -> the document that will hold it. */
  private readonly taken = new Map<string, Map<string, string>>();
  /** Documents that the plan replaces or removes give up their keys. */
  private readonly leaving = new Map<string, Set<string>>();

  constructor(parent: Side) {
    this.parent = parent;
  }

  async check(collection: CollectionSchema, items: readonly PlanItemRecord[]): Promise<Check[]> {
    const problems: Check[] = [];
    const leaving = this.leaving.get(collection.ns) ?? new Set();
    this.leaving.set(collection.ns, leaving);
    for (const item of items) leaving.add(keyText(item.key));
    for (const [name, spec] of collection.indexes) {
      const paths = plainUniquePaths(spec);
      if (!paths) continue;
      problems.push(...(await this.checkIndex(collection, name, paths, items, leaving)));
    }
    return problems;
  }

  private async checkIndex(
    collection: CollectionSchema,
    name: string,
    paths: readonly string[],
    items: readonly PlanItemRecord[],
    leaving: ReadonlySet<string>,
  ): Promise<Check[]> {
    const problems: Check[] = [];
    const index = `${collection.ns}/${name}`;
    const taken = this.taken.get(index) ?? new Map<string, string>();
    this.taken.set(index, taken);
    const wanted = new Map<string, PlanItemRecord>();
    const clash = (item: PlanItemRecord, other: string) => {
      const detail = `${shellText(item.key)} and ${other} of ${collection.ns} would share a key of the unique index ${name}.`;
      problems.push({ name: `unique ${name}`, ok: false, detail });
    };
    for (const item of items) {
      const key = item.result && indexKey(item.result, paths);
      if (key === undefined) continue;
      const other = taken.get(key);
      if (other !== undefined) clash(item, other);
      taken.set(key, shellText(item.key));
      wanted.set(key, item);
    }
    if (wanted.size === 0) return problems;
    const [db, coll] = splitNamespace(collection.ns);
    const filter = { $or: [...wanted.values()].map((item) => keyFilter(item.result!, paths)) };
    const holders = await rawFindAll(this.parent.client.db(db), {
      collection: coll,
      filter,
      projection: projectionOf(paths),
    });
    for (const holder of holders) {
      const id = field(holder, '_id');
      const key = indexKey(holder, paths);
      const item = key === undefined ? undefined : wanted.get(key);
      if (id && item && !leaving.has(keyText(id))) clash(item, shellText(id));
    }
    return problems;
  }
}

/** The paths of a plain unique index; undefined where it is another kind or partial, which the server itself decides. */
function plainUniquePaths(spec: Uint8Array): string[] | undefined {
  const parsed = EJSON.parse(toEjson(documentValue(spec))) as Document;
  if (parsed['unique'] !== true || parsed['partialFilterExpression'] || parsed['sparse'] || parsed['collation'])
    return undefined;
  const key = parsed['key'] as Record<string, unknown>;
  return Object.values(key).every((direction) => typeof direction === 'number') ? Object.keys(key) : undefined;
}

/** The index key of a document as text; undefined where an array makes it many keys. A missing value counts as null. */
function indexKey(document: Uint8Array, paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(document, path));
  if (values.includes('array')) return undefined;
  return values.map((value) => keyText(value as BsonValue)).join('|');
}

const nullValue: BsonValue = new Uint8Array([0x0a]);

function valueAt(document: Uint8Array, path: string): BsonValue | 'array' {
  let value: BsonValue | undefined = documentValue(document);
  for (const name of path.split('.')) {
    if (value?.[0] === 0x04) return 'array';
    value = value?.[0] === 0x03 ? field(value.subarray(1), name) : undefined;
  }
  return value?.[0] === 0x04 ? 'array' : (value ?? nullValue);
}

function keyFilter(document: Uint8Array, paths: readonly string[]): Document {
  return Object.fromEntries(paths.map((path) => [path, { $eq: driverValue(valueAt(document, path) as BsonValue) }]));
}

function projectionOf(paths: readonly string[]): Document {
  return Object.fromEntries(paths.map((path) => [path, 1]));
}

/** Lets the server itself evaluate the validator, on literals, without a write. */
async function checkValidator(
  parent: Side,
  collection: CollectionSchema,
  items: readonly PlanItemRecord[],
): Promise<Check[]> {
  const validation =
    collection.validation &&
    (EJSON.parse(toEjson(documentValue(collection.validation)), { relaxed: false }) as Document);
  if (!validation || validation['validationAction'] === 'warn' || validation['validationLevel'] === 'off') return [];
  // `moderate` lets a document that was invalid stay so.
  const moderate = validation['validationLevel'] === 'moderate';
  const results = items.filter((item) => item.result && item.result.length < 1_000_000 && !(moderate && item.expect));
  const problems: Check[] = [];
  for (let start = 0; start < results.length; start += 200) {
    const documents = results.slice(start, start + 200).map(({ result }) => driverValue(documentValue(result!)));
    const pipeline = [
      { $documents: { $literal: documents } },
      { $match: { $nor: [validation['validator']] } },
      { $project: { _id: 1 } },
    ];
    const command = { aggregate: 1, pipeline, cursor: { batchSize: 1_000 } };
    const failed = await rawCursorCommand(parent.client.db(collection.db), command).catch((error: unknown) => {
      // A document this way of asking cannot carry (a name with a dollar) is decided by the server when it is applied.
      if (error instanceof MongoServerError) return { documents: [] };
      throw error;
    });
    for (const document of failed.documents) {
      const id = field(document, '_id');
      const detail = `The validator of ${collection.ns} refuses ${id ? shellText(id) : 'a document'}.`;
      problems.push({ name: 'validator', ok: false, detail });
    }
  }
  return problems;
}
