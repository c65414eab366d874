import { documentBytes, documentValue, fromBase64, Type, valueOf } from '../../../shared/bson/value.ts';
import {
  buildArray,
  buildDocument,
  elements,
  elementsOf,
  field,
  rawElement,
  valueSlice,
} from '../../../shared/bson/walk.ts';
import { text, validationFields, type CollectionSchema } from './catalog.ts';

/**
 * All that makes a collection anew, in one document: its create options, its validation, its `indexes` by name. A view's
 * are its options alone.
 */
export function definitionOf(collection: CollectionSchema): Uint8Array {
  const indexes = [...collection.indexes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, spec]) => documentValue(spec));
  return buildDocument([
    ...elements(collection.options),
    ...(collection.validation ? elements(collection.validation) : []),
    ...(indexes.length === 0 ? [] : [rawElement('indexes', valueOf(Type.Array, buildArray(indexes)))]),
  ]);
}

/** Takes a {@link definitionOf} apart again. */
export function parseDefinition(definition: Uint8Array): Pick<CollectionSchema, 'options' | 'validation' | 'indexes'> {
  const parts = elements(definition);
  const validation = parts.filter(({ name }) => validationFields.has(name));
  const list = parts.find(({ name }) => name === 'indexes')?.value;
  const specs = list ? elementsOf(valueSlice(list)).map(({ value }) => documentBytes(value)) : [];
  return {
    options: buildDocument(parts.filter(({ name }) => !validationFields.has(name) && name !== 'indexes')),
    validation: validation.length === 0 ? undefined : buildDocument(validation),
    indexes: new Map(specs.map((spec) => [text(field(spec, 'name')), spec])),
  };
}

/** One thing in a catalog and how it is defined; without a definition it is not there. Of a rename: the new name. */
export interface SchemaPart {
  readonly type: 'collection' | 'options' | 'validator' | 'view' | 'index' | 'rename';
  readonly ns: string;
  readonly uuid?: string | undefined;
  /** The index's name. */
  readonly name?: string | undefined;
  /** Where a rename leads. */
  readonly to?: string | undefined;
  /** A document value in base64: a {@link definitionOf}, options, a validation, or an index's specification. */
  readonly definition?: string | undefined;
}

/** A catalog as it becomes step by step. */
export type CatalogModel = Map<string, CollectionSchema>;

/** Makes the part what it says. What belongs to a collection that is not there is passed over. */
export function setPart(catalog: CatalogModel, part: SchemaPart): void {
  const definition = part.definition === undefined ? undefined : documentBytes(fromBase64(part.definition));
  const there = catalog.get(part.ns);
  if (part.type === 'collection' || part.type === 'view') {
    if (definition) catalog.set(part.ns, madeOf(part, definition));
    else catalog.delete(part.ns);
    return;
  }
  if (!there) return;
  if (part.type === 'rename') {
    if (part.to === undefined) return;
    catalog.delete(part.ns);
    catalog.set(part.to, { ...there, ...namesOf(part.to) });
  } else if (part.type === 'index') {
    const indexes = new Map(there.indexes);
    if (definition) indexes.set(part.name ?? '', definition);
    else indexes.delete(part.name ?? '');
    catalog.set(part.ns, { ...there, indexes });
  } else if (part.type === 'validator') catalog.set(part.ns, { ...there, validation: definition });
  else catalog.set(part.ns, { ...there, options: definition ?? there.options });
}

function madeOf({ type, ns, uuid }: SchemaPart, definition: Uint8Array): CollectionSchema {
  const names = namesOf(ns);
  if (type === 'view') {
    return {
      ...names,
      kind: 'view',
      uuid: undefined,
      options: definition,
      validation: undefined,
      indexes: new Map(),
      images: false,
    };
  }
  const kind = field(definition, 'timeseries') ? 'timeseries' : 'collection';
  return {
    ...names,
    kind,
    uuid: kind === 'collection' ? uuid : undefined,
    ...parseDefinition(definition),
    images: kind === 'collection',
  };
}

export function namesOf(ns: string): Pick<CollectionSchema, 'ns' | 'db' | 'name'> {
  const dot = ns.indexOf('.');
  return { ns, db: ns.slice(0, dot), name: ns.slice(dot + 1) };
}
