import { BSON, MongoServerError, type Document } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { documentBytes, documentValue, sameBytes, Type, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field } from '../../../shared/bson/walk.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';

/** A unique index of a collection, as its definition in the catalog tells it. */
export interface UniqueIndex {
  readonly ns: string;
  readonly name: string;
  readonly spec: Uint8Array;
  readonly paths: readonly string[];
  readonly sparse: boolean;
  /** Only documents that match it are in the index. */
  readonly partial: Document | undefined;
  readonly collation: Document;
}

/** Undefined where the index is not unique. */
export function uniqueIndex(ns: string, name: string, spec: Uint8Array): UniqueIndex | undefined {
  const key = field(spec, 'key');
  if (!isTrue(field(spec, 'unique')) || key?.[0] !== Type.Object) return undefined;
  const filter = field(spec, 'partialFilterExpression');
  const collation = field(spec, 'collation');
  return {
    ns,
    name,
    spec,
    paths: elements(documentBytes(key)).map((part) => part.name),
    sparse: isTrue(field(spec, 'sparse')),
    partial: filter && driverValue(filter),
    // Said in any case: a query would take the collection's own otherwise.
    collation: collation?.[0] === Type.Object ? BSON.deserialize(documentBytes(collation)) : { locale: 'simple' },
  };
}

/** Numbers count as the server takes them: `unique: 1` is true. */
function isTrue(value: BsonValue | undefined): boolean {
  return value !== undefined && value.subarray(1).some((byte) => byte !== 0);
}

/** Of a document what the index looks at, with its `_id`: all of it where a filter decides. */
export function indexedPart(document: Uint8Array, { paths, partial }: UniqueIndex): Uint8Array {
  if (partial) return document;
  const names = new Set(['_id', ...paths.map((path) => path.split('.')[0]!)]);
  return buildDocument(elements(document).filter((part) => names.has(part.name)));
}

/** Whether a write could change the document's keys in the index. */
export function changesKeys(
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
  index: UniqueIndex,
): boolean {
  if (!before || !after) return before !== after;
  return !sameBytes(indexedPart(before, index), indexedPart(after, index));
}

/**
 * A filter for every document that could hold a key of one of these; it may find others too. Undefined where none of them is
 * in the index.
 */
export function candidateFilter(documents: readonly Uint8Array[], index: UniqueIndex): Document | undefined {
  const reached = valuesOf(documents, index);
  if (!reached) return undefined;
  const clauses = index.paths.map((path, at) => {
    const values = [...reached[at]!.values()];
    // In a list a regular expression would be searched by, and undefined is refused.
    const plain = values.filter((value) => value[0] !== Type.Regex && value[0] !== Type.Undefined);
    const clause: Document[] = [{ [path]: { $in: plain.map(driverValue) } }];
    for (const value of values) {
      if (value[0] === Type.Regex) clause.push({ [path]: { $eq: driverValue(value) } });
      if (value[0] === Type.Undefined) clause.push({ [path]: { $type: 'undefined' } }, { [path]: [] });
    }
    return clause.length === 1 ? clause[0]! : { $or: clause };
  });
  return { $and: [...(index.partial ? [index.partial] : []), ...clauses] };
}

/**
 * Of each document which of the others could hold a key of it, by their places in the list: by values, so of an index without
 * a collation only. Finds all that do, and others too.
 */
export function sharers(
  documents: readonly Uint8Array[],
  others: readonly Uint8Array[],
  index: UniqueIndex,
): (readonly number[])[] {
  const holders = index.paths.map(() => new Map<string, number[]>());
  others.forEach((other, place) => {
    valuesOf([other], index)?.forEach((values, at) => {
      for (const text of values.keys()) {
        const places = holders[at]!.get(text);
        if (places) places.push(place);
        else holders[at]!.set(text, [place]);
      }
    });
  });
  return documents.map((document) => {
    const found = valuesOf([document], index)?.map((values, at) => {
      return new Set([...values.keys()].flatMap((text) => holders[at]!.get(text) ?? []));
    });
    const [first, ...rest] = found ?? [];
    return first ? [...first].filter((place) => rest.every((places) => places.has(place))) : [];
  });
}

/**
 * Each path's values in these documents, by {@link keyText}. Undefined where none of them is in the index: what has no value
 * is not in a sparse one; a null that is written out is found by its own.
 */
function valuesOf(documents: readonly Uint8Array[], index: UniqueIndex): Map<string, BsonValue>[] | undefined {
  const reached = index.paths.map((path) => {
    const values = new Map<string, BsonValue>();
    for (const document of documents) reach(documentValue(document), path.split('.'), values);
    return values;
  });
  return index.sparse && reached.every((values) => [...values.values()].every(isMissing)) ? undefined : reached;
}

/** Stands for a field that is not there. */
const missing: BsonValue = new Uint8Array([Type.Null]);
const emptyList: BsonValue = new Uint8Array([Type.Undefined]);

function isMissing(value: BsonValue): boolean {
  return value === missing;
}

/** Every value that a path leads to, through arrays of objects and by position; an array's elements and itself. */
function reach(value: BsonValue | undefined, path: readonly string[], into: Map<string, BsonValue>): void {
  const add = (found: BsonValue) => {
    const key = keyText(found);
    if (!into.has(key) || isMissing(into.get(key)!)) into.set(key, found);
  };
  const [step, ...rest] = path;
  if (value === undefined) return add(missing);
  const inner = value[0] === Type.Array ? elements(value.subarray(1)) : [];
  if (step === undefined) {
    add(value);
    for (const element of inner) add(element.value);
    if (value[0] === Type.Array && inner.length === 0) add(emptyList);
    return;
  }
  if (value[0] === Type.Object) return reach(field(value.subarray(1), step), rest, into);
  add(missing);
  for (const element of inner) {
    if (element.value[0] === Type.Object) reach(element.value, path, into);
    if (element.name === step) reach(element.value, rest, into);
  }
}

/** Documents of a branch that could hold a key of one of these. */
export async function findCandidates(
  side: Pick<Side, 'client'>,
  documents: readonly Uint8Array[],
  index: UniqueIndex,
  indexed: boolean,
): Promise<Uint8Array[]> {
  const filter = candidateFilter(documents, index);
  if (!filter) return [];
  const [db, collection] = splitNamespace(index.ns);
  const query = { collection, filter, collation: index.collation };
  const client = side.client.db(db);
  if (!indexed) return rawFindAll(client, query);
  const key = driverValue(field(index.spec, 'key')!);
  return rawFindAll(client, { ...query, hint: key }).catch((error: unknown) => {
    // The server may see no way to answer from this index.
    if (error instanceof MongoServerError) return rawFindAll(client, query);
    throw error;
  });
}
