import { sameBytes, Type, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement, type Element } from '../../../shared/bson/walk.ts';
import type { Home } from '../home/home.ts';
import { schemaEvents, type SchemaEvent } from '../home/schema-events.ts';
import { loadBaseCatalog } from './base-catalog.ts';
import {
  bucketPrefix,
  Catalog,
  indexSpec,
  int32,
  noLimit,
  seriesOptions,
  splitOptions,
  wholeNumber,
  type CollectionSchema,
} from './catalog.ts';
import { splitNamespace, uuidText } from './touched.ts';

/**
 * A branch's catalog at moments of its past: what it began with, and its schema events since, replayed. The server tells
 * them with every option as its catalog holds it (seen on 6.0.5).
 * @param seqs ascending
 */
export async function catalogsAt(home: Home, branchId: string, seqs: readonly number[]): Promise<Catalog[]> {
  const { atFork } = await loadBaseCatalog(home, branchId);
  const replay = new SchemaReplay(atFork);
  const found: Catalog[] = [];
  for await (const event of schemaEvents(home, branchId, seqs.at(-1) ?? 0)) {
    while (found.length < seqs.length && event.seq > seqs[found.length]!) found.push(replay.catalog());
    replay.apply(event);
  }
  while (found.length < seqs.length) found.push(replay.catalog());
  return found;
}

/** When each collection was first dropped between two sequences, by UUID. */
export async function dropsBetween(
  home: Home,
  branchId: string,
  after: number,
  upTo: number,
): Promise<Map<string, number>> {
  const drops = new Map<string, number>();
  for await (const { seq, op, uuid, description } of schemaEvents(home, branchId, upTo)) {
    if (seq <= after) continue;
    const dropped = op === 'drop' ? uuid && uuidText(uuid) : op === 'rename' ? droppedTarget(description) : undefined;
    if (dropped !== undefined && !drops.has(dropped)) drops.set(dropped, seq);
  }
  return drops;
}

/** The time-series collections that were dropped between two sequences, by name: they have no other identity. */
export async function seriesDroppedBetween(
  home: Home,
  branchId: string,
  after: number,
  upTo: number,
): Promise<Set<string>> {
  const dropped = new Set<string>();
  for await (const { seq, op, ns } of schemaEvents(home, branchId, upTo)) {
    const [db, name] = splitNamespace(ns);
    if (seq > after && op === 'drop' && name.startsWith(bucketPrefix))
      dropped.add(`${db}.${name.slice(bucketPrefix.length)}`);
  }
  return dropped;
}

/** The UUID of what a rename replaced. */
export function droppedTarget(description: Uint8Array): string | undefined {
  const target = field(description, 'dropTarget');
  return target?.[0] === Type.Binary ? uuidText(target.subarray(6, 22)) : undefined;
}

/** Names of what a replayed catalog has otherwise than the server: of these the past is not known either. */
export function unlikeServer(replayed: Catalog, actual: Catalog): Set<string> {
  const unlike = new Set<string>();
  for (const ns of new Set([...replayed.byNamespace.keys(), ...actual.byNamespace.keys()])) {
    const [mine, server] = [replayed.byNamespace.get(ns), actual.byNamespace.get(ns)];
    if (!mine || !server || !isAlike(mine, server)) unlike.add(ns);
  }
  return unlike;
}

function isAlike(a: CollectionSchema, b: CollectionSchema): boolean {
  return (
    a.kind === b.kind &&
    a.uuid === b.uuid &&
    (a.kind === 'timeseries' || sameBytes(a.options, b.options)) &&
    sameBytes(a.validation, b.validation) &&
    a.indexes.size === b.indexes.size &&
    [...a.indexes].every(([name, spec]) => sameBytes(spec, b.indexes.get(name)))
  );
}

class SchemaReplay {
  private readonly collections = new Map<string, CollectionSchema>();
  /** Views and time-series collections, which have no identity but their name. */
  private readonly named = new Map<string, CollectionSchema>();
  /** What makes time-series collections, by their names. */
  private readonly series = new Map<string, Uint8Array>();

  constructor(base: Catalog) {
    for (const each of base.byNamespace.values()) {
      if (each.uuid === undefined) this.named.set(each.ns, each);
      else this.collections.set(each.uuid, each);
    }
  }

  catalog(): Catalog {
    return new Catalog([...this.collections.values(), ...this.named.values()]);
  }

  apply(event: SchemaEvent): void {
    const [db, name] = splitNamespace(event.ns);
    if (event.op === 'dropDatabase') this.dropDatabase(db);
    else if (name.startsWith(bucketPrefix)) this.applyToBuckets(event, `${db}.${name.slice(bucketPrefix.length)}`);
    else if (name.startsWith('system.') && name !== 'system.js') return;
    else if (event.uuid) this.applyToCollection(event, uuidText(event.uuid));
    else this.applyToView(event);
  }

  /** Its collections are told one by one; its views go with it. */
  private dropDatabase(db: string): void {
    for (const map of [this.collections, this.named])
      for (const [key, each] of map) if (each.db === db) map.delete(key);
  }

  /** They come before the name that they are known by. */
  private applyToBuckets({ op, description }: SchemaEvent, ns: string): void {
    if (op === 'create') this.series.set(ns, seriesOptions(description));
    const before = this.named.get(ns);
    if (!before || (op !== 'createIndexes' && op !== 'dropIndexes')) return;
    this.named.set(ns, { ...before, indexes: indexesAfter(before, op, description) });
  }

  private applyToView({ op, ns, description }: SchemaEvent): void {
    const before = this.named.get(ns);
    if (op === 'drop') this.named.delete(ns);
    else if (op === 'create' || op === 'modify') {
      const [db, name] = splitNamespace(ns);
      const on = field(description, 'viewOn');
      const isSeries = on !== undefined && textOf(on) === `${bucketPrefix}${name}`;
      const parts = elements(description).filter((part) => viewFields.has(part.name));
      const series = isSeries ? this.series.get(ns) : undefined;
      const options = series ?? (before ? withFields(before.options, parts) : buildDocument(parts));
      const kind = isSeries ? ('timeseries' as const) : ('view' as const);
      this.named.set(ns, {
        ns,
        db,
        name,
        kind,
        uuid: undefined,
        options,
        validation: undefined,
        indexes: new Map(),
        images: false,
      });
    }
  }

  private applyToCollection({ op, ns, description }: SchemaEvent, uuid: string): void {
    const before = this.collections.get(uuid);
    const [db, name] = splitNamespace(ns);
    if (op === 'create') {
      const parts = splitOptions(elements(description));
      this.collections.set(uuid, {
        ns,
        db,
        name,
        kind: 'collection',
        uuid,
        ...parts,
        indexes: new Map(),
        images: true,
      });
    } else if (op === 'drop') this.collections.delete(uuid);
    else if (before && op === 'rename') this.rename(before, uuid, description);
    else if (before && (op === 'createIndexes' || op === 'dropIndexes')) {
      this.collections.set(uuid, { ...before, indexes: indexesAfter(before, op, description) });
    } else if (before && op === 'modify') this.collections.set(uuid, modified(before, description));
  }

  private rename(before: CollectionSchema, uuid: string, description: Uint8Array): void {
    const to = field(description, 'to');
    const [db, name] = [to && field(to.subarray(1), 'db'), to && field(to.subarray(1), 'coll')].map(textOf);
    if (db === undefined || name === undefined) return;
    const target = droppedTarget(description);
    if (target !== undefined) this.collections.delete(target);
    this.collections.set(uuid, { ...before, ns: `${db}.${name}`, db, name });
  }
}

function indexesAfter({ indexes: before }: CollectionSchema, op: string, description: Uint8Array) {
  const indexes = new Map(before);
  for (const spec of specsOf(description)) {
    if (op === 'createIndexes') indexes.set(spec.name, spec.bytes);
    else indexes.delete(spec.name);
  }
  return indexes;
}

const viewFields = new Set(['viewOn', 'pipeline', 'collation']);

/** What `collMod` left of a collection. */
function modified(before: CollectionSchema, description: Uint8Array): CollectionSchema {
  const parts = elements(description);
  const index = parts.find(({ name }) => name === 'index')?.value;
  if (index) return withIndex(before, index.subarray(1));
  const own = parts.filter(({ name }) => name !== 'changeStreamPreAndPostImages');
  const renamed = own.map((part) => cappedOption(part) ?? part);
  const validation = before.validation ?? before.dormantValidation;
  const all = buildDocument([...elements(before.options), ...(validation ? elements(validation) : [])]);
  const after = elements(withFields(all, renamed)).filter(({ name, value }) => !isOff(name, value));
  return { ...before, ...splitOptions(after.sort((a, b) => rankOf(a) - rankOf(b))) };
}

/** How `collMod` takes the option away. */
function isOff(name: string, value: BsonValue): boolean {
  return name === 'expireAfterSeconds' && value[0] === Type.String;
}

/** The catalog has options in this order, whatever order they came in (seen on 6.0.5). */
const optionOrder = [
  ...['capped', 'size', 'max', 'storageEngine', 'indexOptionDefaults'],
  ...['validator', 'validationLevel', 'validationAction'],
  ...['collation', 'viewOn', 'pipeline', 'clusteredIndex', 'expireAfterSeconds', 'timeseries'],
];

function rankOf({ name }: Element): number {
  const rank = optionOrder.indexOf(name);
  return rank < 0 ? optionOrder.length : rank;
}

const maxInt32 = 0x7fffffff;

/** `collMod` and the catalog name and write these differently (seen on 6.0.5): sizes are multiples of 256 bytes. */
function cappedOption({ name, value }: Element): Element | undefined {
  const number = wholeNumber(value);
  if (name === 'cappedMax')
    return rawElement('max', number === undefined ? value : int32(number > 0 ? number : noLimit));
  if (name !== 'cappedSize') return undefined;
  const bytes = number === undefined ? undefined : Math.ceil(number / 256) * 256;
  return rawElement('size', bytes === undefined || bytes > maxInt32 ? value : int32(bytes));
}

function withIndex(before: CollectionSchema, change: Uint8Array): CollectionSchema {
  const name = textOf(field(change, 'name'));
  const spec = name === undefined ? undefined : before.indexes.get(name);
  if (name === undefined || !spec) return before;
  const parts = elements(change).filter((part) => part.name !== 'name' && part.name !== 'keyPattern');
  // What is no longer hidden is told by nothing.
  const kept = parts.filter((part) => !(part.name === 'hidden' && part.value[1] === 0));
  const without = buildDocument(
    elements(spec).filter((part) => !parts.some((each) => each.name === part.name && !kept.includes(each))),
  );
  return { ...before, indexes: new Map([...before.indexes, [name, indexSpec(withFields(without, kept))]]) };
}

/** Fields keep their place; new ones go behind. */
function withFields(document: Uint8Array, fields: readonly Element[]): Uint8Array {
  const given = new Map(fields.map((each) => [each.name, each]));
  const kept = elements(document).map((part): Element => given.get(part.name) ?? part);
  const known = new Set(kept.map(({ name }) => name));
  return buildDocument([...kept, ...fields.filter(({ name }) => !known.has(name))]);
}

function specsOf(description: Uint8Array): { name: string; bytes: Uint8Array }[] {
  const list = field(description, 'indexes');
  return (list ? elements(list.subarray(1)) : []).flatMap(({ value }) => {
    const bytes = value.slice(1);
    const name = textOf(field(bytes, 'name'));
    return name === undefined ? [] : [{ name, bytes: indexSpec(bytes) }];
  });
}

function textOf(value: BsonValue | undefined): string | undefined {
  return value?.[0] === Type.String ? new TextDecoder().decode(value.subarray(5, value.length - 1)) : undefined;
}
