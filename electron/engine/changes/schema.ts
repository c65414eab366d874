import type { ChangeKind } from '../../../shared/api.ts';
import { documentBytes, documentValue, sameBytes, stringValue, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { Catalog, CollectionSchema } from './catalog.ts';
import { definitionOf } from './definition.ts';

/** A difference between two catalogs' moments, three-way like a document's. */
export interface SchemaDelta {
  readonly type: 'collection' | 'options' | 'validator' | 'view' | 'index' | 'rename';
  readonly kind: ChangeKind;
  readonly ns: string;
  /** What the parent calls the collection; undefined where it has none. */
  readonly parentNs: string | undefined;
  /** The collection's in the base, or, where the branch made it, in the branch; views and time-series have none. */
  readonly uuid: string | undefined;
  /** The index's name. */
  readonly name?: string;
  /** How many documents a created or dropped collection holds. */
  readonly documents?: number;
  /** Documents of a dropped collection that the parent changed since: a conflict. */
  readonly edited?: readonly BsonValue[];
  readonly base?: BsonValue | undefined;
  readonly parent?: BsonValue | undefined;
  readonly branch?: BsonValue | undefined;
  readonly conflict: boolean;
}

type Place = Pick<SchemaDelta, 'ns' | 'parentNs' | 'uuid'>;

/**
 * What a branch changed of collections, views, validators and indexes, against its base; conflicts where the parent
 * changed the same thing differently. What both did alike is not listed.
 * @param options.byIdentity one that was made anew under the same name is another collection
 */
export function compareSchema(
  base: Catalog,
  parent: Catalog,
  branch: Catalog,
  { byIdentity = false }: { readonly byIdentity?: boolean } = {},
): SchemaDelta[] {
  const originOf = byIdentity ? sameOrigin : likelyOrigin;
  const deltas: SchemaDelta[] = [];
  for (const collection of branch.byNamespace.values()) {
    if (collection.uuid === undefined) {
      deltas.push(...compareNamed(collection, base, parent, branch));
      continue;
    }
    const before = originOf(collection, base, branch);
    const there = byIdentity
      ? parent.byUuid.get(collection.uuid)
      : parentCollection(collection.uuid, base, parent, branch);
    deltas.push(...(before ? kept(before, there, collection) : created(there, collection)));
  }
  for (const before of base.byNamespace.values()) {
    const now = branch.byNamespace.get(before.ns);
    if (before.uuid === undefined) {
      if (now?.kind !== before.kind) deltas.push(...compareNamed(before, base, parent, branch));
    } else if (!branch.byUuid.has(before.uuid) && !(now && originOf(now, base, branch) === before)) {
      deltas.push(...dropped(before, parent));
    }
  }
  return deltas;
}

/**
 * The base's collection that this one of the branch is, or was made anew for: dropped and created again, restored, or
 * written over by `$out`. Its documents and parts are compared with those that were there before.
 */
export function likelyOrigin(
  { uuid, ns, ...collection }: CollectionSchema,
  base: Catalog,
  branch: Catalog,
): CollectionSchema | undefined {
  if (collection.kind === 'timeseries') return seriesOf(ns, collection, base);
  if (uuid === undefined) return undefined;
  const same = base.byUuid.get(uuid);
  if (same) return same;
  const before = base.byNamespace.get(ns);
  if (before?.uuid === undefined || branch.byUuid.has(before.uuid)) return undefined;
  return areAlike(before, collection) ? before : undefined;
}

function sameOrigin({ uuid }: CollectionSchema, base: Catalog): CollectionSchema | undefined {
  return uuid === undefined ? undefined : base.byUuid.get(uuid);
}

/** Whether documents could go from one to the other as they are: what differs in parts can be changed in place. */
function areAlike(a: Pick<CollectionSchema, 'options'>, b: Pick<CollectionSchema, 'options'>): boolean {
  // The order in which a capped collection holds its documents is part of it.
  return sameBytes(a.options, b.options) && field(a.options, 'capped')?.[1] !== 1;
}

/** The time-series collection of that name in a catalog, where it keeps measurements by the same fields. */
function seriesOf(
  ns: string,
  { options }: Pick<CollectionSchema, 'options'>,
  catalog: Catalog,
): CollectionSchema | undefined {
  const named = catalog.byNamespace.get(ns);
  return named?.kind === 'timeseries' && sameSeries(named.options, options) ? named : undefined;
}

function sameSeries(a: Uint8Array, b: Uint8Array): boolean {
  const part = (options: Uint8Array, name: string) => {
    const series = field(options, 'timeseries');
    return series && field(documentBytes(series), name);
  };
  return ['timeField', 'metaField'].every((name) => sameBytes(part(a, name), part(b, name)));
}

/**
 * The parent's collection that documents of this branch collection belong to.
 * @param uuid of the branch's collection; of a time-series collection that of its buckets
 */
export function parentCollection(
  uuid: string,
  base: Catalog,
  parent: Catalog,
  branch: Catalog,
): CollectionSchema | undefined {
  const same = parent.byUuid.get(uuid);
  const collection = branch.byStore.get(uuid);
  if (same || !collection) return same;
  if (collection.kind === 'timeseries') return seriesOf(collection.ns, collection, parent);
  const before = likelyOrigin(collection, base, branch);
  if (before?.uuid !== undefined) {
    const there = parent.byUuid.get(before.uuid);
    if (there) return there;
    // The parent made it anew.
    const named = parent.byNamespace.get(before.ns);
    const isNew = named?.uuid !== undefined && !base.byUuid.has(named.uuid);
    return isNew && areAlike(before, named) ? named : undefined;
  }
  // Created in the branch: the parent's of that name, unless that is one the branch dropped or renamed to make room.
  const named = parent.byNamespace.get(collection.ns);
  return named?.uuid === undefined || base.byUuid.has(named.uuid) ? undefined : named;
}

function created(there: CollectionSchema | undefined, collection: CollectionSchema): SchemaDelta[] {
  const { ns, uuid } = collection;
  const deltas: SchemaDelta[] = [];
  const place = { ns, uuid, parentNs: there?.ns };
  if (!there) {
    const branch = documentValue(collection.options);
    deltas.push({ ...place, type: 'collection', kind: 'added', branch, conflict: false });
  } else if (!sameBytes(there.options, collection.options)) {
    const sides = { parent: documentValue(there.options), branch: documentValue(collection.options) };
    deltas.push({ ...place, type: 'options', kind: 'added', ...sides, conflict: true });
  }
  deltas.push(...compareParts(place, undefined, there, collection));
  return deltas;
}

/** One item, however much it held: the whole definition tells what goes. */
function dropped(before: CollectionSchema, parent: Catalog): SchemaDelta[] {
  const there = parent.byUuid.get(before.uuid!);
  if (!there) return [];
  const sides = { base: documentValue(definitionOf(before)), parent: documentValue(definitionOf(there)) };
  const conflict = there.ns !== before.ns || !sameBytes(sides.base, sides.parent);
  const place = { ns: there.ns, parentNs: there.ns, uuid: before.uuid };
  return [{ ...place, type: 'collection', kind: 'removed', ...sides, conflict }];
}

function kept(before: CollectionSchema, there: CollectionSchema | undefined, now: CollectionSchema): SchemaDelta[] {
  const deltas: SchemaDelta[] = [];
  const place = { ns: now.ns, parentNs: there?.ns, uuid: before.uuid };
  const names = { base: stringValue(before.ns), branch: stringValue(now.ns), parent: there && stringValue(there.ns) };
  deltas.push(...threeWay({ ...place, type: 'rename' }, names));
  const options = {
    base: documentValue(before.options),
    branch: documentValue(now.options),
    parent: there && documentValue(there.options),
  };
  deltas.push(...threeWay({ ...place, type: 'options' }, options));
  deltas.push(...compareParts(place, before, there, now));
  return deltas;
}

/** Validation and indexes. */
function compareParts(
  place: Place,
  base: CollectionSchema | undefined,
  parent: CollectionSchema | undefined,
  branch: CollectionSchema,
): SchemaDelta[] {
  const value = (bytes: Uint8Array | undefined) => bytes && documentValue(bytes);
  const validation = {
    base: value(base?.validation),
    parent: value(parent?.validation),
    branch: value(branch.validation),
  };
  const deltas = threeWay({ ...place, type: 'validator' }, validation);
  for (const name of new Set([...branch.indexes.keys(), ...(base?.indexes.keys() ?? [])])) {
    const sides = {
      base: value(base?.indexes.get(name)),
      parent: value(parent?.indexes.get(name)),
      branch: value(branch.indexes.get(name)),
    };
    deltas.push(...threeWay({ ...place, type: 'index', name }, sides));
  }
  return deltas;
}

/** Views and time-series collections: they are what has their name. */
function compareNamed({ ns, kind }: CollectionSchema, base: Catalog, parent: Catalog, branch: Catalog): SchemaDelta[] {
  const [before, there, now] = [base, parent, branch].map((catalog) => {
    const found = catalog.byNamespace.get(ns);
    return found?.kind === kind ? found : undefined;
  });
  const value = (schema: CollectionSchema | undefined) => schema && documentValue(schema.options);
  const place = { ns, parentNs: there?.ns, uuid: undefined };
  const type = kind === 'timeseries' ? ('collection' as const) : ('view' as const);
  const deltas = threeWay({ ...place, type }, { base: value(before), parent: value(there), branch: value(now) });
  return now ? [...deltas, ...compareParts(place, before, there, now)] : deltas;
}

function threeWay(
  what: Place & Pick<SchemaDelta, 'type' | 'name'>,
  sides: { base: BsonValue | undefined; parent: BsonValue | undefined; branch: BsonValue | undefined },
): SchemaDelta[] {
  const { base, parent, branch } = sides;
  if (sameBytes(branch, base) || sameBytes(branch, parent)) return [];
  const kind = base === undefined ? 'added' : branch === undefined ? 'removed' : 'modified';
  return [{ ...what, kind, ...sides, conflict: !sameBytes(parent, base) }];
}
