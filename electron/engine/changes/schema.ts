import type { ChangeKind } from '../../../shared/api.ts';
import { documentValue, sameBytes, stringValue, type BsonValue } from '../../../shared/bson/value.ts';
import type { Catalog, CollectionSchema } from './catalog.ts';

/** A difference between two catalogs' moments, three-way like a document's. */
export interface SchemaDelta {
  readonly type: 'collection' | 'options' | 'validator' | 'view' | 'index' | 'rename';
  readonly kind: ChangeKind;
  readonly ns: string;
  /** The index's name. */
  readonly name?: string;
  /** How many documents a created or dropped collection holds. */
  readonly documents?: number;
  readonly base?: BsonValue | undefined;
  readonly parent?: BsonValue | undefined;
  readonly branch?: BsonValue | undefined;
  readonly conflict: boolean;
}

/**
 * What a branch changed of collections, views, validators and indexes, against its base; conflicts where the parent
 * changed the same thing differently. What both did alike is not listed.
 */
export function compareSchema(base: Catalog, parent: Catalog, branch: Catalog): SchemaDelta[] {
  const deltas: SchemaDelta[] = [];
  for (const collection of branch.byNamespace.values()) {
    const before = collection.uuid === undefined ? undefined : base.byUuid.get(collection.uuid);
    if (collection.uuid === undefined) deltas.push(...compareView(collection.ns, base, parent, branch));
    else if (!before) deltas.push(...created(collection, base, parent, branch));
    else deltas.push(...kept(before, parent.byUuid.get(collection.uuid), collection));
  }
  for (const before of base.byNamespace.values()) {
    if (before.uuid === undefined) {
      if (!branch.byNamespace.has(before.ns)) deltas.push(...compareView(before.ns, base, parent, branch));
    } else if (!branch.byUuid.has(before.uuid)) deltas.push(...dropped(before, parent));
  }
  return deltas;
}

/** The parent's collection that documents of this branch collection belong to. */
export function parentCollection(
  uuid: string,
  base: Catalog,
  parent: Catalog,
  branch: Catalog,
): CollectionSchema | undefined {
  const same = parent.byUuid.get(uuid);
  if (same || base.byUuid.has(uuid)) return same;
  // Created in the branch: the parent's of that name, unless that is one the branch dropped to make room.
  const name = branch.byUuid.get(uuid)?.ns;
  const named = name === undefined ? undefined : parent.byNamespace.get(name);
  if (named?.uuid === undefined) return undefined;
  return base.byUuid.has(named.uuid) && !branch.byUuid.has(named.uuid) ? undefined : named;
}

function created(collection: CollectionSchema, base: Catalog, parent: Catalog, branch: Catalog): SchemaDelta[] {
  const { ns } = collection;
  const there = parentCollection(collection.uuid!, base, parent, branch);
  const deltas: SchemaDelta[] = [];
  if (!there) {
    deltas.push({ type: 'collection', kind: 'added', ns, branch: documentValue(collection.options), conflict: false });
  } else if (!sameBytes(there.options, collection.options)) {
    const sides = { parent: documentValue(there.options), branch: documentValue(collection.options) };
    deltas.push({ type: 'options', kind: 'added', ns, ...sides, conflict: true });
  }
  deltas.push(...compareParts(ns, undefined, there, collection));
  return deltas;
}

function dropped(before: CollectionSchema, parent: Catalog): SchemaDelta[] {
  const there = parent.byUuid.get(before.uuid!);
  if (!there) return [];
  const unchanged = there.ns === before.ns && sameBytes(there.options, before.options);
  const sides = { base: documentValue(before.options), parent: documentValue(there.options) };
  return [{ type: 'collection', kind: 'removed', ns: there.ns, ...sides, conflict: !unchanged }];
}

function kept(before: CollectionSchema, there: CollectionSchema | undefined, now: CollectionSchema): SchemaDelta[] {
  const deltas: SchemaDelta[] = [];
  const names = { base: stringValue(before.ns), branch: stringValue(now.ns), parent: there && stringValue(there.ns) };
  deltas.push(...threeWay({ type: 'rename', ns: now.ns }, names));
  const options = {
    base: documentValue(before.options),
    branch: documentValue(now.options),
    parent: there && documentValue(there.options),
  };
  deltas.push(...threeWay({ type: 'options', ns: now.ns }, options));
  deltas.push(...compareParts(now.ns, before, there, now));
  return deltas;
}

/** Validation and indexes. */
function compareParts(
  ns: string,
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
  const deltas = threeWay({ type: 'validator', ns }, validation);
  for (const name of new Set([...branch.indexes.keys(), ...(base?.indexes.keys() ?? [])])) {
    const sides = {
      base: value(base?.indexes.get(name)),
      parent: value(parent?.indexes.get(name)),
      branch: value(branch.indexes.get(name)),
    };
    deltas.push(...threeWay({ type: 'index', ns, name }, sides));
  }
  return deltas;
}

function compareView(ns: string, base: Catalog, parent: Catalog, branch: Catalog): SchemaDelta[] {
  const value = (catalog: Catalog) => {
    const view = catalog.byNamespace.get(ns);
    return view && view.uuid === undefined ? documentValue(view.options) : undefined;
  };
  const kind = branch.byNamespace.get(ns)?.kind ?? base.byNamespace.get(ns)?.kind;
  const type = kind === 'timeseries' ? ('collection' as const) : ('view' as const);
  return threeWay({ type, ns }, { base: value(base), parent: value(parent), branch: value(branch) });
}

function threeWay(
  what: Pick<SchemaDelta, 'type' | 'ns' | 'name'>,
  sides: { base: BsonValue | undefined; parent: BsonValue | undefined; branch: BsonValue | undefined },
): SchemaDelta[] {
  const { base, parent, branch } = sides;
  if (sameBytes(branch, base) || sameBytes(branch, parent)) return [];
  const kind = base === undefined ? 'added' : branch === undefined ? 'removed' : 'modified';
  return [{ ...what, kind, ...sides, conflict: !sameBytes(parent, base) }];
}
