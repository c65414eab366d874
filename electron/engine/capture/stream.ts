import { Long, MongoServerError, type ClientSession, type Document, type MongoClient, type Timestamp } from 'mongodb';
import { BSON } from 'mongodb';
import { rawCursorCommand, type RawCursor } from '../mongod/raw.ts';
import { parseEvent, tokenTime, type StreamEvent } from './event.ts';

/** Where a stream starts. */
export type StreamStart = { readonly token: Uint8Array } | { readonly time: Timestamp };

export interface StreamBatch {
  readonly events: StreamEvent[];
  /** Resumes behind this batch, also where it is empty. */
  readonly token: Uint8Array | undefined;
}

const awaitMs = 1_000;
const batchDocuments = 1_000;

const tooLarge = 10334;
/** ChangeStreamHistoryLost, ChangeStreamFatalError, CappedPositionLost. */
const lost = new Set([286, 280, 136]);

/** The resume point is no longer in the oplog: what lies between is unknown. */
export class HistoryLost extends Error {}

/**
 * One raw change stream over a whole deployment. Documents stay bytes. An event above the server's limit of 16 MB is
 * taken alone and without images, and the stream goes on.
 */
export class RawChangeStream {
  private readonly client: MongoClient;
  private readonly session: ClientSession;
  private readonly abort = new AbortController();
  private position: StreamStart;
  private cursor: { readonly id: bigint; readonly name: string } | undefined;
  /** After an oversized event was met, single events until it has passed. */
  private careful = false;

  constructor(client: MongoClient, start: StreamStart) {
    this.client = client;
    this.session = client.startSession();
    this.position = start;
  }

  /**
   * The next events; waits up to a second for them. An empty batch still moves the token.
   * @throws HistoryLost
   */
  async next(): Promise<StreamBatch> {
    try {
      const reply = await this.read();
      const batch = toBatch(reply);
      if (batch.token) this.position = { token: batch.token };
      this.cursor = reply.id === 0n ? undefined : { id: reply.id, name: reply.name };
      return batch;
    } catch (error) {
      this.cursor = undefined;
      if (!(error instanceof MongoServerError)) throw error;
      if (lost.has(Number(error.code))) throw new HistoryLost(error.message);
      if (Number(error.code) !== tooLarge) throw error;
      // The whole batch is thrown away with the one event that does not fit: come to it one by one, take it bare.
      if (!this.careful) {
        this.careful = true;
        return { events: [], token: undefined };
      }
      this.careful = false;
      return this.nextBare();
    }
  }

  private async read(): Promise<RawCursor> {
    const options = { session: this.session, signal: this.abort.signal };
    const admin = this.client.db('admin');
    if (this.cursor) {
      const getMore = { getMore: Long.fromBigInt(this.cursor.id), collection: this.cursor.name, maxTimeMS: awaitMs };
      return rawCursorCommand(admin, { ...getMore, batchSize: this.careful ? 1 : batchDocuments }, options);
    }
    return rawCursorCommand(admin, aggregate(this.position, true, this.careful ? 1 : batchDocuments), options);
  }

  /** Exactly one event, without images. */
  private async nextBare(): Promise<StreamBatch> {
    const options = { session: this.session, signal: this.abort.signal };
    const admin = this.client.db('admin');
    let reply = await rawCursorCommand(admin, aggregate(this.position, false, 1), options);
    while (reply.documents.length === 0 && reply.id !== 0n) {
      const getMore = { getMore: Long.fromBigInt(reply.id), collection: reply.name, batchSize: 1, maxTimeMS: awaitMs };
      reply = await rawCursorCommand(admin, getMore, options);
    }
    if (reply.id !== 0n) {
      await admin.command({ killCursors: reply.name, cursors: [Long.fromBigInt(reply.id)] }, { session: this.session });
    }
    const batch = toBatch(reply);
    const event = batch.events[0];
    const token = event ? event.token : batch.token;
    if (token) this.position = { token };
    return { events: batch.events, token };
  }

  /** What a fresh look at the stream says from `start` on, without waiting: used to learn that nothing came. */
  async peek(start: StreamStart): Promise<{
    readonly empty: boolean;
    readonly time: Timestamp | undefined;
    readonly token: Uint8Array | undefined;
  }> {
    const session = this.client.startSession();
    try {
      const admin = this.client.db('admin');
      const reply = await rawCursorCommand(admin, aggregate(start, false, 1), { session });
      if (reply.id !== 0n) {
        await admin.command({ killCursors: reply.name, cursors: [Long.fromBigInt(reply.id)] }, { session });
      }
      const token = reply.postBatchResumeToken;
      return { empty: reply.documents.length === 0, time: token && tokenTime(token), token };
    } finally {
      await session.endSession();
    }
  }

  async close(): Promise<void> {
    this.abort.abort();
    const { cursor } = this;
    this.cursor = undefined;
    if (cursor) {
      // Closing after a failed command may hang: the server forgets an unused cursor by itself.
      const kill = this.client.db('admin').command({ killCursors: cursor.name, cursors: [Long.fromBigInt(cursor.id)] });
      await Promise.race([kill.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 200).unref())]);
    }
    await this.session.endSession().catch(() => undefined);
  }
}

function toBatch(reply: RawCursor): StreamBatch {
  return { events: reply.documents.map(parseEvent), token: reply.postBatchResumeToken?.slice() };
}

function aggregate(start: StreamStart, images: boolean, batchSize: number): Document {
  // A collection that is converted to capped or cloned as one is filled by writes the server marks as migrations.
  const stage: Document = {
    allChangesForCluster: true,
    showExpandedEvents: true,
    showSystemEvents: true,
    showMigrationEvents: true,
  };
  // After-images are read, not asked for: see docs/decisions/after-images.md.
  if (images) stage['fullDocumentBeforeChange'] = 'whenAvailable';
  if ('token' in start) stage['startAfter'] = BSON.deserialize(start.token);
  else stage['startAtOperationTime'] = start.time;
  return { aggregate: 1, pipeline: [{ $changeStream: stage }], cursor: { batchSize } };
}
