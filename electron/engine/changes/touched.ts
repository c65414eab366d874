import { Binary } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import { driverValue, rawFind } from '../mongod/raw.ts';
import { storeNamespace, storeOf, type Catalog, type CollectionSchema } from './catalog.ts';
import { parentCollection } from './schema.ts';
import type { Side } from './side.ts';

/** Both branches and the three catalogs at one moment. */
export interface Comparison {
  readonly branch: Side;
  readonly parent: Side;
  readonly base: Catalog;
  readonly branchCatalog: Catalog;
  readonly parentCatalog: Catalog;
}

/** A touched document with its three sides, whole, as bytes; undefined = it does not exist there. */
export interface TouchedDocument {
  readonly row: TouchedRecord;
  /** The branch's name of the collection. */
  readonly ns: string;
  /** The parent's name of it; undefined where the parent has no such collection. */
  readonly parentNs: string | undefined;
  /** It holds measurements of a time-series collection, packed: it is taken or left as a whole. */
  readonly isBucket: boolean;
  readonly base: Uint8Array | undefined;
  readonly parent: Uint8Array | undefined;
  readonly branch: Uint8Array | undefined;
}

export function uuidText(uuid: Uint8Array): string {
  return Buffer.from(uuid).toString('hex');
}

/**
 * The sides of touched documents. Base and branch come from the history, so a diff reads what was touched and nothing
 * else; the parent's are read from it by key, and so are buckets in the branch. Documents of collections that the branch dropped are left out: the
 * collection is one item.
 */
export async function readSides(comparison: Comparison, rows: readonly TouchedRecord[]): Promise<TouchedDocument[]> {
  const { branch, base, branchCatalog, parentCatalog } = comparison;
  const placed = rows.flatMap((row) => {
    const uuid = uuidText(row.uuid);
    const mine = branchCatalog.byStore.get(uuid);
    return mine ? [{ row, mine, theirs: parentCollection(uuid, base, parentCatalog, branchCatalog) }] : [];
  });
  const firsts = placed.filter(({ row }) => !row.base).map(({ row }) => row.first);
  const lasts = placed.map(({ row }) => row.last);
  const [first, last, parents] = await Promise.all([
    branch.history.changes.bySeq(firsts, { before: true }),
    branch.history.changes.bySeq(lasts, { after: true }),
    readCurrent(
      comparison.parent,
      placed.flatMap(({ row, theirs }) => (theirs ? [{ row, ns: storeNamespace(theirs) }] : [])),
    ),
  ]);
  const unrecorded = placed.filter(({ row }) => !hasAfter(last.get(row.last)));
  const current = await readCurrent(
    branch,
    unrecorded.map(({ row, mine }) => ({ row, ns: storeNamespace(mine) })),
  );
  return placed.map(({ row, mine, theirs }) => {
    const parent = parents.get(row);
    const latest = last.get(row.last);
    return {
      row,
      ns: mine.ns,
      parentNs: theirs?.ns,
      isBucket: mine.kind === 'timeseries',
      parent,
      base: row.base ? row.base.document : baseOf(first.get(row.first), parent),
      branch: hasAfter(latest) ? latest?.after : current.get(row),
    };
  });
}

/** The sides of a document that the branch never touched: what it has is what it had at the fork. */
export async function readUntouched(
  { branch, parent, base, branchCatalog, parentCatalog }: Comparison,
  ns: string,
  key: BsonValue,
): Promise<Pick<TouchedDocument, 'base' | 'parent' | 'branch'>> {
  const collection = branchCatalog.byNamespace.get(ns);
  const store = collection && storeOf(collection);
  const there =
    store === undefined
      ? parentCatalog.byNamespace.get(ns)
      : parentCollection(store, base, parentCatalog, branchCatalog);
  const read = async (side: Side, at: CollectionSchema | undefined) =>
    at && (await readByKey(side, storeNamespace(at), [key])).get(keyText(key));
  const [mine, theirs] = await Promise.all([read(branch, collection), read(parent, there)]);
  return { base: mine, parent: theirs, branch: mine };
}

/** Whether the change tells what it left: an import keeps keys only, a gap's image may be missing. */
export function hasAfter(change: ChangeRecord | undefined): change is ChangeRecord {
  return (
    change !== undefined &&
    (change.op === 'delete' || change.after !== undefined || change.detail?.['removed'] === true)
  );
}

/**
 * A document before its first change since the fork, given that change.
 * @param parent what the parent has: where the record does not tell, that is the best there is
 */
export function baseOf(change: ChangeRecord | undefined, parent: Uint8Array | undefined): Uint8Array | undefined {
  if (change?.op === 'insert' || change?.op === 'import') return undefined;
  if (change?.before) return change.before;
  if (change?.detail?.['created'] === true) return undefined;
  // Unknown: the namespace is marked as a gap.
  return parent;
}

/** Documents as a side has them now, by what asked for them. Keys go out in batches, one query per collection. */
export async function readCurrent<T extends { readonly key: BsonValue }>(
  side: Pick<Side, 'client'>,
  rows: readonly { readonly row: T; readonly ns: string }[],
): Promise<Map<T, Uint8Array>> {
  const found = new Map<T, Uint8Array>();
  const byNamespace = new Map<string, T[]>();
  for (const { ns, row } of rows) {
    const group = byNamespace.get(ns);
    if (group) group.push(row);
    else byNamespace.set(ns, [row]);
  }
  await Promise.all(
    [...byNamespace].map(async ([ns, group]) => {
      const documents = await readByKey(
        side,
        ns,
        group.map((row) => row.key),
      );
      for (const row of group) {
        const document = documents.get(keyText(row.key));
        if (document) found.set(row, document);
      }
    }),
  );
  return found;
}

/** Documents of one collection by key, by {@link keyText}. */
export async function readByKey(
  side: Pick<Side, 'client'>,
  ns: string | { readonly db: string; readonly uuid: Uint8Array },
  keys: readonly BsonValue[],
): Promise<Map<string, Uint8Array>> {
  const [db, collection] = typeof ns === 'string' ? splitNamespace(ns) : [ns.db, new Binary(ns.uuid, 4)];
  const found = new Map<string, Uint8Array>();
  const query = { collection, filter: { _id: { $in: keys.map(driverValue) } } };
  for await (const batch of rawFind(side.client.db(db), query)) {
    for (const document of batch) {
      const id = field(document, '_id');
      if (id) found.set(keyText(id), document);
    }
  }
  return found;
}

/** At the first dot: collection names may hold more. */
export function splitNamespace(ns: string): [database: string, collection: string] {
  const dot = ns.indexOf('.');
  return dot < 0 ? [ns, ''] : [ns.slice(0, dot), ns.slice(dot + 1)];
}
