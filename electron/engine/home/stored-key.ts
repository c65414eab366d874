import { documentValue, sameBytes, Type, valueOf, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, rawElement } from '../../../shared/bson/walk.ts';

const zeroTime = valueOf(Type.Timestamp, new Uint8Array(8));
/** No `_id` looks like this: the server takes none with a name that begins with a dollar. */
const standsForIt = documentValue(buildDocument([rawElement('$zeroTime', valueOf(Type.Null, new Uint8Array()))]));

/**
 * The `_id` of a changed document as the change's record holds it: as it is, but for a zero timestamp, in whose place the
 * server would put the time, as it does in any field at the top of what is inserted but `_id` (seen on 6.0.5).
 */
export function storedKey(key: BsonValue): BsonValue {
  return sameBytes(key, zeroTime) ? standsForIt : key;
}

/** The `_id` that a record holds. */
export function keyFrom(stored: BsonValue): BsonValue {
  return sameBytes(stored, standsForIt) ? zeroTime : stored;
}
