import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { MongoClient, Timestamp } from 'mongodb';
import type { Account } from '../mongod/accounts.ts';
import { uidOf } from '../mongod/accounts.ts';
import { lastWriteTime } from '../mongod/replica.ts';
import type { History } from '../home/history.ts';
import type { ImportedKey } from '../home/touched-documents.ts';
import type { Home } from '../home/home.ts';
import { engineActor, ttlActor, type CaptureState, type ChangeRecord, type GapRecord } from '../home/records.ts';
import { BucketBases } from './bucket-bases.ts';
import { authorsOf, timeKey, type Author } from './attribution.ts';
import { canHaveImages, switchImagesOn } from './coverage.ts';
import { tickBefore, tokenTime, type StreamEvent } from './event.ts';
import { ImageReader, type Images } from './images.ts';
import {
  isDocumentOp,
  isNoise,
  switchesImagesOff,
  timeSeriesNamespace,
  toRecord,
  type Attribution,
} from './records.ts';
import { HistoryLost, RawChangeStream, type StreamBatch, type StreamStart } from './stream.ts';

export interface CaptureOptions {
  readonly client: MongoClient;
  readonly home: Home;
  readonly history: History;
  readonly branchId: string;
  readonly state: CaptureState;
  readonly engineUser: string;
  /** The branch's credentials at this moment. */
  readonly accounts: () => readonly Account[];
  /** TTL indexes expire documents on this branch. */
  readonly ttlIndexes: boolean;
  /** Resolves when the disk has room for more history, or the signal is aborted; `onWait` is told where that takes time. */
  readonly room: (signal: AbortSignal, onWait: () => void) => Promise<void>;
  readonly onChanges: (seq: number) => void;
  readonly log: (line: string) => void;
}

const transactionBytes = 8 * 1024 * 1024;
const transactionEvents = 1_000;
const idleSaveMs = 10_000;

/** What an entry of the engine's own says. */
export type NoteFields = Pick<ChangeRecord, 'ns' | 'uuid' | 'key' | 'before' | 'after' | 'detail'>;

/** A batch with everything that can be known before it is its turn to be written. */
interface PreparedBatch {
  readonly batch: StreamBatch;
  readonly events: readonly StreamEvent[];
  readonly images: readonly Images[];
  readonly authors: ReadonlyMap<string, Author>;
}

/** Writes of the engine itself that are under way on a branch. */
interface EngineWork {
  /** `lsid.id`, hex, of the session that writes. */
  readonly session: string;
  /** Inserts of this session belong to the import with this sequence. */
  readonly importSeq?: number;
  /** Whether imported documents are kept as keys. */
  readonly recordKeys?: boolean;
  readonly namespaces: ReadonlySet<string> | 'all';
}

/**
 * Turns one branch's change stream into history. Batches are written in order, each in one transaction with the resume
 * token; the next batch is fetched meanwhile, so memory holds two at most.
 */
export class Capture {
  private readonly options: CaptureOptions;
  private readonly images: ImageReader;
  private readonly buckets = new BucketBases();
  private stream: RawChangeStream;
  private state: CaptureState;
  private readonly work = new Set<EngineWork>();
  private readonly waiting = new Set<() => void>();
  private readonly ended = new AbortController();
  private readonly running: Promise<void>;
  private appending: Promise<unknown> = Promise.resolve();
  /** When the oldest write of each batch happened that has been read and is not yet in the history. */
  private readonly unwritten: Date[] = [];
  private savedAt = performance.now();
  private waitsForRoom = false;
  /** Resolves when the stream has opened and nothing written from then on can be missed. */
  readonly live: Promise<void>;

  constructor(options: CaptureOptions) {
    this.options = options;
    // Every collection that is being given images listens, and an import may make many.
    setMaxListeners(0, this.ended.signal);
    this.state = options.state;
    this.images = new ImageReader(options.client, options.history, this.buckets);
    this.stream = new RawChangeStream(options.client, startOf(options.state));
    let isLive!: () => void;
    this.live = new Promise((resolve) => (isLive = resolve));
    this.running = this.run(isLive);
  }

  /** Everything up to here is in the history. */
  get position(): Timestamp {
    return this.state.clusterTime;
  }

  get seq(): number {
    return this.state.seq;
  }

  /** What was read waits until the disk has room for it. */
  get paused(): boolean {
    return this.waitsForRoom;
  }

  /** How long the oldest write that is not yet in the history has been waiting, milliseconds. */
  get lagMs(): number {
    const [oldest] = this.unwritten;
    return oldest ? Math.max(0, Date.now() - oldest.getTime()) : 0;
  }

  /** Waits until everything up to `time` is in the history; false when that did not come within `deadlineMs`. */
  async settle(time: Timestamp, deadlineMs: number): Promise<boolean> {
    const deadline = performance.now() + deadlineMs;
    while (this.state.clusterTime.compare(time) < 0) {
      const left = deadline - performance.now();
      if (left <= 0 || this.waitsForRoom || this.ended.signal.aborted) return false;
      if (this.unwritten.length === 0 && (await this.lookAhead(time))) continue;
      await this.waitForProgress(Math.min(left, 1_100));
    }
    return true;
  }

  /**
   * A quiet stream tells its position once a second; asked directly it tells at once that nothing lies between. Asked from
   * what is in the history, not from what has been read: home may have refused the last batch.
   */
  private async lookAhead(time: Timestamp): Promise<boolean> {
    const before = this.state;
    const seen = await this.stream.peek(startOf(before)).catch(() => undefined);
    if (!seen?.empty || !seen.time || seen.time.compare(time) < 0) return false;
    if (this.unwritten.length > 0 || this.state !== before) return true;
    this.state = { ...before, clusterTime: seen.time, token: seen.token ?? before.token };
    return true;
  }

  private waitForProgress(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.waiting.add(done);
    });
  }

  private progress(): void {
    for (const done of [...this.waiting]) done();
  }

  /** Marks writes of one engine session: they are the engine's, and inserts belong to an import where one is named. */
  beginWork(work: EngineWork): () => void {
    this.work.add(work);
    return () => this.work.delete(work);
  }

  /** Tells that the branch is being forked; call what is returned with the fork's cluster time, or undefined where it failed. */
  beginFork(): (at: Timestamp | undefined) => void {
    return this.buckets.fork();
  }

  /** Appends entries of the engine's own (an import, a gap) to the history; resolves with the last one's sequence. */
  async note(op: 'import' | 'gap', ...entries: readonly NoteFields[]): Promise<number> {
    return this.exclusively(() => this.append(op, entries, {}));
  }

  /** With them goes where capture is from then on. */
  private async append(
    op: 'import' | 'gap',
    entries: readonly NoteFields[],
    moved: Partial<CaptureState>,
  ): Promise<number> {
    const state = { ...this.state, ...moved, seq: this.state.seq + entries.length };
    const first = this.state.seq + 1;
    const records = entries.map((fields, index) => {
      const own = op === 'import' ? { actor: engineActor } : {};
      return { seq: first + index, clusterTime: state.clusterTime, wall: new Date(), op, ...own, ...fields };
    });
    await this.options.history.append(records, [], state);
    this.state = state;
    this.options.onChanges(state.seq);
    this.progress();
    return state.seq;
  }

  private exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.appending.then(work, work);
    this.appending = result.catch(() => undefined);
    return result;
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.stream.close();
    await this.running;
    this.progress();
  }

  /** While one batch is written, the next is fetched and completed; they are written in order. */
  private async run(isLive: () => void): Promise<void> {
    let pauseMs = 20;
    let writing: Promise<void> = Promise.resolve();
    while (!this.ended.signal.aborted) {
      try {
        const batch = await this.stream.next();
        isLive();
        if (batch.events.length > 0) {
          const written = writing;
          const prepared = await this.prepare(batch, () => written);
          await writing;
          writing = this.record(prepared);
          // A failure is met at the next turn.
          writing.catch(() => undefined);
        } else {
          await writing;
          if (batch.token) await this.idle(batch.token);
        }
        pauseMs = 20;
      } catch (error) {
        await writing.catch(() => undefined);
        writing = Promise.resolve();
        if (this.ended.signal.aborted) return;
        const problem = error instanceof HistoryLost ? await this.gap().catch((failed: unknown) => failed) : error;
        if (problem !== undefined) {
          this.options.log(`capture of ${this.options.branchId}: ${String(problem)}; trying again`);
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          pauseMs = Math.min(pauseMs * 2, 2_000);
        }
        await this.reopen();
      }
    }
    await writing.catch(() => undefined);
  }

  /** From the last position that home has: what was read and not written is read again. */
  private async reopen(): Promise<void> {
    await this.stream.close();
    this.unwritten.length = 0;
    this.buckets.forget();
    this.stream = new RawChangeStream(this.options.client, startOf(this.state));
  }

  private async idle(token: Uint8Array): Promise<void> {
    this.state = { ...this.state, token, clusterTime: tokenTime(token) };
    if (performance.now() - this.savedAt > idleSaveMs) {
      this.savedAt = performance.now();
      await this.options.history.advance(this.state);
    }
    this.progress();
  }

  /**
   * What happened between the last known position and now cannot be known: said, never skipped. Where home fails on the way, or
   * the engine is killed, the same gap is met again, and is still one.
   */
  private async gap(): Promise<void> {
    const { client, home, branchId, log } = this.options;
    const reason = 'The change log had rolled over before it was read.';
    log(`capture of ${branchId}: ${reason}`);
    const now = await lastWriteTime(client);
    const from = new Date(this.state.clusterTime.t * 1000);
    const to = new Date();
    const open = { branch: branchId, kind: 'log', from, reason, settled: false } as const;
    await home.gaps.updateOne(open, { $set: { to }, $setOnInsert: { _id: randomUUID() } }, { upsert: true });
    const detail = { reason, from: from.toISOString(), to: to.toISOString() };
    await this.exclusively(() => this.append('gap', [{ detail }], { clusterTime: now, token: undefined }));
  }

  private async prepare(batch: StreamBatch, previous: () => Promise<void>): Promise<PreparedBatch> {
    this.unwritten.push(batch.events[0]!.wall);
    this.cover(batch.events);
    const events = batch.events.filter((event) => !isNoise(event));
    const [images, authors] = await Promise.all([this.images.complete(events, previous), this.authors(events)]);
    await this.markGaps(events, images);
    return { batch, events, images, authors };
  }

  private async record({ batch, events, images, authors }: PreparedBatch): Promise<void> {
    for (const [from, to] of inPieces(events, images)) {
      this.unwritten[0] = events[from]!.wall;
      await this.roomToWrite();
      await this.write(events.slice(from, to), images.slice(from, to), authors);
    }
    await this.exclusively(() => {
      if (batch.token) this.state = { ...this.state, token: batch.token, clusterTime: positionAfter(batch) };
      return Promise.resolve();
    });
    this.unwritten.shift();
    this.progress();
  }

  /** Home is never written into a full disk: that would end its server, and with it everything. The change log keeps what waits. */
  private async roomToWrite(): Promise<void> {
    const { signal } = this.ended;
    await this.options.room(signal, () => {
      this.waitsForRoom = true;
      this.progress();
      this.options.onChanges(this.state.seq);
    });
    this.waitsForRoom = false;
    signal.throwIfAborted();
  }

  private async write(
    events: readonly StreamEvent[],
    images: readonly Images[],
    authors: ReadonlyMap<string, Author>,
  ): Promise<void> {
    const last = events.at(-1)!;
    await this.exclusively(async () => {
      let { seq } = this.state;
      const records: ChangeRecord[] = [];
      const imported: ImportedKey[] = [];
      events.forEach((event, index) => {
        const author = this.authorOf(event, authors);
        const work = this.workOf(event, author);
        if (work?.importSeq !== undefined && event.key && event.uuid) {
          if (work.recordKeys) imported.push({ seq: work.importSeq, uuid: event.uuid, key: event.key });
          return;
        }
        seq += 1;
        records.push(toRecord(event, images[index]!, seq, this.attribute(author, work)));
      });
      // A later piece may hold the rest of the same transaction: the time is reached only with the whole batch.
      const state: CaptureState = { ...this.state, seq, token: last.token.slice() };
      await this.options.history.append(records, imported, state);
      this.state = state;
      if (records.length > 0) this.options.onChanges(seq);
    });
    this.progress();
  }

  /** New collections get images from their first moment on; one whose images were switched off gets them back. */
  private cover(events: readonly StreamEvent[]): void {
    for (const event of events) {
      const create = event.op === 'create' && event.uuid !== undefined;
      if (!create && !switchesImagesOff(event)) continue;
      if (event.db === undefined || event.collection === undefined || !canHaveImages(event.collection)) continue;
      void switchImagesOn(this.options.client, event.db, event.collection, this.ended.signal);
    }
  }

  /** Collections whose recorded changes are not the whole truth from here on, until a comparison settles them. */
  private async markGaps(events: readonly StreamEvent[], images: readonly Images[]): Promise<void> {
    const found = new Map<string, Pick<GapRecord, 'kind' | 'ns' | 'reason'>>();
    const mark = (kind: GapRecord['kind'], ns: string, reason: string) =>
      found.set(`${kind} ${ns}`, { kind, ns, reason });
    events.forEach((event, index) => {
      const ns = timeSeriesNamespace(event) ?? `${event.db}.${event.collection}`;
      if (images[index]?.lost)
        mark(
          'images',
          ns,
          `What some documents of ${ns} were before a change could not be had; an exact comparison tells what differs.`,
        );
      else if (images[index]?.folded)
        mark(
          'folded',
          ns,
          'Documents were put together from update descriptions; an exact comparison settles whether they are right.',
        );
    });
    const { home, branchId } = this.options;
    for (const gap of found.values()) {
      const open = { branch: branchId, settled: false, ...gap } as const;
      await home.gaps.updateOne(open, { $setOnInsert: { _id: randomUUID(), from: events[0]!.wall } }, { upsert: true });
    }
  }

  private async authors(events: readonly StreamEvent[]): Promise<Map<string, Author>> {
    const several = this.options.accounts().length > 1 || this.options.ttlIndexes;
    if (this.work.size === 0 && !several) return new Map();
    return authorsOf(
      this.options.client,
      // Those of a transaction tell it themselves.
      events.filter((event) => isDocumentOp(event.op) && !event.transaction),
    );
  }

  private authorOf(event: StreamEvent, authors: ReadonlyMap<string, Author>): Author | undefined {
    if (event.transaction) {
      const [session = '', txnNumber = ''] = event.transaction.id.split(':');
      return { uid: event.transaction.uid, session, txnNumber };
    }
    return authors.get(timeKey(event.clusterTime));
  }

  private workOf(event: StreamEvent, author: Author | undefined): EngineWork | undefined {
    for (const work of this.work) {
      if (author) {
        if (author.session === work.session) return work;
      } else if (!isDocumentOp(event.op)) {
        const ns = `${event.db}.${event.collection}`;
        if (work.namespaces === 'all' || work.namespaces.has(ns))
          return { session: work.session, namespaces: work.namespaces };
      }
    }
    return undefined;
  }

  /** By credential; where the server does not tell, the only one there is, or "one of"; never a guess. */
  private attribute(author: Author | undefined, work: EngineWork | undefined): Attribution {
    if (work) return { actor: engineActor };
    const accounts = this.options.accounts();
    if (author) {
      if (author.uid === uidOf(this.options.engineUser)) return { actor: engineActor };
      const account = accounts.find(({ user }) => uidOf(user) === author.uid);
      return account ? { actor: account.actor } : {};
    }
    const writers = accounts.filter(({ access }) => access !== 'read').map(({ actor }) => actor);
    const candidates = this.options.ttlIndexes ? [...writers, ttlActor] : writers;
    return candidates.length === 1 ? { actor: candidates[0]! } : candidates.length > 1 ? { actors: candidates } : {};
  }
}

function startOf(state: CaptureState): StreamStart {
  return state.token ? { token: state.token } : { time: state.clusterTime };
}

/**
 * Up to which time a batch is the whole truth. All writes of a transaction have one time, and a batch that ends inside
 * one says nothing of the rest.
 */
function positionAfter({ events, token }: StreamBatch): Timestamp {
  const last = events.at(-1);
  const time = tokenTime(token!);
  return last?.transaction && last.clusterTime.equals(time) ? tickBefore(time) : time;
}

/** Ranges of events: at most so many, and so many bytes of images, go into one transaction of home. */
function* inPieces(events: readonly StreamEvent[], images: readonly Images[]): Generator<[from: number, to: number]> {
  let from = 0;
  let bytes = 0;
  for (let index = 0; index < events.length; index += 1) {
    const size = (images[index]?.before?.length ?? 0) + (images[index]?.after?.length ?? 0) + 200;
    if (index > from && (index - from >= transactionEvents || bytes + size > transactionBytes)) {
      yield [from, index];
      from = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (events.length > from) yield [from, events.length];
}
