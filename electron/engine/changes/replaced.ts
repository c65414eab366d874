import { Binary, MongoServerError } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import { rawFind } from '../mongod/raw.ts';
import { forkSequence, touchedSince } from './parent-edits.ts';
import { storeOf } from './catalog.ts';
import { likelyOrigin } from './schema.ts';
import { settleNow } from './side.ts';
import { baseOf, readByKey, type Comparison } from './touched.ts';

const batchSize = 500;
/** NamespaceNotFound, QueryPlanKilled: how the server answers when a collection goes before, or while, it is read. */
const goneCodes = new Set([26, 175]);

interface ReplacedRow {
  _id: string;
  /** UUIDs, hex, of collections whose base is known. */
  replaced?: string[];
}

/**
 * A collection that was dropped and made anew, or written over, is told document by document: what it holds now against
 * what the one before it held. The server says nothing of what went with a drop, so it is read where it still is, in the
 * parent, with the parent's own changes since the fork taken back. Once for each such collection; its cost is what it held.
 */
export async function recordReplaced(home: Home, comparison: Comparison): Promise<void> {
  const { base, branchCatalog, parentCatalog, branch } = comparison;
  const rows = home.catalog.collection<ReplacedRow>('schemas');
  for (const [uuid, collection] of branchCatalog.byStore) {
    const before = likelyOrigin(collection, base, branchCatalog);
    const origin = before && storeOf(before);
    if (origin === undefined || origin === uuid) continue;
    const there = parentCatalog.byStore.get(origin);
    if (!there) continue;
    const known = await rows.findOne({ _id: branch.record._id, replaced: uuid }, { projection: { _id: 1 } });
    if (known) continue;
    const was = { db: there.db, uuid: Buffer.from(origin, 'hex') };
    try {
      await recordBases(comparison, was, { ns: collection.ns, uuid: Buffer.from(uuid, 'hex') });
    } catch (error) {
      // The parent has dropped it just now: what it held is known no more.
      if (!(error instanceof MongoServerError) || !goneCodes.has(Number(error.code))) throw error;
      continue;
    }
    await rows.updateOne({ _id: branch.record._id }, { $addToSet: { replaced: uuid } });
  }
}

/** @param was what the parent's documents stand in; `now` is the branch's collection */
async function recordBases(
  comparison: Comparison,
  { db, uuid: origin }: { readonly db: string; readonly uuid: Uint8Array },
  { ns: now, uuid }: { readonly ns: string; readonly uuid: Uint8Array },
): Promise<void> {
  const { branch, parent } = comparison;
  const reason = `${now} was made anew; what it held before was found by comparison.`;
  const removal =
    (await branch.history.changes.markRemoval(origin, now)) ??
    (await branch.capture.note('gap', { ns: now, detail: { reason, removed: true } }));
  const place = { uuid, removal };
  const seq = await forkSequence(comparison);
  const contents = { collection: new Binary(origin, 4), filter: {}, batchSize };
  for await (const documents of rawFind(parent.client.db(db), contents)) {
    const present = new Map<string, { key: BsonValue; document: Uint8Array }>();
    for (const document of documents) {
      const key = field(document, '_id');
      if (key) present.set(keyText(key), { key, document });
    }
    const ids = [...present.values()].map(({ key }) => touchedId(origin, key));
    const changed = await parent.history.touched.rows(ids);
    for (const row of changed) if (row.last > seq) present.delete(keyText(row.key));
    const bases = await agreedBases(comparison, origin, [...present.values()]);
    await branch.history.touched.addBases(place, bases, false);
  }
  // What the parent changed since the fork, also while it was being read.
  await settleNow(parent);
  for await (const rows of touchedSince(parent.history, origin, seq)) {
    const atFork = await Promise.all(
      rows.map(async (row) => {
        const first = row.first > seq ? (await parent.history.changes.bySeq([row.first])).get(row.first) : undefined;
        const change = first ?? (await parent.history.changes.firstAfter(row, seq));
        return { key: row.key, document: change?.before };
      }),
    );
    const bases = await agreedBases(comparison, origin, atFork);
    const wasThere = bases.filter(({ document }) => document !== undefined);
    const known = await branch.history.touched.rows(bases.map(({ key }) => touchedId(uuid, key)));
    const isKnown = new Set(known.map(({ key }) => keyText(key)));
    const cameSince = bases.filter(({ key, document }) => document === undefined && isKnown.has(keyText(key)));
    await branch.history.touched.addBases(place, [...wasThere, ...cameSince], true);
  }
}

/** Where an adoption has moved the base of a document since the fork, that is it. */
async function agreedBases(
  { branch, parent, parentCatalog }: Comparison,
  origin: Uint8Array,
  atFork: readonly { readonly key: BsonValue; readonly document: Uint8Array | undefined }[],
): Promise<{ key: BsonValue; document: Uint8Array | undefined }[]> {
  const rows = await branch.history.touched.rows(atFork.map(({ key }) => touchedId(origin, key)));
  const touched = new Map(rows.map((row) => [keyText(row.key), row]));
  const firsts = await branch.history.changes.bySeq(
    rows.map(({ first }) => first),
    { before: true },
  );
  const there = parentCatalog.byStore.get(Buffer.from(origin).toString('hex'));
  const unsure = rows.filter(({ base }) => !base).map(({ key }) => key);
  const now =
    !there || unsure.length === 0 ? undefined : await readByKey(parent, { db: there.db, uuid: origin }, unsure);
  return atFork.map(({ key, document }) => {
    const row = touched.get(keyText(key));
    if (!row) return { key, document };
    return { key, document: row.base ? row.base.document : baseOf(firsts.get(row.first), now?.get(keyText(key))) };
  });
}
