import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { compareDocument } from '../../../shared/changes/compare.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import type { GapRecord } from '../home/records.ts';
import { loadBaseCatalog } from './base-catalog.ts';
import { hashAdmin, readCatalog, storeOf, type Catalog, type CollectionSchema } from './catalog.ts';
import {
  adminGap,
  pausedGaps,
  comparePage,
  listed,
  withCount,
  type DiffQuery,
  type DiffResult,
  type ListedDocument,
} from './diff.ts';
import { keysIn } from './dropped.ts';
import { merged, openApart, touchedIn, type Apart, type Lineage, type Stretch, type Touched } from './lineage.ts';
import { compareSchema, likelyOrigin, parentCollection, type SchemaDelta } from './schema.ts';
import { Selection } from './selection.ts';
import { SharedBase } from './shared-base.ts';
import type { Side } from './side.ts';
import { measurementDelta } from './measurements.ts';
import { readByKey } from './touched.ts';

/** Two branches of one family, both running. */
export interface Relatives {
  readonly branch: Side;
  readonly other: Side;
  readonly lineage: Lineage;
}

/** A collection of the branch, what the other has in its place, and what both had. */
interface Trio {
  readonly mine: CollectionSchema;
  readonly theirs: CollectionSchema | undefined;
  readonly base: CollectionSchema | undefined;
}

/**
 * What a branch has otherwise than another one that shares an ancestor with it. The base is what the ancestor was when the
 * first of the two lines left it. Costs what was touched on the way from there to both; a collection that was made anew on
 * the way is read whole, by key.
 */
export async function diffAgainst(home: Home, relatives: Relatives, query: DiffQuery): Promise<DiffResult> {
  const { branch, other, lineage } = relatives;
  const apart = await openApart(home, lineage);
  const [stored, mine, theirs, adminHash] = await Promise.all([
    loadBaseCatalog(home, apart.older[0]!.kin.record._id),
    readCatalog(branch.client),
    readCatalog(other.client),
    hashAdmin(branch.client),
  ]);
  const catalogs = { base: stored.atFork, mine, theirs };
  const between = new Between(relatives, apart, catalogs);
  const selection = new Selection({ only: query.only, strict: query.strict }, branch.record.name, other.record.name);
  const found = await listed(between.pages(selection), ({ id }) => id, query);
  const deltas = compareSchema(catalogs.base, theirs, mine).filter(
    (delta) => query.listing !== true && selection.includesSchema(delta),
  );
  const schema: SchemaDelta[] = [];
  for (const delta of deltas) {
    schema.push(await withCount({ branch, parent: other }, await between.withEdits(delta)));
  }
  const gaps = [...apart.gaps, ...between.gaps];
  if (adminHash !== stored.adminHash) gaps.push(adminGap(branch.record._id));
  gaps.push(...pausedGaps(branch, other));
  return { complete: apart.settled && gaps.every((gap) => gap.settled), gaps, schema, ...found };
}

interface PlacedDocument extends ListedDocument {
  /** {@link touchedId} in the branch's collection */
  readonly id: Uint8Array;
}

class Between {
  private readonly relatives: Relatives;
  private readonly apart: Apart;
  private readonly catalogs: { readonly base: Catalog; readonly mine: Catalog; readonly theirs: Catalog };
  private readonly base: SharedBase;
  /** Collections with documents whose base is not known. */
  private readonly unknown = new Set<string>();

  constructor(relatives: Relatives, apart: Apart, catalogs: Between['catalogs']) {
    this.relatives = relatives;
    this.apart = apart;
    this.catalogs = catalogs;
    this.base = new SharedBase(apart);
  }

  /** Complete when everything has been read. */
  get gaps(): GapRecord[] {
    const { _id, name } = this.apart.ancestor.kin.record;
    return [...this.unknown].map((ns) => ({
      _id: `base-${ns}`,
      branch: _id,
      kind: 'images',
      ns,
      reason: `What some documents of ${ns} were in ${name} when the two came apart is not recorded; what ${this.relatives.other.record.name} has stands for it.`,
      settled: false,
    }));
  }

  /** Every document that the branch has otherwise, a page at a time, in order of the ids. */
  async *pages(selection: Selection): AsyncGenerator<PlacedDocument[]> {
    const { base, mine: branch, theirs: other } = this.catalogs;
    for (const [uuid, mine] of [...branch.byStore].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const theirs = parentCollection(uuid, base, other, branch);
      if (!selection.touchesNamespace(mine.ns) && (!theirs || !selection.touchesNamespace(theirs.ns))) continue;
      const trio = { mine, theirs, base: likelyOrigin(mine, base, branch) };
      let page: Touched[] = [];
      for await (const touched of this.touched(trio)) {
        if (page.push(touched) < comparePage) continue;
        yield await this.compare(trio, page, selection);
        page = [];
      }
      if (page.length > 0) yield await this.compare(trio, page, selection);
    }
  }

  /** What the branch can have otherwise than the base: what its own line touched. */
  private async *touched({ mine, theirs, base }: Trio): AsyncGenerator<Touched> {
    const store = storeOf(mine);
    const isTheSame = base === undefined || storeOf(base) === store;
    if (isTheSame && !this.apart.branch.some(({ drops }) => drops.has(store ?? ''))) {
      yield* await this.recorded(bytesOf(mine), this.apart.branch);
      return;
    }
    // Made anew on the way: what went with the old one is recorded nowhere.
    const keys = new Map<string, Touched>();
    const { branch, other } = this.relatives;
    const uuid = bytesOf(mine);
    for (const [side, collection] of [[branch, mine] as const, [other, theirs] as const]) {
      if (!collection) continue;
      for await (const group of keysIn(side, { db: collection.db, uuid: bytesOf(collection) })) {
        for (const key of group) keys.set(keyText(key), { id: touchedId(uuid, key), uuid, key });
      }
    }
    yield* [...keys.values()].sort((a, b) => Buffer.compare(a.id, b.id));
  }

  private async recorded(uuid: Uint8Array, stretches: readonly Stretch[]): Promise<AsyncGenerator<Touched>> {
    const { ancestor, meanwhile } = this.apart;
    const hex = Buffer.from(uuid).toString('hex');
    const changed = stretches.includes(ancestor) ? (await meanwhile()).get(hex) : undefined;
    return merged(stretches.map((stretch) => (stretch === ancestor ? each(changed ?? []) : touchedIn(stretch, uuid))));
  }

  private async compare(trio: Trio, page: readonly Touched[], selection: Selection): Promise<PlacedDocument[]> {
    const { mine, theirs, base } = trio;
    const { ns } = mine;
    const place = { ns, parentNs: theirs?.ns };
    const wanted = page.filter(({ key }) => selection.touchesDocument({ ...place, key }));
    const keys = wanted.map(({ key }) => key);
    const [ours, others] = await Promise.all([
      currentIn(this.relatives.branch, mine, keys),
      theirs ? currentIn(this.relatives.other, theirs, keys) : new Map<string, Uint8Array>(),
    ]);
    const differing = wanted.filter(({ key }) => !sameBytes(ours.get(keyText(key)), others.get(keyText(key))));
    const bases =
      base &&
      (await this.base.at(
        bytesOf(base),
        differing.map(({ key }) => key),
      ));
    return differing.flatMap(({ id, key }) => {
      const [branch, parent] = [ours, others].map((side) => side.get(keyText(key)));
      const known = bases?.get(keyText(key));
      if (bases && !known) this.unknown.add(ns);
      const sides = { branch, parent, base: bases && !known ? parent : known?.image };
      const isBucket = mine.kind === 'timeseries';
      const delta = compareDocument(sides, { strict: selection.strict, whole: isBucket });
      return delta ? [{ id, ns, key, ...delta, ...(isBucket ? { measurements: measurementDelta(sides) } : {}) }] : [];
    });
  }

  /** A dropped collection with the documents of it that the other has otherwise than the base: a conflict. */
  async withEdits(delta: SchemaDelta): Promise<SchemaDelta> {
    const there = delta.uuid === undefined ? undefined : this.catalogs.theirs.byUuid.get(delta.uuid);
    if (delta.type !== 'collection' || delta.kind !== 'removed' || !there) return delta;
    const uuid = bytesOf(there);
    const edited: BsonValue[] = [];
    const look = async (page: readonly Touched[]) => {
      const keys = page.map(({ key }) => key);
      const [now, bases] = await Promise.all([currentIn(this.relatives.other, there, keys), this.base.at(uuid, keys)]);
      for (const key of keys) {
        const base = bases.get(keyText(key));
        if (!base) this.unknown.add(there.ns);
        else if (!sameBytes(base.image, now.get(keyText(key)))) edited.push(key);
      }
    };
    let page: Touched[] = [];
    for await (const touched of await this.recorded(uuid, this.apart.other)) {
      if (page.push(touched) < comparePage) continue;
      await look(page);
      page = [];
    }
    if (page.length > 0) await look(page);
    return edited.length > 0 ? { ...delta, edited, conflict: true } : delta;
  }
}

async function* each(rows: readonly Touched[]): AsyncGenerator<Touched> {
  yield* rows;
}

/** By the collection's UUID: should it be renamed meanwhile, it is found all the same. */
function currentIn(side: Side, collection: CollectionSchema, keys: readonly BsonValue[]) {
  return readByKey(side, { db: collection.db, uuid: bytesOf(collection) }, keys);
}

function bytesOf(collection: CollectionSchema): Uint8Array {
  return Buffer.from(storeOf(collection) ?? '', 'hex');
}
