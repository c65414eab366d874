/**
 * Documents as the exact bytes the server holds. The driver's own path through JavaScript objects loses number types,
 * duplicate names and key order, so what is compared or written exactly goes through here.
 */
import { Long, ObjectId, type Binary, type ClientSession, type Db, type Document, type Timestamp } from 'mongodb';
// The one internal import of the driver: it sends pre-serialised documents. `raw.test.ts` fails when the driver changes.
import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import { elementsOf, field, valueSlice } from '../../../shared/bson/walk.ts';

export interface RawOptions {
  readonly session?: ClientSession | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The reply's `cursor`, its documents as bytes. */
export interface RawCursor {
  readonly id: bigint;
  /** The collection's name as a getMore wants it. */
  readonly name: string;
  readonly documents: Uint8Array[];
  readonly postBatchResumeToken: Uint8Array | undefined;
}

/** Runs a command whose reply holds a cursor and gives its documents as bytes. */
export async function rawCursorCommand(db: Db, command: Document, options: RawOptions = {}): Promise<RawCursor> {
  const reply = (await db.command(command, {
    raw: true,
    ...(options.session ? { session: options.session } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
  })) as { cursor: Uint8Array };
  const cursor = reply.cursor;
  const batch = field(cursor, 'firstBatch') ?? field(cursor, 'nextBatch');
  const id = field(cursor, 'id');
  const token = field(cursor, 'postBatchResumeToken');
  const ns = field(cursor, 'ns');
  const text = ns ? new TextDecoder().decode(ns.subarray(5, ns.length - 1)) : '';
  return {
    id: id ? readInt64(id) : 0n,
    name: text.slice(text.indexOf('.') + 1),
    // Views into the reply, not copies.
    documents: batch ? elementsOf(valueSlice(batch)).map(({ bytes, start, end }) => bytes.subarray(start, end)) : [],
    postBatchResumeToken: token?.subarray(1),
  };
}

/** Runs a command whose reply holds a cursor and gives every document of it, as bytes. */
export async function rawReadAll(db: Db, command: Document): Promise<Uint8Array[]> {
  // A cursor belongs to the session it was opened in.
  const session = db.client.startSession();
  try {
    let reply = await rawCursorCommand(db, command, { session });
    const all = [...reply.documents];
    while (reply.id !== 0n) {
      reply = await rawCursorCommand(db, { getMore: Long.fromBigInt(reply.id), collection: reply.name }, { session });
      all.push(...reply.documents);
    }
    return all;
  } finally {
    await session.endSession();
  }
}

export interface RawFind {
  /** A name, or a UUID: by UUID a renamed or dropped collection is never mistaken for another. */
  readonly collection: string | Binary;
  readonly filter: Document;
  readonly projection?: Document;
  readonly sort?: Document;
  readonly hint?: Document;
  /** Bounds of the hinted index: `min` belongs to the range, `max` does not. */
  readonly min?: Document;
  readonly max?: Document;
  readonly limit?: number;
  readonly batchSize?: number;
  readonly collation?: Document;
  readonly maxTimeMS?: number;
  /** Reads the state at this cluster time; the server keeps 300 s. */
  readonly atClusterTime?: Timestamp | undefined;
}

/** Yields matching documents as bytes, a batch at a time. */
export async function* rawFind(db: Db, query: RawFind, options: RawOptions = {}): AsyncGenerator<Uint8Array[]> {
  const { collection, atClusterTime, ...rest } = query;
  // A cursor belongs to the session it was opened in.
  const session = options.session ?? db.client.startSession();
  let open: { id: bigint; name: string } | undefined;
  try {
    const command: Document = { find: collection, ...rest };
    if (atClusterTime) command['readConcern'] = { level: 'snapshot', atClusterTime };
    let reply = await rawCursorCommand(db, command, { session, signal: options.signal });
    for (;;) {
      open = reply.id === 0n ? undefined : { id: reply.id, name: reply.name };
      if (reply.documents.length > 0) yield reply.documents;
      if (!open) return;
      const getMore: Document = { getMore: Long.fromBigInt(open.id), collection: open.name };
      if (query.batchSize) getMore['batchSize'] = query.batchSize;
      reply = await rawCursorCommand(db, getMore, { session, signal: options.signal });
    }
  } finally {
    if (open)
      await db
        .command({ killCursors: open.name, cursors: [Long.fromBigInt(open.id)] }, { session })
        .catch(() => undefined);
    if (!options.session) await session.endSession();
  }
}

/** All matching documents as bytes. */
export async function rawFindAll(db: Db, query: RawFind, options: RawOptions = {}): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const batch of rawFind(db, query, options)) for (const document of batch) all.push(document);
  return all;
}

/** The server hangs up at 48 MB a message; pieces are cut before. */
const messageBytes = 40 * 1024 * 1024;
const messageDocuments = 50_000;

export interface WriteProblem {
  readonly index: number;
  readonly code: number;
  readonly message: string;
}

/**
 * Runs a write command whose statements are given as bytes (`documents`, `updates` or `deletes`), in as many messages
 * as they need. Ordered commands stop at the first problem.
 */
export async function rawWrite(
  db: Db,
  command: Document,
  sequence: { readonly name: 'documents' | 'updates' | 'deletes'; readonly items: readonly Uint8Array[] },
  options: { readonly session?: ClientSession | undefined; readonly extra?: (piece: number) => Document } = {},
): Promise<{ n: number; problems: WriteProblem[] }> {
  const problems: WriteProblem[] = [];
  let n = 0;
  let piece = 0;
  for (let start = 0; start < sequence.items.length; piece += 1) {
    const documents = new DocumentSequence(sequence.name);
    let end = start;
    let bytes = 0;
    for (; end < sequence.items.length && end - start < messageDocuments; end += 1) {
      const item = sequence.items[end]!;
      if (end > start && bytes + item.length > messageBytes) break;
      bytes += item.length;
      documents.push({}, item);
    }
    const reply = (await db.command(
      { ...command, [sequence.name]: documents, ...options.extra?.(piece) },
      options.session ? { session: options.session } : {},
    )) as { n?: number; writeErrors?: { index: number; code: number; errmsg: string }[] };
    n += reply.n ?? 0;
    for (const error of reply.writeErrors ?? []) {
      problems.push({ index: start + error.index, code: error.code, message: error.errmsg });
    }
    if (problems.length > 0 && command['ordered'] !== false) break;
    start = end;
  }
  return { n, problems };
}

/** A little-endian Int64 or Int32 element as a number that fits. */
function readInt64(value: Uint8Array): bigint {
  const view = new DataView(value.buffer, value.byteOffset + 1);
  return value[0] === 0x12 ? view.getBigInt64(0, true) : BigInt(view.getInt32(0, true));
}

/**
 * A value as the driver sends it with exactly these bytes, wherever in a command it stands. The driver's own classes would
 * lose some: a DBPointer, a nested undefined, names that come twice or look like numbers, text that is no UTF-8.
 */
export function driverValue(value: BsonValue): Document {
  return new ExactValue(value);
}

/** The driver asks an ObjectId to write itself; this one writes its own value, and the type of that before its name. */
class ExactValue extends ObjectId {
  private readonly value: BsonValue;

  constructor(value: BsonValue) {
    super('000000000000000000000000');
    this.value = value;
  }

  /** @returns how many bytes were written behind the name */
  serializeInto(into: Uint8Array, at: number): number {
    let typeAt = at - 2;
    while (into[typeAt] !== Type.ObjectId) typeAt -= 1;
    into[typeAt] = this.value[0]!;
    into.set(this.value.subarray(1), at);
    return this.value.length - 1;
  }
}
