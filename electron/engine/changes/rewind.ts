import { Binary } from 'mongodb';
import { sameBytes, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import type { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import { importedAfter, marks } from '../home/past.ts';
import type { BranchRecord, ChangeRecord } from '../home/records.ts';
import { Catalog, readCatalog, type CollectionSchema } from './catalog.ts';
import type { MomentAt } from './moment.ts';
import { catalogsAt, dropsBetween, unlikeServer } from './schema-history.ts';
import type { Side } from './side.ts';
import { readCurrent, uuidText } from './touched.ts';

/** A branch's history as a way back reads it; the branch itself need not run. */
export interface Source {
  readonly record: BranchRecord;
  readonly history: History;
}

/** A document that differs between a moment and now. */
export interface BackDocument {
  /** {@link touchedId} */
  readonly id: Uint8Array;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  /** Its collection as it is called now. */
  readonly ns: string;
  readonly then: Uint8Array | undefined;
  readonly now: Uint8Array | undefined;
}

/** Something that cannot be put back, and why, as a sentence. */
export interface LeftOut {
  readonly name: 'documents' | 'schema' | 'history';
  readonly detail: string;
}

/** The first thing that happened to a document after the moment. */
interface First {
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  readonly seq: number;
  readonly imported: boolean;
}

const pageDocuments = 500;

/**
 * What a branch was at a moment of its history, against what a server of the same collections holds now: the branch's
 * own, or that of a fork of it. Costs what changed since the moment.
 */
export class Rewind {
  readonly home: Home;
  readonly source: Source;
  readonly at: MomentAt;
  /** Changes behind this one are not looked at: a fork does not have them. */
  readonly upTo: number;
  /** Whose documents and catalog are `now`. */
  readonly side: Side;
  readonly now: Catalog;
  /** The catalog at the moment, as far as it is known; elsewhere as it is now. */
  readonly then: Catalog;
  /** When each collection was first dropped after the moment, by UUID. */
  readonly drops: ReadonlyMap<string, number>;
  private readonly left = new Map<string, LeftOut>();

  private constructor(given: Pick<Rewind, 'home' | 'source' | 'at' | 'upTo' | 'side' | 'now' | 'then' | 'drops'>) {
    this.home = given.home;
    this.source = given.source;
    this.at = given.at;
    this.upTo = given.upTo;
    this.side = given.side;
    this.now = given.now;
    this.then = given.then;
    this.drops = given.drops;
  }

  static async open(home: Home, source: Source, side: Side, at: MomentAt, upTo: number): Promise<Rewind> {
    const [now, [then, replayed], drops] = await Promise.all([
      readCatalog(side.client),
      catalogsAt(home, source.record._id, [at.seq, upTo]),
      dropsBetween(home, source.record._id, at.seq, upTo),
    ]);
    const unlike = unlikeServer(replayed!, now);
    const { catalog, missing } = catalogThen(then!, replayed!, now, unlike);
    const rewind = new Rewind({
      home,
      source,
      at,
      upTo,
      side,
      now,
      then: catalog,
      drops,
    });
    for (const ns of unlike) {
      rewind.leaveOut({
        name: 'schema',
        detail: `What options and indexes ${ns} had then is not known; they stay as they are.`,
      });
    }
    for (const ns of missing) {
      rewind.leaveOut({
        name: 'schema',
        detail: `${ns} was there then and does not come back: what options and indexes it had is not known.`,
      });
    }
    await rewind.lookForGaps();
    return rewind;
  }

  /** What cannot be put back; complete only when all documents have been read. */
  get leftOut(): LeftOut[] {
    return [...this.left.values()];
  }

  leaveOut(what: LeftOut): void {
    this.left.set(what.detail, what);
  }

  /** Times and collections of which the history is not the whole truth. */
  private async lookForGaps(): Promise<void> {
    const { _id, name, parent } = this.source.record;
    const since = this.at.time ?? this.source.record.forkedAt;
    for (const gap of await this.home.gaps.find({ branch: _id }).toArray()) {
      if (gap.to && gap.to < since && gap.settled) continue;
      // What a comparison found is in the history like any change; main is compared with nothing.
      if (gap.settled && parent !== undefined && gap.kind !== 'log') continue;
      const of = gap.ns === undefined ? name : gap.ns;
      this.leaveOut({ name: 'history', detail: `The history of ${of} since then is not whole: ${gap.reason}` });
    }
  }

  /** Documents of collections that were there then and are there now, where they differ, a page at a time. */
  async *documents(within?: string): AsyncGenerator<BackDocument[]> {
    const firsts = await this.firsts(within);
    let page: [string, First][] = [];
    for (const each of firsts) {
      page.push(each);
      if (page.length === pageDocuments) {
        yield await this.read(page);
        page = [];
      }
    }
    if (page.length > 0) yield await this.read(page);
  }

  /** One document; undefined where it has not changed since. */
  async document(ns: string, key: BsonValue): Promise<BackDocument | undefined> {
    const uuid = this.now.byNamespace.get(ns)?.uuid;
    if (uuid === undefined) return undefined;
    const bytes = Buffer.from(uuid, 'hex');
    const wanted = toBase64(touchedId(bytes, key));
    const row = await this.source.history.touched.row(touchedId(bytes, key));
    if (!row || row.last <= this.at.seq) return undefined;
    const first = (await this.firsts(ns)).get(wanted);
    return first && (await this.read([[wanted, first]]))[0];
  }

  /** The first change of each document after the moment, by touched id, in the order in which they happened. */
  private async firsts(within: string | undefined): Promise<Map<string, First>> {
    const firsts = new Map<string, First>();
    const wanted = within === undefined ? undefined : this.now.byNamespace.get(within)?.uuid;
    if (within !== undefined && wanted === undefined) return firsts;
    const filter = wanted === undefined ? {} : { u: new Binary(Buffer.from(wanted, 'hex'), 4) };
    let imports = false;
    const range = { after: this.at.seq, upTo: this.upTo };
    for await (const page of marks(this.home, this.source.record._id, range, filter)) {
      for (const { op, uuid, key, seq, ns, detail } of page) {
        if (op === 'import') imports = true;
        if (detail?.['timeSeries'] === true) this.leaveOut(timeSeries(ns ?? ''));
        if (!uuid || !key || !this.isInBoth(uuidText(uuid))) continue;
        const id = toBase64(touchedId(uuid, key));
        if (!firsts.has(id)) firsts.set(id, { uuid, key, seq, imported: false });
      }
    }
    if (imports || wanted !== undefined) await this.addImported(firsts, wanted);
    return firsts;
  }

  private async addImported(firsts: Map<string, First>, wanted: string | undefined): Promise<void> {
    for await (const rows of importedAfter(this.home, this.source.record._id, this.at.seq)) {
      for (const { uuid, key, imports = [] } of rows) {
        const collection = uuidText(uuid);
        if (!this.isInBoth(collection) || (wanted !== undefined && collection !== wanted)) continue;
        const seq = Math.min(...imports.filter((each) => each > this.at.seq));
        if (seq > this.upTo) continue;
        const id = toBase64(touchedId(uuid, key));
        const known = firsts.get(id);
        if (!known || known.seq > seq) firsts.set(id, { uuid, key, seq, imported: true });
      }
    }
  }

  /** Collections that were there then and were dropped since; some may have come back. */
  get dropped(): string[] {
    return [...this.drops.keys()].filter((uuid) => this.then.byUuid.has(uuid));
  }

  /** What was made since goes as a whole, and what was dropped is compared as a whole. */
  private isInBoth(uuid: string): boolean {
    return this.now.byUuid.has(uuid) && this.then.byUuid.has(uuid) && !this.drops.has(uuid);
  }

  private async read(page: readonly (readonly [string, First])[]): Promise<BackDocument[]> {
    const seqs = page.flatMap(([, { seq, imported }]) => (imported ? [] : [seq]));
    const [records, current] = await Promise.all([
      this.source.history.changes.bySeq(seqs, { before: true }),
      this.current(page.map(([, first]) => first)),
    ]);
    return page.flatMap(([id, { uuid, key, seq, imported }]) => {
      const { ns } = this.now.byUuid.get(uuidText(uuid))!;
      const then = imported ? { image: undefined } : imageBefore(records.get(seq));
      if (!then) {
        this.leaveOut({
          name: 'documents',
          detail: `What some documents of ${ns} were then was not recorded; they stay as they are.`,
        });
        return [];
      }
      const now = current.get(id);
      if (sameBytes(then.image, now)) return [];
      return [{ id: Buffer.from(id, 'base64'), uuid, key, ns, then: then.image, now }];
    });
  }

  /** Documents as the server has them now, by touched id. */
  private async current(documents: readonly Pick<First, 'uuid' | 'key'>[]): Promise<Map<string, Uint8Array>> {
    return currentDocuments(this.side, this.now, documents);
  }
}

/** Documents as a server has them now, by touched id (base64). Those of collections it does not have are left out. */
export async function currentDocuments(
  side: Pick<Side, 'client'>,
  catalog: Catalog,
  documents: readonly { readonly uuid: Uint8Array; readonly key: BsonValue }[],
): Promise<Map<string, Uint8Array>> {
  const placed = documents.flatMap((row) => {
    const ns = catalog.byUuid.get(uuidText(row.uuid))?.ns;
    return ns === undefined ? [] : [{ row, ns }];
  });
  const found = await readCurrent(side, placed);
  return new Map([...found].map(([{ uuid, key }, document]) => [toBase64(touchedId(uuid, key)), document]));
}

/** The document right before a change; undefined where that was not recorded. */
export function imageBefore(change: ChangeRecord | undefined): { readonly image: Uint8Array | undefined } | undefined {
  if (!change) return undefined;
  if (change.before) return { image: change.before };
  if (change.op === 'insert' || change.detail?.['created'] === true) return { image: undefined };
  return undefined;
}

/** What is recorded of measurements is what they came to, not each step. */
export function timeSeries(ns: string): LeftOut {
  return {
    name: 'documents',
    detail: `Measurements of the time-series collection ${ns} are not recorded one by one; they stay as they are.`,
  };
}

/** What was in a series is not recorded: it would come back empty. */
export function goneSeries(ns: string): LeftOut {
  return {
    name: 'documents',
    detail: `The time-series collection ${ns} was dropped since, and its measurements are recorded nowhere. It stays as it is now.`,
  };
}

/** The moment's catalog, told in the server's own bytes where nothing changed since, and as it is now where unknown. */
function catalogThen(
  then: Catalog,
  replayed: Catalog,
  now: Catalog,
  unlike: ReadonlySet<string>,
): { readonly catalog: Catalog; readonly missing: readonly string[] } {
  const collections: CollectionSchema[] = [];
  const unknown: string[] = [];
  const doubtful = (each: CollectionSchema) => unlike.has(each.ns);
  const actual = (each: CollectionSchema) =>
    each.uuid === undefined ? now.byNamespace.get(each.ns) : now.byUuid.get(each.uuid);
  for (const each of then.byNamespace.values()) {
    const later = each.uuid === undefined ? replayed.byNamespace.get(each.ns) : replayed.byUuid.get(each.uuid);
    if (doubtful(each) || (later && doubtful(later))) {
      unknown.push(each.ns);
      continue;
    }
    collections.push(later === each ? (actual(each) ?? each) : each);
  }
  for (const each of now.byNamespace.values()) {
    const wasReplayed = each.uuid === undefined ? replayed.byNamespace.get(each.ns) : replayed.byUuid.get(each.uuid);
    if (doubtful(each) || (wasReplayed && doubtful(wasReplayed))) collections.push(each);
  }
  const catalog = new Catalog(collections);
  return { catalog, missing: unknown.filter((ns) => !catalog.byNamespace.has(ns)) };
}
