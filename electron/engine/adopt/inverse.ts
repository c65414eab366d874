import { keyText } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { mergeDocument, type FieldDelta } from '../../../shared/changes/compare.ts';
import type { Side } from '../changes/side.ts';
import { readByKey } from '../changes/touched.ts';

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
  const namespaces = [...new Set(documents.map(({ ns }) => ns))];
  const current = new Map(
    await Promise.all(
      namespaces.map(async (ns) => {
        const keys = documents.filter((each) => each.ns === ns).map(({ key }) => key);
        return [ns, await readByKey(side, ns, keys)] as const;
      }),
    ),
  );
  return documents.map(({ ns, key, changes }) => {
    const now = current.get(ns)?.get(keyText(key));
    return { ns, key, current: now, ...inverseOf(now, changes) };
  });
}
