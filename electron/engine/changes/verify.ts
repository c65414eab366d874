import { Binary } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { NoteFields } from '../capture/capture.ts';
import { touchedId } from '../home/history.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import { driverValue, rawFind, rawFindAll } from '../mongod/raw.ts';
import type { CollectionSchema } from './catalog.ts';
import { openComparison } from './diff.ts';
import { parentCollection } from './schema.ts';
import { settleNow, type Side } from './side.ts';
import { readByKey, type Comparison } from './touched.ts';
import type { Home } from '../home/home.ts';

const batchSize = 500;
const confirmTries = 5;

/**
 * Compares a branch exactly with what its history says of it, and adds to the history what that does not know. What a
 * document was at the fork is what the parent has now with the parent's own recorded changes since then taken back.
 * @param ns only this collection; left out = all
 * @returns how many documents the history did not know rightly
 */
export async function settleByComparison(
  home: Home,
  branch: Side,
  parent: Side,
  ns: string | undefined,
): Promise<number> {
  const { comparison } = await openComparison(home, branch, parent);
  const atFork = await ParentAtFork.load(comparison);
  let found = 0;
  for (const collection of comparison.branchCatalog.byNamespace.values()) {
    if (collection.kind !== 'collection' || collection.uuid === undefined) continue;
    if (ns !== undefined && collection.ns !== ns) continue;
    found += await new CollectionCheck(comparison, collection, atFork).run();
  }
  return found;
}

/** What documents of the parent were when the branch left it. */
class ParentAtFork {
  private readonly parent: Side;
  /** First change of the parent after the fork, by touched id. */
  private readonly firstChange: ReadonlyMap<string, number>;

  private constructor(parent: Side, firstChange: ReadonlyMap<string, number>) {
    this.parent = parent;
    this.firstChange = firstChange;
  }

  static async load({ parent, branch }: Comparison): Promise<ParentAtFork> {
    const { forkPoint } = branch.record;
    const from =
      forkPoint?.seq ?? (forkPoint ? await parent.history.seqAt(forkPoint.clusterTime, parent.capture.seq) : 0);
    const first = new Map<string, number>();
    for (let after = from; ;) {
      const page = await parent.history.page({ after, limit: 1_000 });
      for (const { uuid, key, seq } of page) {
        if (!uuid || !key) continue;
        const id = toBase64(touchedId(uuid, key));
        if (!first.has(id)) first.set(id, seq);
      }
      const last = page.at(-1);
      if (!last) return new ParentAtFork(parent, first);
      after = last.seq;
    }
  }

  async image(uuid: Uint8Array, key: BsonValue, now: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    const seq = this.firstChange.get(toBase64(touchedId(uuid, key)));
    if (seq === undefined) return now;
    return (await this.parent.history.bySeq([seq], { before: true })).get(seq)?.before;
  }

  /** Documents that the parent changed or removed since: they may be missing from it now. */
  async changedKeys(uuid: Uint8Array): Promise<BsonValue[]> {
    const records = await this.parent.history.bySeq([...this.firstChange.values()], {});
    return [...records.values()].flatMap((record) =>
      record.key && record.uuid && sameBytes(record.uuid, uuid) ? [record.key] : [],
    );
  }
}

/** One collection's comparison. */
class CollectionCheck {
  private readonly comparison: Comparison;
  private readonly collection: CollectionSchema;
  private readonly parentNs: string | undefined;
  private readonly uuid: Uint8Array;
  private readonly atFork: ParentAtFork;
  private readonly seen = new Set<string>();

  constructor(comparison: Comparison, collection: CollectionSchema, atFork: ParentAtFork) {
    this.comparison = comparison;
    this.collection = collection;
    this.atFork = atFork;
    this.uuid = Buffer.from(collection.uuid ?? '', 'hex');
    const { base, parentCatalog, branchCatalog } = comparison;
    this.parentNs = parentCollection(collection.uuid ?? '', base, parentCatalog, branchCatalog)?.ns;
  }

  async run(): Promise<number> {
    let found = 0;
    for await (const keys of this.keys()) {
      const fresh = keys.filter((key) => !this.seen.has(keyText(key)));
      for (const key of fresh) this.seen.add(keyText(key));
      const wrong = await this.differing(fresh);
      for (const key of wrong) if (await this.confirm(key)) found += 1;
    }
    return found;
  }

  /** Every key that either side or either history knows. */
  private async *keys(): AsyncGenerator<BsonValue[]> {
    const { branch, parent } = this.comparison;
    const { db, name } = this.collection;
    yield* keysOf(branch, db, name);
    if (this.parentNs !== undefined)
      yield* keysOf(
        parent,
        this.parentNs.slice(0, this.parentNs.indexOf('.')),
        this.parentNs.slice(this.parentNs.indexOf('.') + 1),
      );
    yield await this.atFork.changedKeys(this.uuid);
    let after: Uint8Array | undefined;
    for (;;) {
      const rows: TouchedRecord[] = await branch.history.touchedPage(after, batchSize, this.uuid);
      if (rows.length === 0) return;
      yield rows.map(({ key }) => key);
      after = rows.at(-1)?.id;
    }
  }

  private async differing(keys: readonly BsonValue[]): Promise<BsonValue[]> {
    if (keys.length === 0) return [];
    const live = await readByKey(this.comparison.branch, this.collection.ns, keys);
    const expected = await this.expected(keys);
    return keys.filter((key) => !sameBytes(live.get(keyText(key)), expected.get(keyText(key))?.image));
  }

  /** What the history says each document is now. */
  private async expected(
    keys: readonly BsonValue[],
  ): Promise<Map<string, { image: Uint8Array | undefined; row: TouchedRecord | undefined }>> {
    const { branch, parent } = this.comparison;
    const ids = new Map(keys.map((key) => [toBase64(touchedId(this.uuid, key)), key]));
    const rows = await branch.history.touchedRows([...ids.keys()].map((id) => Buffer.from(id, 'base64')));
    const byKey = new Map(rows.map((row) => [keyText(row.key), row]));
    const lasts = await branch.history.bySeq(
      rows.map((row) => row.last),
      { after: true },
    );
    const parents =
      this.parentNs === undefined ? new Map<string, Uint8Array>() : await readByKey(parent, this.parentNs, keys);
    const live = await readByKey(
      branch,
      this.collection.ns,
      rows.filter((row) => isImport(lasts.get(row.last))).map((row) => row.key),
    );
    const result = new Map<string, { image: Uint8Array | undefined; row: TouchedRecord | undefined }>();
    for (const key of keys) {
      const text = keyText(key);
      const row = byKey.get(text);
      const last = row && lasts.get(row.last);
      // An import is recorded by key: what is there is what it left.
      const image = row
        ? isImport(last)
          ? live.get(text)
          : last?.after
        : await this.atFork.image(this.uuid, key, parents.get(text));
      result.set(text, { image, row });
    }
    return result;
  }

  /** Looks again at one moment of both, so that a write under way is no difference; then tells the history. */
  private async confirm(key: BsonValue): Promise<boolean> {
    const { branch } = this.comparison;
    const text = keyText(key);
    for (let attempt = 0; attempt < confirmTries; attempt += 1) {
      await settleNow(branch);
      const at = branch.capture.position;
      const before = (await this.expected([key])).get(text);
      const query = {
        collection: new Binary(this.uuid, 4),
        filter: { _id: { $eq: driverValue(key) } },
        atClusterTime: at,
      };
      const [live] = await rawFindAll(branch.client.db(this.collection.db), query);
      const after = (await this.expected([key])).get(text);
      if (before?.row?.last !== after?.row?.last) continue;
      if (sameBytes(live, after?.image)) return false;
      await branch.capture.note('gap', this.finding(key, after?.image, live));
      return true;
    }
    return false;
  }

  private finding(key: BsonValue, before: Uint8Array | undefined, after: Uint8Array | undefined): NoteFields {
    const detail = {
      reason: 'found by comparison',
      ...(before ? {} : { created: true }),
      ...(after ? {} : { removed: true }),
    };
    return {
      ns: this.collection.ns,
      uuid: this.uuid,
      key,
      detail,
      ...(before ? { before } : {}),
      ...(after ? { after } : {}),
    };
  }
}

function isImport(change: ChangeRecord | undefined): boolean {
  return change?.op === 'import';
}

async function* keysOf(side: Side, db: string, name: string): AsyncGenerator<BsonValue[]> {
  const query = { collection: name, filter: {}, projection: { _id: 1 }, batchSize };
  for await (const batch of rawFind(side.client.db(db), query)) {
    yield batch.flatMap((document) => {
      const id = field(document, '_id');
      return id ? [id] : [];
    });
  }
}
