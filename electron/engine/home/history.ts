import { createHash } from 'node:crypto';
import type { Timestamp } from 'mongodb';
import {
  BSON,
  Binary,
  MongoServerError,
  type ClientSession,
  type Collection,
  type Document,
  type UpdateFilter,
} from 'mongodb';
import { keyOf } from '../../../shared/bson/key.ts';
import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { driverValue, rawFind, rawFindAll, rawWrite } from '../mongod/raw.ts';
import { decodeChange, decodeTouched, encodeChange, type DecodedChange, type EncodedChange } from './encode.ts';
import type { Home } from './home.ts';
import { changesOf, touchedOf } from './past.ts';
import { encodeSchemaEvent, schemaEventsOf } from './schema-events.ts';
import type { BaseOverride, CaptureState, ChangeRecord, TouchedRecord } from './records.ts';

const pieceBytes = 8 * 1024 * 1024;
/** Up to so many touched documents are written without being looked up. */
const fewRows = 16;
/** A page ends behind the batch that passes this. */
const pageBytes = 16 * 1024 * 1024;

interface StateDocument {
  _id: string;
  seq: number;
  token?: Binary;
  clusterTime: Timestamp;
}

/** What one actor wrote. */
interface ActorWrites {
  readonly lastAt: Date;
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
}

/** An imported document: touched by the import's entry, without images. */
export interface ImportedKey {
  /** The import's sequence. */
  readonly seq: number;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
}

/** The history of one branch: changes in order, and one pointer row for each document they touched. */
export class History {
  private readonly home: Home;
  readonly branchId: string;

  constructor(home: Home, branchId: string) {
    this.home = home;
    this.branchId = branchId;
  }

  private get changes(): Collection {
    return this.home.history.collection(changesOf(this.branchId));
  }

  private get touched(): Collection {
    return this.home.history.collection(touchedOf(this.branchId));
  }

  private get pieces(): Collection {
    return this.home.history.collection(`pieces_${this.branchId}`);
  }

  private get schemaEvents(): Collection {
    return this.home.history.collection(schemaEventsOf(this.branchId));
  }

  private get states(): Collection<StateDocument> {
    return this.home.catalog.collection<StateDocument>('capture');
  }

  /** Collections are made before the first transaction, which then never has to. */
  async create(): Promise<void> {
    await Promise.all(
      [this.changes, this.touched, this.pieces, this.schemaEvents].map((collection) =>
        this.home.history.createCollection(collection.collectionName).catch((error: unknown) => {
          if (!(error instanceof MongoServerError) || error.code !== 48) throw error;
        }),
      ),
    );
  }

  /** Begins at this time, with nothing captured yet. */
  async begin(clusterTime: Timestamp): Promise<CaptureState> {
    const state = { seq: 0, token: undefined, clusterTime };
    await this.states.updateOne({ _id: this.branchId }, stateUpdate(state), { upsert: true });
    return state;
  }

  /** How far capture has come: what was stored of it, or the newest change where that says more. */
  async state(): Promise<CaptureState | undefined> {
    const [stored, newest] = await Promise.all([
      this.states.findOne({ _id: this.branchId }, { promoteValues: true }),
      this.changes.findOne<{ _id: number; r?: Binary }>({}, { sort: { _id: -1 }, projection: { r: 1 } }),
    ]);
    if (!stored) return undefined;
    const state = { seq: Number(stored.seq), token: stored.token?.buffer, clusterTime: stored.clusterTime };
    return newest?.r && newest._id > state.seq ? { ...state, seq: newest._id, token: newest.r.buffer } : state;
  }

  async drop(): Promise<void> {
    await Promise.all([
      ...[this.changes, this.touched, this.pieces, this.schemaEvents].map((collection) => collection.drop()),
      this.states.deleteOne({ _id: this.branchId }),
      this.home.gaps.deleteMany({ branch: this.branchId }),
      this.home.catalog.collection<{ _id: string }>('schemas').deleteOne({ _id: this.branchId }),
    ]);
  }

  /**
   * Writes changes, the documents they touched, and how far capture has come, all or nothing: after a crash nothing is
   * missing and nothing comes twice.
   */
  async append(changes: readonly ChangeRecord[], imported: readonly ImportedKey[], state: CaptureState): Promise<void> {
    // The newest change carries the resume token: the state needs no write of its own.
    const carries = state.token !== undefined && changes.at(-1)?.seq === state.seq;
    const encoded = changes.map((change) =>
      encodeChange(change, carries && change.seq === state.seq ? state.token : undefined),
    );
    const touched = touchedRowsOf(changes, imported);
    const pieces = encoded.flatMap((change, index) => piecesOf(changes[index]!.seq, change));
    const schemaEvents = changes.flatMap((change) => (change.schema ? [encodeSchemaEvent(change, change.schema)] : []));
    const session = this.home.client.startSession();
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          session.startTransaction({ writeConcern: { w: 1, j: false } });
          await this.write(session, encoded, pieces, schemaEvents, touched, carries ? undefined : state);
          await session.commitTransaction();
          return;
        } catch (error) {
          await session.abortTransaction().catch(() => undefined);
          if (
            !(error instanceof MongoServerError) ||
            !error.hasErrorLabel('TransientTransactionError') ||
            attempt >= 5
          ) {
            throw error;
          }
        }
      }
    } finally {
      await session.endSession();
    }
  }

  private async write(
    session: ClientSession,
    encoded: readonly EncodedChange[],
    pieces: readonly Uint8Array[],
    schemaEvents: readonly Uint8Array[],
    touched: ReadonlyMap<string, TouchedRow>,
    state: CaptureState | undefined,
  ): Promise<void> {
    const db = this.home.history;
    if (encoded.length > 0) {
      const documents = encoded.map((change) => change.document);
      await this.required(db, { insert: this.changes.collectionName }, 'documents', documents, session);
    }
    if (pieces.length > 0)
      await this.required(db, { insert: this.pieces.collectionName }, 'documents', pieces, session);
    if (schemaEvents.length > 0)
      await this.required(db, { insert: this.schemaEvents.collectionName }, 'documents', schemaEvents, session);
    if (touched.size > 0) await this.writeTouched(session, touched);
    if (state) await this.states.updateOne({ _id: this.branchId }, stateUpdate(state), { session });
  }

  /**
   * Many rows are looked up first: inserting those of documents touched for the first time costs a fifth of an upsert.
   * For a few, the way to the server and back costs more.
   */
  private async writeTouched(session: ClientSession, touched: ReadonlyMap<string, TouchedRow>): Promise<void> {
    const db = this.home.history;
    const { collectionName } = this.touched;
    if (touched.size <= fewRows) {
      const upserts = [...touched.values()].map(touchedUpsert);
      return this.required(db, { update: collectionName }, 'updates', upserts, session);
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
    if (fresh.length > 0) await this.required(db, { insert: collectionName }, 'documents', fresh, session);
    if (updates.length > 0) await this.required(db, { update: collectionName }, 'updates', updates, session);
  }

  private async required(
    db: Home['history'],
    command: Document,
    name: 'documents' | 'updates',
    items: readonly Uint8Array[],
    session: ClientSession,
  ): Promise<void> {
    const { problems } = await rawWrite(db, command, { name, items }, { session });
    const [first] = problems;
    if (first) throw new Error(`home refused a write: ${first.message}`);
  }

  /** Completes an entry whose outcome is known only at its end (an import). */
  async completeEntry(seq: number, detail: Readonly<Record<string, unknown>>): Promise<void> {
    await this.changes.updateOne({ _id: seq as never }, { $set: { d: detail } });
  }

  /** Only moves the resume token: nothing happened, but the oplog went on. */
  async advance(state: CaptureState): Promise<void> {
    await this.states.updateOne({ _id: this.branchId }, stateUpdate(state), { writeConcern: { w: 1, j: false } });
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
    const pages = rawFind(this.home.history, {
      collection: this.changes.collectionName,
      filter: { _id: range },
      sort: { _id: query.fromEnd ? -1 : 1 },
      limit: query.limit,
    });
    for await (const batch of pages) {
      records.push(...(await this.whole(batch.map(decodeChange))));
      bytes += batch.reduce((sum, document) => sum + document.length, 0);
      if (bytes > pageBytes) break;
    }
    return query.fromEnd ? records.reverse() : records;
  }

  /** Which documents were changed after `seq`, oldest first, a batch at a time, without images. */
  async *keysAfter(seq: number): AsyncGenerator<{ seq: number; uuid: Uint8Array; key: BsonValue }[]> {
    const query = {
      collection: this.changes.collectionName,
      filter: { _id: { $gt: seq } },
      projection: { u: 1, k: 1 },
      sort: { _id: 1 },
      batchSize: 5_000,
    };
    for await (const batch of rawFind(this.home.history, query)) {
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
    const found = await rawFindAll(this.home.history, {
      collection: this.changes.collectionName,
      filter: { _id: { $in: seqs } },
      projection,
    });
    const records = await this.whole(found.map(decodeChange), sides);
    return new Map(records.map((record) => [record.seq, record]));
  }

  /** Everything that happened to one document, oldest first. */
  async ofDocument(uuid: Uint8Array, key: BsonValue, limit: number): Promise<ChangeRecord[]> {
    const row = await this.touchedRow(touchedId(uuid, key));
    if (!row) return [];
    const wanted = touchedId(uuid, key);
    const records: ChangeRecord[] = [];
    const query = {
      collection: this.changes.collectionName,
      filter: { _id: { $gte: row.first, $lte: row.last }, u: new Binary(uuid, 4) },
      sort: { _id: 1 },
    };
    for await (const batch of rawFind(this.home.history, query)) {
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
    const [found] = await rawFindAll(this.home.history, {
      collection: this.changes.collectionName,
      filter: { _id: { $gt: seq, $lte: last }, u: new Binary(uuid, 4), k: { $eq: driverValue(key) } },
      sort: { _id: 1 },
      limit: 1,
    });
    if (!found) return undefined;
    return (await this.whole([decodeChange(found)]))[0];
  }

  /** Whether the history does not know everything that happened after `seq`. */
  async hasGapAfter(seq: number): Promise<boolean> {
    const gap = { _id: { $gt: seq as never }, o: 'gap', k: { $exists: false }, 'd.removed': { $ne: true } };
    return (await this.changes.findOne(gap, { projection: { _id: 1 } })) !== null;
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

  async touchedRow(id: Uint8Array): Promise<TouchedRecord | undefined> {
    const [row] = await rawFindAll(this.home.history, {
      collection: this.touched.collectionName,
      filter: { _id: new Binary(id) },
      limit: 1,
    });
    return row ? decodeTouched(row) : undefined;
  }

  /**
   * Touched documents in a stable order, by collection, after `after`; `within` one collection only.
   * @param since only those changed after this sequence
   */
  async touchedPage(
    after: Uint8Array | undefined,
    limit: number,
    within?: Uint8Array,
    since?: number,
  ): Promise<TouchedRecord[]> {
    const range: Document = {};
    if (after) range['$gt'] = new Binary(after);
    else if (within) range['$gte'] = new Binary(paddedId(within, 0x00));
    if (within) range['$lte'] = new Binary(paddedId(within, 0xff));
    const rows = await rawFindAll(this.home.history, {
      collection: this.touched.collectionName,
      filter: {
        ...(after || within ? { _id: range } : {}),
        ...(since === undefined ? {} : { l: { $gt: since } }),
      },
      sort: { _id: 1 },
      limit,
      batchSize: limit,
    });
    return rows.map(decodeTouched);
  }

  /** The rows of these documents, those that are touched. */
  async touchedRows(ids: readonly Uint8Array[]): Promise<TouchedRecord[]> {
    const rows = await rawFindAll(this.home.history, {
      collection: this.touched.collectionName,
      filter: { _id: { $in: ids.map((id) => new Binary(id)) } },
    });
    return rows.map(decodeTouched);
  }

  async touchedCount(): Promise<number> {
    return this.touched.estimatedDocumentCount();
  }

  /** What each actor wrote among the newest `limit` changes, and when last; changes whose author is not known are nobody's. */
  async writesByActor(limit: number): Promise<Map<string, ActorWrites>> {
    const counted = (...ops: string[]) => ({ $sum: { $cond: [{ $in: ['$o', ops] }, 1, 0] } });
    const rows = await this.changes
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
    const [found] = await this.changes
      .find({ _id: { $lte: from as never }, t: { $lte: time } }, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return found ? Number(found._id) : 0;
  }

  /** Whether a transaction (`session:number`) is among the changes after `seq`: it was committed. */
  async hasTransaction(id: string, seq: number): Promise<boolean> {
    return (await this.changes.findOne({ _id: { $gt: seq as never }, x: id }, { projection: { _id: 1 } })) !== null;
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
    const found = await this.changes.findOne<{ _id: number }>(
      { $or: ways },
      { sort: { _id: -1 }, projection: { _id: 1 }, promoteValues: true },
    );
    if (!found) return undefined;
    await this.changes.updateOne({ _id: found._id as never }, { $set: { 'd.removed': true } });
    return Number(found._id);
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
    const items = bases.flatMap(({ key, document }) => {
      const _id = new Binary(touchedId(uuid, key));
      const bs = document ? { d: new Binary(document) } : {};
      const row = { u: new Binary(uuid, 4), k: new Binary(key), f: removal, l: removal, bs };
      return [
        BSON.serialize({ q: { _id }, u: { $setOnInsert: row }, upsert: true }),
        BSON.serialize({ q: overwrite ? { _id } : { _id, bs: { $exists: false } }, u: { $set: { bs } } }),
      ];
    });
    const command = { update: this.touched.collectionName, ordered: true };
    const { problems } = await rawWrite(this.home.history, command, { name: 'updates', items });
    if (problems[0]) throw new Error(`home refused a write: ${problems[0].message}`);
  }

  /** Moves bases, or (with `undefined`) puts them back to what the first change says. */
  async moveBases(
    moves: readonly { readonly id: Uint8Array; readonly base: BaseOverride | undefined }[],
  ): Promise<void> {
    const items = moves.map(({ id, base }) =>
      BSON.serialize({
        q: { _id: new Binary(id) },
        u: base ? { $set: { bs: base.document ? { d: new Binary(base.document) } : {} } } : { $unset: { bs: 1 } },
      }),
    );
    const command = { update: this.touched.collectionName, ordered: false };
    const { problems } = await rawWrite(this.home.history, command, { name: 'updates', items });
    if (problems[0]) throw new Error(`home refused a write: ${problems[0].message}`);
  }
}

/** Without a token the old one goes: it is of no use behind a gap. */
function stateUpdate({ seq, clusterTime, token }: CaptureState): UpdateFilter<StateDocument> {
  const fields = { seq, clusterTime };
  return token ? { $set: { ...fields, token: new Binary(token) } } : { $set: fields, $unset: { token: true } };
}

function piecesOf(seq: number, change: EncodedChange): Uint8Array[] {
  return change.spilled.flatMap(({ side, bytes }) => {
    const count = Math.ceil(bytes.length / pieceBytes);
    return Array.from({ length: count }, (_, n) =>
      BSON.serialize({ seq, side, n, bytes: new Binary(bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes)) }),
    );
  });
}

interface TouchedRow {
  readonly id: Uint8Array;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  readonly first: number;
  last: number;
  readonly imports: number[];
}

/** One row per document that a batch touched, by id (base64), however often the batch changed it. */
function touchedRowsOf(changes: readonly ChangeRecord[], imported: readonly ImportedKey[]): Map<string, TouchedRow> {
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

function paddedId(uuid: Uint8Array, fill: number): Uint8Array {
  const id = new Uint8Array(16 + keyBytes).fill(fill);
  id.set(uuid);
  return id;
}

function sameId(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
