import { Binary } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { touchedId } from '../home/touched-id.ts';
import { importedAfter, marks } from '../home/past.ts';
import { ForkImages, recordedOf } from './fork-images.ts';
import { loadBaseCatalog } from './base-catalog.ts';
import { readCatalog } from './catalog.ts';
import { currentDocuments, imageBefore, type BackDocument, type Rewind } from './rewind.ts';
import { dropsBetween } from './schema-history.ts';
import { rawFind } from '../mongod/raw.ts';
import type { Side } from './side.ts';
import { readByKey } from './touched.ts';

const pageDocuments = 500;

/** What the history holds of one document around the moment. */
interface Trace {
  readonly key: BsonValue;
  /** Its last change up to the moment, and its first one behind it, before the drop. */
  last?: number;
  first?: number;
  /** The import that brought it after its last change: its bytes are not recorded. */
  imported?: boolean;
}

/**
 * The documents of a collection that was dropped after the moment, as they were then; also where it has come back since.
 * What the history recorded is exact; what was never touched is what the branch had from its parent, which must still
 * hold that collection.
 */
export class DroppedCollection {
  private readonly rewind: Rewind;
  /** The collection's UUID. */
  readonly hex: string;
  private readonly uuid: Uint8Array;
  readonly ns: string;
  private readonly untouched: { readonly parent: Side; readonly db: string; readonly atFork: ForkImages } | undefined;
  /** By touched id. */
  private readonly traces: ReadonlyMap<string, Trace>;

  private constructor(
    rewind: Rewind,
    hex: string,
    untouched: DroppedCollection['untouched'],
    traces: ReadonlyMap<string, Trace>,
  ) {
    this.rewind = rewind;
    this.hex = hex;
    this.uuid = Buffer.from(hex, 'hex');
    this.ns = rewind.then.byUuid.get(hex)!.ns;
    this.untouched = untouched;
    this.traces = traces;
  }

  /**
   * @param hex the collection's UUID
   * @param parent the branch that the source came from, where that runs
   * @returns a sentence where some of its documents are recorded nowhere
   */
  static async open(rewind: Rewind, hex: string, parent: Side | undefined): Promise<DroppedCollection | string> {
    const { home, source, at } = rewind;
    const { ns } = rewind.then.byUuid.get(hex)!;
    const gone = `${ns} was dropped since, and`;
    const base = (await loadBaseCatalog(home, source.record._id)).atFork;
    let untouched: DroppedCollection['untouched'];
    if (base.byUuid.has(hex)) {
      const there = parent && (await readCatalog(parent.client)).byUuid.get(hex);
      const cameBack = parent && (await dropsBetween(home, parent.record._id, 0, parent.capture.seq)).has(hex);
      if (!parent || !there || cameBack)
        return `${gone} the documents it held from the beginning are recorded nowhere.`;
      untouched = { parent, db: there.db, atFork: await ForkImages.open(source, parent) };
    }
    for await (const page of marks(home, source.record._id, { after: 0, upTo: at.seq }, { o: 'import' })) {
      if (page.some(({ detail }) => detail?.['keys'] === false && importedInto(detail, ns)))
        return `${gone} the documents imported into it are not recorded one by one.`;
    }
    const traces = await tracesOf(rewind, hex);
    if ([...traces.values()].some(({ imported, first }) => imported && first === undefined))
      return `${gone} the documents imported into it are recorded by key alone.`;
    const dropped = new DroppedCollection(rewind, hex, untouched, traces);
    return (await dropped.isRecorded()) ? dropped : `${gone} not all of its documents are recorded.`;
  }

  /** Every document that differs from what the server holds now, a page at a time. */
  async *documents(): AsyncGenerator<BackDocument[]> {
    const seen = new Set<string>();
    for await (const page of this.atTheMoment()) {
      const now = await currentDocuments(this.rewind.side, this.rewind.now, page);
      for (const { id } of page) seen.add(toBase64(id));
      const documents = page.map((each) => ({ ...each, now: now.get(toBase64(each.id)) }));
      yield documents.filter((each) => !sameBytes(each.then, each.now));
    }
    yield* this.addedSince(seen);
  }

  /** Every document of it at the moment. */
  private async *atTheMoment(): AsyncGenerator<BackDocument[]> {
    for (const page of this.pages()) {
      yield (await this.recorded(page)).flatMap(({ trace, then }) => (then ? [this.document(trace.key, then)] : []));
    }
    if (!this.untouched) return;
    const { parent, db, atFork } = this.untouched;
    const known = new Set<string>();
    for (const ids of atFork.changedIds(this.uuid, pageDocuments)) {
      const keys = (await parent.history.touched.rows(ids)).map((row) => row.key);
      for (const key of keys) known.add(keyText(key));
      yield await this.fromParent(keys);
    }
    for await (const keys of keysIn(parent, { db, uuid: this.uuid })) {
      yield await this.fromParent(keys.filter((key) => !known.has(keyText(key))));
    }
  }

  /** Where it has come back: what it holds now and did not hold then. */
  private async *addedSince(seen: ReadonlySet<string>): AsyncGenerator<BackDocument[]> {
    const there = this.rewind.now.byUuid.get(this.hex);
    if (!there) return;
    for await (const keys of keysIn(this.rewind.side, { db: there.db, uuid: this.uuid })) {
      const fresh = keys.filter((key) => !seen.has(toBase64(touchedId(this.uuid, key))));
      const documents = fresh.map((key) => this.document(key, undefined));
      const now = await currentDocuments(this.rewind.side, this.rewind.now, documents);
      yield documents.map((each) => ({ ...each, now: now.get(toBase64(each.id)) })).filter((each) => each.now);
    }
  }

  /** Those of these keys that the branch never touched before the drop, as it had them from its parent. */
  private async fromParent(keys: readonly BsonValue[]): Promise<BackDocument[]> {
    const { parent, db, atFork } = this.untouched!;
    const untouched = keys.filter((key) => !this.traces.has(toBase64(touchedId(this.uuid, key))));
    const [current, recorded] = await Promise.all([
      readByKey(parent, { db, uuid: this.uuid }, untouched),
      recordedOf(parent, this.uuid, untouched),
    ]);
    const images = await atFork.at(this.uuid, untouched, current, recorded);
    return untouched.flatMap((key) => {
      const then = images.get(keyText(key));
      return then ? [this.document(key, then)] : [];
    });
  }

  private document(key: BsonValue, then: Uint8Array | undefined): BackDocument {
    const { ns, uuid } = this;
    return { id: touchedId(uuid, key), uuid, key, ns, then, now: undefined };
  }

  private *pages(): Generator<Trace[]> {
    const all = [...this.traces.values()];
    for (let from = 0; from < all.length; from += pageDocuments) yield all.slice(from, from + pageDocuments);
  }

  private async isRecorded(): Promise<boolean> {
    for (const page of this.pages()) if ((await this.recorded(page)).length < page.length) return false;
    return true;
  }

  /** What each of these was at the moment; those of which that is not recorded are left out. */
  private async recorded(
    page: readonly Trace[],
  ): Promise<{ readonly trace: Trace; readonly then: Uint8Array | undefined }[]> {
    const { history } = this.rewind.source;
    const [firsts, lasts] = await Promise.all([
      history.changes.bySeq(
        page.flatMap(({ first }) => (first === undefined ? [] : [first])),
        { before: true },
      ),
      history.changes.bySeq(
        page.flatMap(({ first, last }) => (first === undefined && last !== undefined ? [last] : [])),
        { after: true },
      ),
    ]);
    return page.flatMap((trace) => {
      if (trace.first !== undefined) {
        const change = firsts.get(trace.first);
        // An import is an insert.
        const before = change?.op === 'import' ? { image: undefined } : imageBefore(change);
        return before ? [{ trace, then: before.image }] : [];
      }
      const change = lasts.get(trace.last ?? 0);
      if (change?.after) return [{ trace, then: change.after }];
      return change?.op === 'delete' || change?.detail?.['removed'] === true ? [{ trace, then: undefined }] : [];
    });
  }
}

/** What happened to each document of the collection until it was dropped. */
async function tracesOf({ home, source, at, drops }: Rewind, hex: string): Promise<Map<string, Trace>> {
  const uuid = Buffer.from(hex, 'hex');
  const dropped = drops.get(hex) ?? at.seq;
  const traces = new Map<string, Trace>();
  const own = { u: new Binary(uuid, 4), k: { $exists: true } };
  const touch = (key: BsonValue, seq: number): Trace => {
    const id = toBase64(touchedId(uuid, key));
    let trace = traces.get(id);
    if (!trace) traces.set(id, (trace = { key }));
    if (seq > at.seq) trace.first = Math.min(trace.first ?? seq, seq);
    return trace;
  };
  for await (const page of marks(home, source.record._id, { after: 0, upTo: dropped }, own)) {
    for (const { key, seq } of page) {
      const trace = touch(key!, seq);
      if (seq <= at.seq) trace.last = seq;
    }
  }
  for await (const rows of importedAfter(home, source.record._id, 0)) {
    for (const row of rows) {
      if (!sameBytes(row.uuid, uuid)) continue;
      for (const seq of row.imports ?? []) {
        if (seq > dropped) continue;
        const trace = touch(row.key, seq);
        if (seq <= at.seq && seq > (trace.last ?? 0)) trace.imported = true;
      }
    }
  }
  return traces;
}

function importedInto(detail: Readonly<Record<string, unknown>>, ns: string): boolean {
  const collections = detail['collections'];
  // One that was cut off does not say.
  return !Array.isArray(collections) || (collections as { ns: string }[]).some((each) => each.ns === ns);
}

/** Every key of a collection, in groups. */
export async function* keysIn(
  side: Pick<Side, 'client'>,
  { db, uuid }: { readonly db: string; readonly uuid: Uint8Array },
): AsyncGenerator<BsonValue[]> {
  const query = { collection: new Binary(uuid, 4), filter: {}, projection: { _id: 1 }, batchSize: pageDocuments };
  for await (const batch of rawFind(side.client.db(db), query)) {
    yield batch.flatMap((document) => field(document, '_id') ?? []);
  }
}
