import { BSON, type Document } from 'mongodb';
import { toEjson, parseId } from '../../shared/bson/ejson.ts';
import { documentValue, fromBase64, toBase64 } from '../../shared/bson/value.ts';

/** A value as the API carries it, as canonical Extended JSON parsed. */
export function ejson(value: string | undefined): unknown {
  return value === undefined ? undefined : (JSON.parse(toEjson(fromBase64(value))) as unknown);
}

/** An `_id` given as Extended JSON text (or plain text), as the API takes it. */
export function id(text: string): string {
  return toBase64(parseId(text));
}

/** The document with this `_id`, of whatever type: a filter, or how a document begins. Past the driver's types. */
export function one(id: unknown): { _id: never } {
  return { _id: id as never };
}

/** A document as the API carries it. */
export function bson(document: Document): string {
  return toBase64(documentValue(BSON.serialize(document, { ignoreUndefined: false })));
}
