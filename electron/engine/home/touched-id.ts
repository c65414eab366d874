import { createHash } from 'node:crypto';
import { keyOf } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';

/**
 * All ids are of one length, since the server orders binary values by length first: so rows stand by collection, and
 * within one by key. A longer key is cut, with its hash behind.
 */
const keyBytes = 32;

/**
 * The identity of a document across renames: its collection's UUID and its `_id`, equal where the server's `_id` index
 * holds two equal (1 and 1.0).
 */
export function touchedId(uuid: Uint8Array, key: BsonValue): Uint8Array {
  const canonical = keyOf(key);
  const id = new Uint8Array(16 + keyBytes);
  id.set(uuid);
  if (canonical.length < keyBytes) id.set(canonical, 16);
  else {
    id.set(canonical.subarray(0, keyBytes / 2), 16);
    id.set(
      createHash('sha256')
        .update(canonical)
        .digest()
        .subarray(0, keyBytes / 2),
      16 + keyBytes / 2,
    );
  }
  return id;
}

/** The lowest (`0x00`) or highest (`0xff`) id that a document of the collection may have. */
export function paddedId(uuid: Uint8Array, fill: number): Uint8Array {
  const id = new Uint8Array(16 + keyBytes).fill(fill);
  id.set(uuid);
  return id;
}

export function sameId(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
