import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import type { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import type { SchemaDelta } from './schema.ts';
import type { Side } from './side.ts';
import { readByKey, type Comparison } from './touched.ts';

/** The sequence of the parent's history at which the branch left it. */
export async function forkSequence({
  branch,
  parent,
}: {
  readonly branch: Pick<Side, 'record'>;
  readonly parent: Side;
}): Promise<number> {
  const { forkPoint } = branch.record;
  if (!forkPoint) return 0;
  return forkPoint.seq ?? parent.history.changes.seqAt(forkPoint.clusterTime, parent.capture.seq);
}

/** Documents of a collection that changed after `seq` (left out: ever), a page at a time; in order of their keys. */
export async function* touchedSince(
  history: History,
  uuid: Uint8Array,
  seq?: number,
  pageSize = 1_000,
): AsyncGenerator<readonly TouchedRecord[]> {
  let after: Uint8Array | undefined;
  do {
    const page = await history.touched.page(after, pageSize, uuid, seq);
    if (page.length > 0) yield page;
    after = page.length === pageSize ? page.at(-1)?.id : undefined;
  } while (after);
}

/**
 * A drop against edits is a conflict like a delete against an edit: the documents of the collection that the parent has
 * otherwise than both sides agreed on.
 */
export async function withParentEdits(comparison: Comparison, deltas: readonly SchemaDelta[]): Promise<SchemaDelta[]> {
  const result: SchemaDelta[] = [];
  for (const delta of deltas) {
    const isDrop = delta.type === 'collection' && delta.kind === 'removed' && delta.uuid !== undefined;
    const edited = isDrop ? await editedInParent(comparison, delta.ns, Buffer.from(delta.uuid, 'hex')) : [];
    result.push(edited.length > 0 ? { ...delta, edited, conflict: true } : delta);
  }
  return result;
}

async function editedInParent(comparison: Comparison, ns: string, uuid: Uint8Array): Promise<BsonValue[]> {
  const { branch, parent } = comparison;
  const seq = await forkSequence(comparison);
  const edited: BsonValue[] = [];
  for await (const rows of touchedSince(parent.history, uuid, seq)) {
    const keys = rows.map(({ key }) => key);
    const [now, firsts, agreed] = await Promise.all([
      readByKey(parent, ns, keys),
      firstSince(parent.history, rows, seq),
      branch.history.touched.rows(keys.map((key) => touchedId(uuid, key))),
    ]);
    const bases = new Map(agreed.flatMap((row) => (row.base ? [[keyText(row.key), row.base] as const] : [])));
    for (const { key } of rows) {
      const text = keyText(key);
      const override = bases.get(text);
      const base = override ? override.document : firsts.get(text)?.before;
      if (!sameBytes(base, now.get(text))) edited.push(key);
    }
  }
  return edited;
}

/** The first change of each row's document after `seq`; its before-image is what the document was then. */
async function firstSince(
  history: History,
  rows: readonly TouchedRecord[],
  seq: number,
): Promise<Map<string, ChangeRecord>> {
  const fresh = rows.filter(({ first }) => first > seq);
  const known = await history.changes.bySeq(
    fresh.map(({ first }) => first),
    { before: true },
  );
  const found = new Map<string, ChangeRecord>();
  for (const { key, first } of fresh) {
    const change = known.get(first);
    if (change) found.set(keyText(key), change);
  }
  for (const row of rows.filter(({ first }) => first <= seq)) {
    const change = await history.changes.firstAfter(row, seq);
    if (change) found.set(keyText(row.key), change);
  }
  return found;
}
