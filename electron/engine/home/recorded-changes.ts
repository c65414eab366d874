import { BSON, Binary, type ClientSession, type Collection, type Db, type Document, type Timestamp } from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { driverValue, rawFind, rawFindAll } from '../mongod/raw.ts';
import { decodeChange, type DecodedChange, type EncodedChange } from './encode.ts';
import type { ChangeRecord, TouchedRecord } from './records.ts';
import { requiredWrite } from './required-write.ts';
import { cutIntoPieces } from './spilled.ts';
import { storedKey } from './stored-key.ts';
import { sameId, touchedId } from './touched-id.ts';

/** A page ends behind the change that passes this. */
const pageBytes = 16 * 1024 * 1024;

/** What one actor wrote. */
interface ActorWrites {
  readonly lastAt: Date;
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
}

/** The changes of one branch in their order, each under its sequence. Images too large for a document are kept in pieces. */
export class RecordedChanges {
  private readonly db: Db;
  readonly collection: Collection;
  readonly pieces: Collection;

  constructor(collection: Collection, pieces: Collection, db: Db) {
    this.collection = collection;
    this.pieces = pieces;
    this.db = db;
  }

  /** Adds changes behind the last. */
  async write(changes: readonly EncodedChange[], session: ClientSession): Promise<void> {
    if (changes.length === 0) return;
    const documents = changes.map(({ document }) => document);
    const pieces = changes.flatMap(piecesOf);
    const { collectionName } = this.collection;
    await requiredWrite(this.db, { insert: collectionName }, { name: 'documents', items: documents }, session);
    if (pieces.length === 0) return;
    await requiredWrite(this.db, { insert: this.pieces.collectionName }, { name: 'documents', items: pieces }, session);
  }

  /**
   * Changes with `after < seq < before`, ascending. `fromEnd` takes the newest `limit` of them. Fewer come where they are
   * large: only an empty page is the end.
   */
  async page(query: { after?: number; before?: number; limit: number; fromEnd?: boolean }): Promise<ChangeRecord[]> {
    const range: Document = { $gt: query.after ?? 0 };
    if (query.before !== undefined) range['$lt'] = query.before;
    const records: ChangeRecord[] = [];
    let bytes = 0;
    const pages = rawFind(this.db, {
      collection: this.collection.collectionName,
      filter: { _id: range },
      sort: { _id: query.fromEnd ? -1 : 1 },
      limit: query.limit,
    });
    for await (const batch of pages) {
      for (const row of batch) {
        // One by one: what is stored in pieces is large, however short its row.
        const [record] = (await this.whole([decodeChange(row)])) as [ChangeRecord];
        records.push(record);
        bytes += Math.max(row.length, (record.before?.length ?? 0) + (record.after?.length ?? 0));
        if (bytes > pageBytes) return query.fromEnd ? records.reverse() : records;
      }
    }
    return query.fromEnd ? records.reverse() : records;
  }

  /** Which documents were changed after `seq`, oldest first, a batch at a time, without images. */
  async *keysAfter(seq: number): AsyncGenerator<{ seq: number; uuid: Uint8Array; key: BsonValue }[]> {
    const query = {
      collection: this.collection.collectionName,
      filter: { _id: { $gt: seq } },
      projection: { u: 1, k: 1 },
      sort: { _id: 1 },
      batchSize: 5_000,
    };
    for await (const batch of rawFind(this.db, query)) {
      yield batch.map(decodeChange).flatMap(({ seq, uuid, key }) => (uuid && key ? [{ seq, uuid, key }] : []));
    }
  }

  /** The changes with these sequences, by sequence. */
  async bySeq(
    seqs: readonly number[],
    sides?: { readonly before?: boolean; readonly after?: boolean },
  ): Promise<Map<number, ChangeRecord>> {
    if (seqs.length === 0) return new Map();
    const projection: Document = {};
    if (sides && !sides.before) projection['b'] = 0;
    if (sides && !sides.after) projection['a'] = 0;
    const found = await rawFindAll(this.db, {
      collection: this.collection.collectionName,
      filter: { _id: { $in: seqs } },
      projection,
    });
    const records = await this.whole(found.map(decodeChange), sides);
    return new Map(records.map((record) => [record.seq, record]));
  }

  /** Everything that happened to one touched document, oldest first. */
  async ofDocument({ uuid, key, first, last }: TouchedRecord, limit: number): Promise<ChangeRecord[]> {
    const wanted = touchedId(uuid, key);
    const records: ChangeRecord[] = [];
    const query = {
      collection: this.collection.collectionName,
      filter: { _id: { $gte: first, $lte: last }, u: new Binary(uuid, 4) },
      sort: { _id: 1 },
    };
    for await (const batch of rawFind(this.db, query)) {
      for (const bytes of batch) {
        const record = decodeChange(bytes);
        if (record.key && sameId(touchedId(uuid, record.key), wanted)) records.push(...(await this.whole([record])));
        if (records.length >= limit) return records;
      }
    }
    return records;
  }

  /** The first change of a touched document after `seq`. */
  async firstAfter({ uuid, key, last }: TouchedRecord, seq: number): Promise<ChangeRecord | undefined> {
    const [found] = await rawFindAll(this.db, {
      collection: this.collection.collectionName,
      filter: { _id: { $gt: seq, $lte: last }, u: new Binary(uuid, 4), k: { $eq: driverValue(storedKey(key)) } },
      sort: { _id: 1 },
      limit: 1,
    });
    if (!found) return undefined;
    return (await this.whole([decodeChange(found)]))[0];
  }

  /** Whether the history does not know everything that happened after `seq`. */
  async hasGapAfter(seq: number): Promise<boolean> {
    const gap = { _id: { $gt: seq as never }, o: 'gap', k: { $exists: false }, 'd.removed': { $ne: true } };
    return (await this.collection.findOne(gap, { projection: { _id: 1 } })) !== null;
  }

  /** What each actor wrote among the newest `limit` changes, and when last; changes whose author is not known are nobody's. */
  async writesByActor(limit: number): Promise<Map<string, ActorWrites>> {
    const counted = (...ops: string[]) => ({ $sum: { $cond: [{ $in: ['$o', ops] }, 1, 0] } });
    const rows = await this.collection
      .aggregate<ActorWrites & { _id: string }>([
        { $sort: { _id: -1 } },
        { $limit: limit },
        { $match: { $expr: { $eq: [{ $type: '$c' }, 'string'] } } },
        {
          $group: {
            _id: '$c',
            lastAt: { $max: '$w' },
            added: counted('insert'),
            modified: counted('update', 'replace'),
            removed: counted('delete'),
          },
        },
      ])
      .toArray();
    return new Map(rows.map(({ _id, ...writes }) => [_id, writes]));
  }

  /** The last sequence that had happened at a cluster time, looked for downwards from `from`. */
  async seqAt(time: Timestamp, from: number): Promise<number> {
    const [found] = await this.collection
      .find({ _id: { $lte: from as never }, t: { $lte: time } }, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return found ? Number(found._id) : 0;
  }

  /** Whether a transaction (`session:number`) is among the changes after `seq`: it was committed. */
  async hasTransaction(id: string, seq: number): Promise<boolean> {
    return (await this.collection.findOne({ _id: { $gt: seq as never }, x: id }, { projection: { _id: 1 } })) !== null;
  }

  /**
   * The entry with which a collection went: its drop, or a rename over it. It is marked as one that removed documents.
   * Undefined where there is none.
   */
  async markRemoval(uuid: Uint8Array, ns: string): Promise<number | undefined> {
    const ways = [
      { o: 'drop', u: new Binary(uuid, 4) },
      { o: 'rename', 'd.to': ns },
    ];
    const found = await this.collection.findOne<{ _id: number }>(
      { $or: ways },
      { sort: { _id: -1 }, projection: { _id: 1 }, promoteValues: true },
    );
    if (!found) return undefined;
    await this.collection.updateOne({ _id: found._id as never }, { $set: { 'd.removed': true } });
    return Number(found._id);
  }

  /** Completes an entry whose outcome is known only at its end (an import). */
  async completeEntry(seq: number, detail: Readonly<Record<string, unknown>>): Promise<void> {
    await this.collection.updateOne({ _id: seq as never }, { $set: { d: detail } });
  }

  /** Puts images that were stored in pieces back in place. */
  private async whole(
    decoded: readonly DecodedChange[],
    sides?: { readonly before?: boolean; readonly after?: boolean },
  ): Promise<ChangeRecord[]> {
    const wanted = (side: string) => !sides || sides[side as 'before' | 'after'] === true;
    return Promise.all(
      decoded.map(async ({ spilledSides, ...record }) => {
        const images: { before?: Uint8Array; after?: Uint8Array } = {};
        for (const side of spilledSides.filter(wanted)) {
          const rows = await this.pieces.find({ seq: record.seq, side }).sort({ n: 1 }).toArray();
          images[side as 'before' | 'after'] = Buffer.concat(rows.map((row) => (row['bytes'] as Binary).buffer));
        }
        return { ...record, ...images };
      }),
    );
  }
}

function piecesOf({ seq, spilled }: EncodedChange): Uint8Array[] {
  return spilled.flatMap(({ side, bytes }) =>
    cutIntoPieces(bytes).map((piece, n) => BSON.serialize({ seq, side, n, bytes: new Binary(piece) })),
  );
}
