import type { Bson, FieldPath, SchemaChange, Target } from '../../shared/api.ts';
import type { z } from 'zod';

/**
 * What of a change set is chosen, as "default + what differs": everything not named follows the default of what holds it.
 * Immutable; each change gives a new value, so that one step can be taken back by keeping the old one.
 */
export interface Selection {
  readonly schema: boolean;
  /** Schema items that differ from `schema`, by {@link schemaKey}. */
  readonly schemaDiffering: ReadonlyMap<string, SchemaItem>;
  readonly collections: boolean;
  /** Collections that differ from `collections`, or hold something that differs from them. */
  readonly byCollection: ReadonlyMap<string, CollectionSelection>;
}

/** What tells a schema item from the others. */
export type SchemaItem = Pick<z.infer<typeof SchemaChange>, 'ns' | 'type' | 'kind' | 'name'>;

interface CollectionSelection {
  readonly included: boolean;
  readonly documents: ReadonlyMap<Bson, DocumentSelection>;
}

interface DocumentSelection {
  readonly included: boolean;
  /** Fields that differ from `included`, by {@link fieldKey}. */
  readonly differing: ReadonlyMap<string, FieldPath>;
}

export type Tri = 'on' | 'off' | 'part';

export const everything: Selection = {
  schema: true,
  schemaDiffering: new Map(),
  collections: true,
  byCollection: new Map(),
};
export const nothing: Selection = { ...everything, schema: false, collections: false };

/** A path as a key: names and indexes stay apart, `["a.b"]` from `["a","b"]`. */
export function fieldKey(path: FieldPath): string {
  return JSON.stringify(path);
}

export function schemaKey({ ns, type, kind, name }: SchemaItem): string {
  return JSON.stringify([ns, type, kind, name]);
}

/** All schema items at once. */
export function withSchema(selection: Selection, included: boolean): Selection {
  return { ...selection, schema: included, schemaDiffering: new Map() };
}

export function withSchemaItem(selection: Selection, item: SchemaItem, included: boolean): Selection {
  const schemaDiffering = new Map(selection.schemaDiffering);
  if (included === selection.schema) schemaDiffering.delete(schemaKey(item));
  else schemaDiffering.set(schemaKey(item), item);
  return { ...selection, schemaDiffering };
}

export function hasSchemaItem(selection: Selection, item: SchemaItem): boolean {
  return selection.schema !== selection.schemaDiffering.has(schemaKey(item));
}

/** The state of several schema items together. */
export function schemaState(selection: Selection, items: readonly SchemaItem[]): Tri {
  const chosen = items.filter((item) => hasSchemaItem(selection, item)).length;
  if (chosen === 0) return 'off';
  return chosen === items.length ? 'on' : 'part';
}

/** All collections at once; what differed inside is forgotten. */
export function withCollections(selection: Selection, included: boolean): Selection {
  return { ...selection, collections: included, byCollection: new Map() };
}

/** Includes or leaves out a whole collection; what differed inside is forgotten. */
export function withCollection(selection: Selection, ns: string, included: boolean): Selection {
  return withEntry(selection, ns, { included, documents: new Map() });
}

/** Includes or leaves out a whole document; its fields follow. */
export function withDocument(selection: Selection, ns: string, id: Bson, included: boolean): Selection {
  const collection = collectionOf(selection, ns);
  const documents = new Map(collection.documents);
  if (included === collection.included) documents.delete(id);
  else documents.set(id, { included, differing: new Map() });
  return withEntry(selection, ns, { ...collection, documents });
}

/**
 * Includes or leaves out fields of a document. `all` are the paths of every changed field of it: when each of them has come to
 * differ from the document's default, the document as a whole is turned over.
 */
export function withFields(
  selection: Selection,
  ns: string,
  id: Bson,
  paths: readonly FieldPath[],
  included: boolean,
  all: readonly FieldPath[],
): Selection {
  const collection = collectionOf(selection, ns);
  const before = documentOf(collection, id);
  const differing = new Map(before.differing);
  for (const path of paths) {
    if (included === before.included) differing.delete(fieldKey(path));
    else differing.set(fieldKey(path), path);
  }
  if (all.every((path) => differing.has(fieldKey(path)))) {
    return withDocument(selection, ns, id, !before.included);
  }
  const documents = new Map(collection.documents);
  if (differing.size === 0 && before.included === collection.included) documents.delete(id);
  else documents.set(id, { included: before.included, differing });
  return withEntry(selection, ns, { ...collection, documents });
}

export function hasField(selection: Selection, ns: string, id: Bson, path: FieldPath): boolean {
  const document = documentOf(collectionOf(selection, ns), id);
  return document.included !== document.differing.has(fieldKey(path));
}

export function documentState(selection: Selection, ns: string, id: Bson): Tri {
  const document = documentOf(collectionOf(selection, ns), id);
  if (document.differing.size > 0) return 'part';
  return document.included ? 'on' : 'off';
}

export function collectionState(selection: Selection, ns: string): Tri {
  const { included, documents } = collectionOf(selection, ns);
  if (documents.size > 0) return 'part';
  return included ? 'on' : 'off';
}

/** The state of several collections together. */
export function collectionsState(selection: Selection, namespaces: readonly string[]): Tri {
  const states = new Set(namespaces.map((ns) => collectionState(selection, ns)));
  if (states.size === 1) return [...states][0] ?? 'off';
  return states.size === 0 ? 'off' : 'part';
}

/** How many of a document's changed fields are in. */
export function chosenFields(selection: Selection, ns: string, id: Bson, paths: readonly FieldPath[]): number {
  return paths.filter((path) => hasField(selection, ns, id, path)).length;
}

/**
 * How many documents of a collection are in, of `total` that can be chosen. A document of which some fields are in counts.
 * `counted` says whether a document that differs is one of the `total` (a conflict nobody decided is not).
 */
export function chosenDocuments(
  selection: Selection,
  ns: string,
  total: number,
  counted: (id: Bson) => boolean = () => true,
): number {
  const { included, documents } = collectionOf(selection, ns);
  let chosen = included ? total : 0;
  for (const [id, document] of documents) {
    if (!counted(id)) continue;
    const isIn = document.included || document.differing.size > 0;
    if (isIn !== included) chosen += isIn ? 1 : -1;
  }
  return Math.max(0, chosen);
}

/** Documents of which only some fields are in: what their other fields are must be known to plan exactly. */
export function partialDocuments(selection: Selection): { readonly ns: string; readonly id: Bson }[] {
  const found: { ns: string; id: Bson }[] = [];
  for (const [ns, { documents }] of selection.byCollection) {
    for (const [id, { differing }] of documents) if (differing.size > 0) found.push({ ns, id });
  }
  return found;
}

/** Every document that the selection names by itself. */
export function namedDocuments(selection: Selection): { readonly ns: string; readonly id: Bson }[] {
  return [...selection.byCollection].flatMap(([ns, { documents }]) => [...documents.keys()].map((id) => ({ ns, id })));
}

/** Forgets named documents that `isThere` denies: what is no change any more must not count as chosen. */
export function keepNamed(selection: Selection, isThere: (ns: string, id: Bson) => boolean): Selection {
  let kept = selection;
  for (const { ns, id } of namedDocuments(selection)) {
    if (isThere(ns, id)) continue;
    const collection = collectionOf(kept, ns);
    const documents = new Map(collection.documents);
    documents.delete(id);
    kept = withEntry(kept, ns, { ...collection, documents });
  }
  return kept;
}

export interface PlanTargets {
  readonly only?: Target[];
  readonly except?: Target[];
  readonly documentsOnly?: boolean;
}

/**
 * The selection as a plan takes it: `only` names what is in, `except` what of that is not. `namespaces` are the collections
 * with changed documents, `items` the schema changes; `fieldsOf` gives the paths of the changed fields of a partly chosen
 * document. A target that names a collection alone means its documents and its schema changes.
 */
export function planTargets(
  selection: Selection,
  namespaces: readonly string[],
  items: readonly SchemaItem[],
  fieldsOf: (ns: string, id: Bson) => readonly FieldPath[],
): PlanTargets {
  const only: Target[] = [];
  const except: Target[] = [];
  for (const ns of namespaces) {
    const collection = collectionOf(selection, ns);
    if (collection.included) only.push({ ns });
    for (const [id, document] of collection.documents) {
      const paths = fieldsOf(ns, id);
      const isIn = (path: FieldPath): boolean => document.included !== document.differing.has(fieldKey(path));
      if (document.differing.size === 0) (document.included ? only : except).push({ ns, id });
      else if (collection.included)
        except.push(...paths.filter((path) => !isIn(path)).map((path) => ({ ns, id, path })));
      else only.push(...paths.filter(isIn).map((path) => ({ ns, id, path })));
    }
  }
  const everyCollection = namespaces.every((ns) => collectionOf(selection, ns).included);
  const noSchema = items.length > 0 && schemaState(selection, items) === 'off';
  if (!noSchema) {
    const isNamed = (ns: string): boolean =>
      everyCollection || (namespaces.includes(ns) && collectionOf(selection, ns).included);
    for (const item of items) {
      const isIn = hasSchemaItem(selection, item);
      if (isIn && !isNamed(item.ns)) only.push(schemaTarget(item));
      if (!isIn && isNamed(item.ns)) except.push(schemaTarget(item));
    }
  }
  return {
    ...(everyCollection ? {} : { only }),
    ...(except.length === 0 ? {} : { except }),
    ...(noSchema || (items.length === 0 && !selection.schema) ? { documentsOnly: true } : {}),
  };
}

/** A schema item as a plan names it. */
export function schemaTarget({ ns, type, kind, name }: SchemaItem): Target {
  return { ns, schema: { type, kind, ...(name === undefined ? {} : { name }) } };
}

function collectionOf(selection: Selection, ns: string): CollectionSelection {
  return selection.byCollection.get(ns) ?? { included: selection.collections, documents: new Map() };
}

function documentOf(collection: CollectionSelection, id: Bson): DocumentSelection {
  return collection.documents.get(id) ?? { included: collection.included, differing: new Map() };
}

function withEntry(selection: Selection, ns: string, entry: CollectionSelection): Selection {
  const byCollection = new Map(selection.byCollection);
  if (entry.included === selection.collections && entry.documents.size === 0) byCollection.delete(ns);
  else byCollection.set(ns, entry);
  return { ...selection, byCollection };
}
