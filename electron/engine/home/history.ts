import {
  Binary,
  MongoServerError,
  type ClientSession,
  type Collection,
  type Timestamp,
  type UpdateFilter,
} from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { encodeChange, type EncodedChange } from './encode.ts';
import type { Home } from './home.ts';
import { changesOf, touchedOf } from './past.ts';
import { RecordedChanges } from './recorded-changes.ts';
import type { CaptureState, ChangeRecord } from './records.ts';
import { requiredWrite } from './required-write.ts';
import { encodeSchemaEvent, schemaEventsOf } from './schema-events.ts';
import { TouchedDocuments, touchedRowsOf, type ImportedKey, type TouchedRow } from './touched-documents.ts';
import { touchedId } from './touched-id.ts';

interface StateDocument {
  _id: string;
  seq: number;
  token?: Binary;
  clusterTime: Timestamp;
}

/** The history of one branch: changes in order, and one pointer row for each document they touched. */
export class History {
  readonly branchId: string;
  readonly changes: RecordedChanges;
  readonly touched: TouchedDocuments;
  private readonly schemaEvents: Collection;
  private readonly home: Home;

  constructor(home: Home, branchId: string) {
    this.home = home;
    this.branchId = branchId;
    const db = home.history;
    const pieces = db.collection(`pieces_${branchId}`);
    this.changes = new RecordedChanges(db.collection(changesOf(branchId)), pieces, db);
    this.touched = new TouchedDocuments(db.collection(touchedOf(branchId)), pieces, db);
    this.schemaEvents = db.collection(schemaEventsOf(branchId));
  }

  private get collections(): Collection[] {
    return [this.changes.collection, this.touched.collection, this.changes.pieces, this.schemaEvents];
  }

  private get states(): Collection<StateDocument> {
    return this.home.catalog.collection<StateDocument>('capture');
  }

  /** Collections are made before the first transaction, which then never has to. */
  async create(): Promise<void> {
    await Promise.all(
      this.collections.map((collection) =>
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
      this.changes.collection.findOne<{ _id: number; r?: Binary }>({}, { sort: { _id: -1 }, projection: { r: 1 } }),
    ]);
    if (!stored) return undefined;
    const state = { seq: Number(stored.seq), token: stored.token?.buffer, clusterTime: stored.clusterTime };
    return newest?.r && newest._id > state.seq ? { ...state, seq: newest._id, token: newest.r.buffer } : state;
  }

  async drop(): Promise<void> {
    await Promise.all([
      ...this.collections.map((collection) => collection.drop()),
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
    const schemaEvents = changes.flatMap((change) => (change.schema ? [encodeSchemaEvent(change, change.schema)] : []));
    const session = this.home.client.startSession();
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          session.startTransaction({ writeConcern: { w: 1, j: false } });
          await this.write(session, encoded, schemaEvents, touched, carries ? undefined : state);
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
    schemaEvents: readonly Uint8Array[],
    touched: ReadonlyMap<string, TouchedRow>,
    state: CaptureState | undefined,
  ): Promise<void> {
    await this.changes.write(encoded, session);
    if (schemaEvents.length > 0) {
      const { collectionName } = this.schemaEvents;
      const items = { name: 'documents', items: schemaEvents } as const;
      await requiredWrite(this.home.history, { insert: collectionName }, items, session);
    }
    if (touched.size > 0) await this.touched.write(touched, session);
    if (state) await this.states.updateOne({ _id: this.branchId }, stateUpdate(state), { session });
  }

  /** Only moves the resume token: nothing happened, but the oplog went on. */
  async advance(state: CaptureState): Promise<void> {
    await this.states.updateOne({ _id: this.branchId }, stateUpdate(state), { writeConcern: { w: 1, j: false } });
  }

  /** Everything that happened to one document, oldest first. */
  async ofDocument(uuid: Uint8Array, key: BsonValue, limit: number): Promise<ChangeRecord[]> {
    const row = await this.touched.row(touchedId(uuid, key));
    return row ? this.changes.ofDocument(row, limit) : [];
  }
}

/** Without a token the old one goes: it is of no use behind a gap. */
function stateUpdate({ seq, clusterTime, token }: CaptureState): UpdateFilter<StateDocument> {
  const fields = { seq, clusterTime };
  return token ? { $set: { ...fields, token: new Binary(token) } } : { $set: fields, $unset: { token: true } };
}
