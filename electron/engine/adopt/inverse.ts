import type { BsonValue } from '../../../shared/bson/value.ts';
import { mergeDocument, type FieldDelta } from '../../../shared/changes/compare.ts';
import type { Side } from '../changes/side.ts';
import { readCurrent } from '../changes/touched.ts';

/** A document before and after one change; undefined = it was not there. */
export interface ImagePair {
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

/** A document and those of its changes that are to be taken back. */
export interface TakenBack {
  readonly ns: string;
  readonly key: BsonValue;
  /** Newest first. */
  readonly changes: readonly ImagePair[];
}

export interface Inverse {
  /** The document without these changes; undefined = it is gone. */
  readonly result: Uint8Array | undefined;
  /** What was changed again since, and therefore stays as it is now. */
  readonly clashes: readonly FieldDelta[];
}

export interface InverseDocument extends Inverse {
  readonly ns: string;
  readonly key: BsonValue;
  /** As it is now. */
  readonly current: Uint8Array | undefined;
}

/**
 * A document without some of its changes, three-way: the base is what a change left, the target what was there before it.
 * What else was changed since is kept; a field changed again since is a clash and stays.
 * @param changes newest first
 */
export function inverseOf(current: Uint8Array | undefined, changes: readonly ImagePair[]): Inverse {
  const clashes: FieldDelta[] = [];
  let result = current;
  for (const { before, after } of changes) {
    const sides = { base: after, parent: result, branch: before };
    result = mergeDocument(sides, (delta) => {
      if (delta.class !== 'divergent') return 'branch';
      clashes.push(delta);
      return 'parent';
    }).result;
  }
  return { result, clashes };
}

/** {@link inverseOf} for documents as a branch has them now, read raw by key, one query per collection. */
export async function invertDocuments(
  side: Pick<Side, 'client'>,
  documents: readonly TakenBack[],
): Promise<InverseDocument[]> {
  const current = await readCurrent(
    side,
    documents.map((row) => ({ row, ns: row.ns })),
  );
  return documents.map((document) => {
    const now = current.get(document);
    return { ns: document.ns, key: document.key, current: now, ...inverseOf(now, document.changes) };
  });
}
