import { BSON } from 'mongodb';
import { buildDocument, elements, elementsOf, rawElement, valueSlice } from '../../../shared/bson/walk.ts';
import { type BsonValue, Type } from '../../../shared/bson/value.ts';

/**
 * A value in a form that the driver serializes back to the same bytes inside a command: objects as Maps, which keep the
 * order of names such as "10" and "2", leaves as BSON classes, which keep number types. Duplicate names do not survive;
 * the server takes none in what this is for: keys, options and index specifications.
 */
export function commandValue(value: BsonValue): unknown {
  if (value[0] === Type.Object) return commandMap(value.subarray(1));
  if (value[0] === Type.Array) return elementsOf(valueSlice(value)).map((element) => commandValue(element.value));
  const document = buildDocument([rawElement('v', value)]);
  return BSON.deserialize(document, { promoteValues: false, promoteLongs: false, bsonRegExp: true })['v'] as unknown;
}

/** {@link commandValue} of a document's bytes. */
export function commandMap(document: Uint8Array): Map<string, unknown> {
  return new Map(elements(document).map(({ name, value }) => [name, commandValue(value)]));
}
