import { Binary, MongoServerError, type Timestamp } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { NoteFields } from '../capture/capture.ts';
import { touchedId } from '../home/touched-id.ts';
import type { TouchedRecord } from '../home/records.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import { uuidNamed } from './catalog.ts';
import { agrees, recordedOf, withLast, type ForkImages, type Recorded } from './fork-images.ts';
import { differingPairs, type Pair, type Tally } from './lockstep.ts';
import { touchedSince } from './parent-edits.ts';
import { settleNow, type Side } from './side.ts';
import { hasAfter } from './touched.ts';

/** A collection to verify; for a time-series collection `name` and `uuid` are its buckets'. */
export interface VerifiedCollection {
  readonly ns: string;
  readonly db: string;
  readonly name: string;
  readonly uuid: Uint8Array;
  /** The parent's collection of the same identity. */
  readonly parent?: { readonly ns: string; readonly db: string; readonly name: string };
  /** What it held at the fork cannot be known, so only changed documents can be judged. */
  readonly touchedOnly?: boolean;
}

/** Who is compared. Without a parent there is nothing before the history. */
export interface Participants {
  readonly branch: Side;
  readonly parent:
    | {
        readonly side: Side;
        readonly images: ForkImages;
        /** Some of its changes since the fork are in no history. */
        readonly historyLost: boolean;
        /** Changes of the branch lack images. */
        readonly imagesLost: boolean;
      }
    | undefined;
}

/** A document that a history did not know rightly: what it said, and what is there. */
export interface Finding {
  readonly side: Side;
  readonly ns: string;
  readonly key: BsonValue;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  /** The history knows of the document, but not its bytes. */
  readonly beforeUnknown: boolean;
}

const groupSize = 500;
const noteBytes = 8 * 1024 * 1024;
const confirmTries = 8;

/** One collection's comparison. */
export class CollectionCheck {
  private readonly who: Participants;
  private readonly collection: VerifiedCollection;
  private readonly tally: Tally;
  private readonly inTurn: <T>(branchId: string, work: () => Promise<T>) => Promise<T>;
  /** Documents that never stood still long enough to be judged. */
  restless = 0;
  /** It was dropped, renamed or written over on either side: the rest of it was not compared. */
  isGone = false;

  constructor(
    who: Participants,
    collection: VerifiedCollection,
    tally: Tally,
    inTurn: <T>(branchId: string, work: () => Promise<T>) => Promise<T>,
  ) {
    this.who = who;
    this.collection = collection;
    this.tally = tally;
    this.inTurn = inTurn;
  }

  /** Yields after every group that was compared; by then the histories know what was found. */
  async *run(): AsyncGenerator<Finding[]> {
    try {
      yield* this.touched();
      yield* this.changedByParent();
      yield* this.untouched();
      yield* this.parentTouched();
    } catch (error) {
      if (!(error instanceof MongoServerError) || !(await this.hasGone())) throw error;
      this.isGone = true;
    }
  }

  /** Whether its name leads to it no more, on either side. */
  private async hasGone(): Promise<boolean> {
    const { branch, parent } = this.who;
    const { db, name, parent: there } = this.collection;
    if (await this.isElsewhere(branch, { db, name })) return true;
    return parent !== undefined && there !== undefined && (await this.isElsewhere(parent.side, there));
  }

  private async isElsewhere({ client }: Side, { db, name }: { db: string; name: string }): Promise<boolean> {
    return !sameBytes(await uuidNamed(client, db, name), this.collection.uuid);
  }

  /** What the branch changed is what its history says it left. */
  private async *touched(): AsyncGenerator<Finding[]> {
    const { branch } = this.who;
    for await (const rows of touchedSince(branch.history, this.collection.uuid, undefined, groupSize)) {
      if (this.who.parent?.imagesLost) await this.mendBases(rows);
      const recorded = await withLast(branch, rows);
      const live = await this.read(branch, keysOf(rows));
      yield this.confirmBranch(disagreeing(rows, recorded, live));
    }
  }

  /** Where the first change has no before-image, the base is what the document was at the fork. */
  private async mendBases(rows: readonly TouchedRecord[]): Promise<void> {
    const { branch, parent } = this.who;
    if (!parent || !this.collection.parent) return;
    const bare = rows.filter(({ base }) => !base);
    const firsts = await branch.history.changes.bySeq(
      bare.map(({ first }) => first),
      { before: true },
    );
    const lost = bare.filter(({ first }) => {
      const change = firsts.get(first);
      return change && !change.before && ['update', 'replace', 'delete'].includes(change.op);
    });
    if (lost.length === 0) return;
    const images = await this.atFork(keysOf(lost), new Map());
    await branch.history.touched.moveBases(
      lost.map(({ id, key }) => ({ id, base: { document: images.get(keyText(key)) } })),
    );
  }

  /** What only the parent changed since is in the branch as it was at the fork. */
  private async *changedByParent(): AsyncGenerator<Finding[]> {
    const { branch, parent } = this.who;
    const { uuid } = this.collection;
    if (!parent || !this.collection.parent) return;
    for (const ids of parent.images.changedIds(uuid, groupSize)) {
      const own = new Set((await branch.history.touched.rows(ids)).map(({ key }) => keyText(key)));
      const rows = (await parent.side.history.touched.rows(ids)).filter(({ key }) => !own.has(keyText(key)));
      const keys = keysOf(rows);
      const [images, live] = await Promise.all([
        parent.images.at(uuid, keys, new Map(), new Map()),
        this.read(branch, keys),
      ]);
      yield this.confirmBranch(keys.filter((key) => !sameBytes(images.get(keyText(key)), live.get(keyText(key)))));
    }
  }

  /** What neither touched is the same on both sides. */
  private async *untouched(): AsyncGenerator<Finding[]> {
    const { branch, parent } = this.who;
    const { db, parent: there, touchedOnly } = this.collection;
    if (touchedOnly) return;
    const uuid = new Binary(this.collection.uuid, 4);
    const a = { db: branch.client.db(db), uuid };
    const b = parent && there && { db: parent.side.client.db(there.db), uuid };
    for await (const pairs of differingPairs(a, b, this.tally)) {
      for (let from = 0; from < pairs.length; from += groupSize) {
        const keys = await this.unexplained(pairs.slice(from, from + groupSize));
        const ofBranch = await this.confirmBranch(keys);
        const ofParent = await this.confirmParent(keys);
        yield [...ofBranch, ...ofParent];
      }
    }
    yield [];
  }

  /** Keys of differing documents that neither history accounts for. */
  private async unexplained(pairs: readonly Pair[]): Promise<BsonValue[]> {
    const { branch, parent } = this.who;
    const { uuid } = this.collection;
    const ids = pairs.map(({ key }) => touchedId(uuid, key));
    const own = new Set((await branch.history.touched.rows(ids)).map(({ key }) => keyText(key)));
    const left = pairs.filter(({ key }) => !own.has(keyText(key)));
    if (!parent || left.length === 0) return left.map(({ key }) => key);
    const rows = await parent.side.history.touched.rows(left.map(({ key }) => touchedId(uuid, key)));
    const since = new Map(rows.filter(({ last }) => last > parent.images.from).map((row) => [keyText(row.key), row]));
    // Imported into the parent since, it should not be here; what it changed otherwise was looked at already.
    const wrong = ({ key, a }: Pair) =>
      !since.has(keyText(key)) || (since.get(keyText(key))!.first > parent.images.from && a !== undefined);
    return left.filter(wrong).map(({ key }) => key);
  }

  /** What the parent changed since is what its history says it left. */
  private async *parentTouched(): AsyncGenerator<Finding[]> {
    const { parent } = this.who;
    if (!parent || !this.collection.parent) return;
    for await (const rows of touchedSince(parent.side.history, this.collection.uuid, parent.images.from, groupSize)) {
      const recorded = await withLast(parent.side, rows);
      const live = await this.read(parent.side, keysOf(rows));
      yield this.confirmParent(disagreeing(rows, recorded, live));
    }
  }

  /** Looks again, at one moment of both sides, at documents of the branch that seem wrong; tells its history. */
  private async confirmBranch(keys: readonly BsonValue[]): Promise<Finding[]> {
    const { branch, parent } = this.who;
    const { uuid } = this.collection;
    return this.confirm(branch, keys, async (open, at) => {
      const live = await this.read(branch, open, at);
      const theirs = parent && this.collection.parent ? await this.atFork(open, live) : new Map<string, undefined>();
      const recorded = await recordedOf(branch, uuid, open);
      return open.map((key) => {
        const text = keyText(key);
        const known = recorded.get(text);
        const after = live.get(text);
        if (!known) return { key, right: sameBytes(theirs.get(text), after), before: theirs.get(text), after, known };
        return { key, right: agrees(known, after), before: known.last?.after, after, known };
      });
    });
  }

  /** Documents at the fork; where only the branch can tell, because the parent's history lost something, as it has them. */
  private async atFork(
    keys: readonly BsonValue[],
    live: ReadonlyMap<string, Uint8Array>,
  ): Promise<Map<string, Uint8Array | undefined>> {
    const { side, images, historyLost } = this.who.parent!;
    const { uuid } = this.collection;
    await settleNow(side);
    const now = await this.read(side, keys, side.capture.position);
    const recorded = await recordedOf(side, uuid, keys);
    await images.refresh();
    const atFork = await images.at(uuid, keys, now, recorded);
    if (historyLost)
      for (const key of keys) {
        const text = keyText(key);
        if (!images.knows(uuid, key, recorded.get(text))) atFork.set(text, live.get(text));
      }
    return atFork;
  }

  /** The same for the parent's own history. */
  private async confirmParent(keys: readonly BsonValue[]): Promise<Finding[]> {
    const { branch, parent } = this.who;
    if (!parent || !this.collection.parent) return [];
    const { side, images, historyLost } = parent;
    const { uuid } = this.collection;
    return this.confirm(side, keys, async (open, at) => {
      const [live, theirs] = [await this.read(side, open, at), historyLost ? await this.read(branch, open) : undefined];
      const [recorded, touched] = [await recordedOf(side, uuid, open), await recordedOf(branch, uuid, open)];
      return open.map((key) => {
        const text = keyText(key);
        const known = recorded.get(text);
        const after = live.get(text);
        // What an import left cannot be told from its record: it counts as the branch's doing, unless a gap is known.
        const lost = theirs !== undefined && !touched.has(text) && !images.knows(uuid, key, known);
        if (lost) return { key, right: sameBytes(theirs.get(text), after), before: theirs.get(text), after, known };
        return { key, right: !known || agrees(known, after), before: known?.last?.after, after, known };
      });
    });
  }

  private async confirm(
    side: Side,
    keys: readonly BsonValue[],
    look: (keys: readonly BsonValue[], at: Timestamp) => Promise<Looked[]>,
  ): Promise<Finding[]> {
    const found: Finding[] = [];
    let open = keys;
    for (let attempt = 0; attempt < confirmTries && open.length > 0; attempt += 1) {
      await settleNow(side);
      await this.inTurn(side.record._id, async () => {
        const at = side.capture.position;
        const looked = await look(open, at);
        const moved = looked.filter(({ known }) => (known?.last?.clusterTime.compare(at) ?? 0) > 0);
        const wrong = looked.filter((each) => !each.right && !moved.includes(each));
        const findings = wrong.map((each) => this.finding(side, each));
        await note(side, this.collection.uuid, findings);
        found.push(...findings);
        open = moved.map(({ key }) => key);
      });
    }
    this.restless += open.length;
    return found;
  }

  private finding(side: Side, { key, before, after, known }: Looked): Finding {
    const ns = side === this.who.branch ? this.collection.ns : this.collection.parent!.ns;
    const beforeUnknown = known !== undefined && !hasAfter(known.last);
    return { side, ns, key, before, after, beforeUnknown };
  }

  /** Documents by {@link keyText}, as a side has them now or had them at a moment. */
  private async read(side: Side, keys: readonly BsonValue[], at?: Timestamp): Promise<Map<string, Uint8Array>> {
    if (keys.length === 0) return new Map();
    const place = side === this.who.branch ? this.collection : this.collection.parent;
    if (!place) return new Map();
    const filter = { _id: { $in: keys.map(driverValue) } };
    const query = { filter, batchSize: keys.length + 1, collection: new Binary(this.collection.uuid, 4) };
    const db = side.client.db(place.db);
    const found = await rawFindAll(db, { ...query, atClusterTime: at }).catch(async () => {
      // A capped or just renamed collection has no past that could be read: then as it is now, and the history is asked only
      // when it knows of everything that was read, or what came in between would be taken for something it never saw.
      const now = await rawFindAll(db, query);
      await settleNow(side);
      return now;
    });
    return new Map(found.map((document) => [keyText(field(document, '_id')!), document]));
  }
}

interface Looked {
  readonly key: BsonValue;
  readonly right: boolean;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  readonly known: Recorded | undefined;
}

function disagreeing(
  rows: readonly TouchedRecord[],
  recorded: ReadonlyMap<string, Recorded>,
  live: ReadonlyMap<string, Uint8Array>,
): BsonValue[] {
  return keysOf(rows).filter((key) => !agrees(recorded.get(keyText(key))!, live.get(keyText(key))));
}

function keysOf(rows: readonly TouchedRecord[]): BsonValue[] {
  return rows.map(({ key }) => key);
}

/** Tells a history what it did not know, in entries that a transaction of home can take. */
async function note(side: Side, uuid: Uint8Array, findings: readonly Finding[]): Promise<void> {
  let entries: NoteFields[] = [];
  let bytes = 0;
  for (const { ns, key, before, after, beforeUnknown } of findings) {
    const detail = {
      reason: 'found by comparison',
      ...(before || beforeUnknown ? {} : { created: true }),
      ...(after ? {} : { removed: true }),
    };
    entries.push({ ns, uuid, key, detail, ...(before ? { before } : {}), ...(after ? { after } : {}) });
    bytes += (before?.length ?? 0) + (after?.length ?? 0) + 200;
    if (bytes < noteBytes) continue;
    await side.capture.note('gap', ...entries);
    [entries, bytes] = [[], 0];
  }
  if (entries.length > 0) await side.capture.note('gap', ...entries);
}
