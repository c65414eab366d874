import type { Binary, Db } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { driverValue, rawFind } from '../mongod/raw.ts';

/** One collection on one server, by its UUID: what takes its name meanwhile is another. */
export interface Place {
  readonly db: Db;
  readonly uuid: Binary;
}

/** A document that is not byte for byte the same on both sides; a side that does not have it is left out. */
export interface Pair {
  readonly key: BsonValue;
  readonly a?: Uint8Array;
  readonly b?: Uint8Array;
}

/** What was looked at so far: documents of the first side, and bytes of both. */
export interface Tally {
  documents: number;
  bytes: number;
}

const batchSize = 250;

/**
 * Reads two collections side by side in the order of their `_id` index and yields what differs, by bytes, in groups.
 * Memory holds a batch of each (at most 16 MB a reply), whatever the collections weigh. Both servers order keys alike, so
 * equal stretches cost one comparison a document; keys are looked at only where bytes differ.
 * @param b undefined: there is nothing to compare with, every document differs
 */
export async function* differingPairs(a: Place, b: Place | undefined, tally: Tally): AsyncGenerator<Pair[]> {
  let pending: readonly Uint8Array[] | undefined;
  let first = true;
  for await (const batch of rawFind(a.db, { collection: a.uuid, filter: {}, ...byId, batchSize })) {
    if (pending) {
      yield* againstRange(pending, b, first ? undefined : idOf(pending[0]!), idOf(batch[0]!), tally);
      first = false;
    }
    pending = batch;
  }
  const last = pending ?? [];
  yield* againstRange(last, b, first ? undefined : idOf(last[0]!), undefined, tally);
}

const byId = { sort: { _id: 1 }, hint: { _id: 1 } } as const;

/** One batch of the first side against what the second has from its first key up to the next batch's. */
async function* againstRange(
  batch: readonly Uint8Array[],
  b: Place | undefined,
  from: BsonValue | undefined,
  to: BsonValue | undefined,
  tally: Tally,
): AsyncGenerator<Pair[]> {
  tally.documents += batch.length;
  for (const document of batch) tally.bytes += document.length;
  const merge = new Merge(batch);
  if (b) {
    // Index bounds, not a filter: those reach across types.
    const bounds = { ...(from && { min: { _id: driverValue(from) } }), ...(to && { max: { _id: driverValue(to) } }) };
    for await (const others of rawFind(b.db, { collection: b.uuid, filter: {}, ...byId, ...bounds, batchSize })) {
      for (const other of others) {
        tally.bytes += other.length;
        merge.take(other);
      }
      if (merge.found.length > 0) yield merge.found.splice(0);
    }
  }
  merge.end();
  if (merge.found.length > 0) yield merge.found;
}

/** Walks one batch along documents that come in the same order. */
class Merge {
  readonly found: Pair[] = [];
  private readonly batch: readonly Uint8Array[];
  private at = 0;
  /** Where each key of the batch stands; made at the first difference. */
  private places: Map<string, number> | undefined;

  constructor(batch: readonly Uint8Array[]) {
    this.batch = batch;
  }

  take(other: Uint8Array): void {
    if (sameBytes(this.batch[this.at], other)) {
      this.at += 1;
      return;
    }
    this.places ??= new Map(this.batch.map((document, index) => [keyText(idOf(document)), index]));
    const key = idOf(other);
    const place = this.places.get(keyText(key));
    if (place === undefined || place < this.at) {
      this.found.push({ key, b: other });
      return;
    }
    this.skipTo(place);
    const own = this.batch[place]!;
    if (!sameBytes(own, other)) this.found.push({ key, a: own, b: other });
    this.at = place + 1;
  }

  end(): void {
    this.skipTo(this.batch.length);
  }

  private skipTo(place: number): void {
    for (; this.at < place; this.at += 1) {
      const own = this.batch[this.at]!;
      this.found.push({ key: idOf(own), a: own });
    }
  }
}

function idOf(document: Uint8Array): BsonValue {
  return field(document, '_id')!;
}
