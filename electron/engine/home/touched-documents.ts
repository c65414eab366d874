import { BSON, Binary, type ClientSession, type Collection, type Db, type Document } from 'mongodb';
import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { rawFindAll } from '../mongod/raw.ts';
import { BigBases } from './big-bases.ts';
import { decodeTouched } from './encode.ts';
import type { BaseOverride, ChangeRecord, TouchedRecord } from './records.ts';
import { requiredWrite } from './required-write.ts';
import { paddedId, touchedId } from './touched-id.ts';

/** Up to so many touched documents are written without being looked up. */
const fewRows = 16;

/** An imported document: touched by the import's entry, without images. */
export interface ImportedKey {
  /** The import's sequence. */
  readonly seq: number;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
}

/** The documents that a branch's changes touched: a row for each, which points at its first and its last change. */
export class TouchedDocuments {
  private readonly db: Db;
  readonly collection: Collection;
  private readonly bigBases: BigBases;

  constructor(collection: Collection, pieces: Collection, db: Db) {
    this.collection = collection;
    this.bigBases = new BigBases(pieces);
    this.db = db;
  }

  /**
   * Adds these rows, or says that their documents were changed again.
   *
   * Many rows are looked up first: inserting those of documents touched for the first time costs a fifth of an upsert.
   * For a few, the way to the server and back costs more.
   */
  async write(touched: ReadonlyMap<string, TouchedRow>, session: ClientSession): Promise<void> {
    const { db } = this;
    const { collectionName } = this.collection;
    if (touched.size <= fewRows) {
      const upserts = [...touched.values()].map(touchedUpsert);
      return requiredWrite(db, { update: collectionName }, { name: 'updates', items: upserts }, session);
    }
    const known = await rawFindAll(
      db,
      {
        collection: collectionName,
        filter: { _id: { $in: [...touched.values()].map(({ id }) => new Binary(id)) } },
        projection: { _id: 1 },
        batchSize: touched.size + 1,
      },
      { session },
    );
    // `_id` alone: its bytes begin behind the document's length, the type, the name, the binary's length and subtype.
    const again = new Set(known.map((row) => toBase64(row.subarray(4 + 1 + 4 + 4 + 1, -1))));
    const rows = [...touched];
    const fresh = rows.filter(([id]) => !again.has(id)).map(([, row]) => touchedDocument(row));
    const updates = rows.filter(([id]) => again.has(id)).map(([, row]) => touchedAgain(row));
    if (fresh.length > 0)
      await requiredWrite(db, { insert: collectionName }, { name: 'documents', items: fresh }, session);
    if (updates.length > 0)
      await requiredWrite(db, { update: collectionName }, { name: 'updates', items: updates }, session);
  }

  async row(id: Uint8Array): Promise<TouchedRecord | undefined> {
    const [row] = await rawFindAll(this.db, {
      collection: this.collection.collectionName,
      filter: { _id: new Binary(id) },
      limit: 1,
    });
    return row && (await this.bigBases.whole([decodeTouched(row)]))[0];
  }

  /**
   * Touched documents in a stable order, by collection, after `after`; `within` one collection only.
   * @param since only those changed after this sequence
   */
  async page(
    after: Uint8Array | undefined,
    limit: number,
    within?: Uint8Array,
    since?: number,
  ): Promise<TouchedRecord[]> {
    const range: Document = {};
    if (after) range['$gt'] = new Binary(after);
    else if (within) range['$gte'] = new Binary(paddedId(within, 0x00));
    if (within) range['$lte'] = new Binary(paddedId(within, 0xff));
    const rows = await rawFindAll(this.db, {
      collection: this.collection.collectionName,
      filter: {
        ...(after || within ? { _id: range } : {}),
        ...(since === undefined ? {} : { l: { $gt: since } }),
      },
      sort: { _id: 1 },
      limit,
      batchSize: limit,
    });
    return this.bigBases.whole(rows.map(decodeTouched));
  }

  /** The rows of these documents, those that are touched. */
  async rows(ids: readonly Uint8Array[]): Promise<TouchedRecord[]> {
    const rows = await rawFindAll(this.db, {
      collection: this.collection.collectionName,
      filter: { _id: { $in: ids.map((id) => new Binary(id)) } },
    });
    return this.bigBases.whole(rows.map(decodeTouched));
  }

  async count(): Promise<number> {
    return this.collection.estimatedDocumentCount();
  }

  /**
   * Says what documents of a collection were at the fork. Those that no change is known of are touched by the entry
   * `removal`. What is known of a document's base already is kept unless `overwrite` is set.
   */
  async addBases(
    { uuid, removal }: { readonly uuid: Uint8Array; readonly removal: number },
    bases: readonly { readonly key: BsonValue; readonly document: Uint8Array | undefined }[],
    overwrite: boolean,
  ): Promise<void> {
    const stored = await Promise.all(bases.map((base) => this.bigBases.store(base)));
    const items = bases.flatMap(({ key }, index) => {
      const _id = new Binary(touchedId(uuid, key));
      const bs = stored[index]!;
      const row = { u: new Binary(uuid, 4), k: new Binary(key), f: removal, l: removal, bs };
      return [
        BSON.serialize({ q: { _id }, u: { $setOnInsert: row }, upsert: true }),
        BSON.serialize({ q: overwrite ? { _id } : { _id, bs: { $exists: false } }, u: { $set: { bs } } }),
      ];
    });
    const command = { update: this.collection.collectionName, ordered: true };
    await requiredWrite(this.db, command, { name: 'updates', items });
  }

  /** Moves bases, or (with `undefined`) puts them back to what the first change says. */
  async moveBases(
    moves: readonly { readonly id: Uint8Array; readonly base: BaseOverride | undefined }[],
  ): Promise<void> {
    const stored = await Promise.all(moves.map(({ base }) => base && this.bigBases.store(base)));
    const items = moves.map(({ id }, index) => {
      const bs = stored[index];
      return BSON.serialize({ q: { _id: new Binary(id) }, u: bs ? { $set: { bs } } : { $unset: { bs: 1 } } });
    });
    const command = { update: this.collection.collectionName, ordered: false };
    await requiredWrite(this.db, command, { name: 'updates', items });
  }
}

/** What a batch did to one document. */
export interface TouchedRow {
  readonly id: Uint8Array;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  readonly first: number;
  last: number;
  readonly imports: number[];
}

/** One row per document that a batch touched, by id (base64), however often the batch changed it. */
export function touchedRowsOf(
  changes: readonly ChangeRecord[],
  imported: readonly ImportedKey[],
): Map<string, TouchedRow> {
  const rows = new Map<string, TouchedRow>();
  const touch = (uuid: Uint8Array, key: BsonValue, seq: number) => {
    const id = touchedId(uuid, key);
    const text = toBase64(id);
    let row = rows.get(text);
    if (row) row.last = Math.max(row.last, seq);
    else rows.set(text, (row = { id, uuid, key, first: seq, last: seq, imports: [] }));
    return row;
  };
  for (const { uuid, key, seq } of changes) if (uuid && key) touch(uuid, key, seq);
  for (const { uuid, key, seq } of imported) touch(uuid, key, seq).imports.push(seq);
  return rows;
}

function touchedDocument({ id, uuid, key, first, last, imports }: TouchedRow): Uint8Array {
  const brought = imports.length > 0 ? { im: imports } : {};
  return BSON.serialize({
    _id: new Binary(id),
    u: new Binary(uuid, 4),
    k: new Binary(key),
    f: first,
    l: last,
    ...brought,
  });
}

function touchedUpsert(row: TouchedRow): Uint8Array {
  return BSON.serialize({
    q: { _id: new Binary(row.id) },
    u: { ...again(row), $setOnInsert: { u: new Binary(row.uuid, 4), k: new Binary(row.key), f: row.first } },
    upsert: true,
  });
}

function touchedAgain(row: TouchedRow): Uint8Array {
  return BSON.serialize({ q: { _id: new Binary(row.id) }, u: again(row) });
}

function again({ last, imports }: TouchedRow): Document {
  return { $max: { l: last }, ...(imports.length > 0 ? { $addToSet: { im: { $each: imports } } } : {}) };
}
