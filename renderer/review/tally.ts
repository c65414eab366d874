import type { Output } from '../../shared/api.ts';
import { changesParent, isDecided } from './decisions.ts';
import type { ReviewState } from './review.ts';
import { chosenDocuments } from './selection.ts';

/** How much is chosen, of how much. */
export interface Tally {
  readonly documents: number;
  readonly documentsTotal: number;
  readonly schema: number;
  readonly schemaTotal: number;
  /** Conflicting documents that nobody has decided. */
  readonly undecided: number;
  readonly chosen: number;
  readonly total: number;
}

/** Documents of one collection that are chosen, and how many there are. */
export function collectionTally(review: ReviewState, row: Output<'diff.get'>['summary'][number]) {
  const conflicts = review.conflicts.filter((document) => document.ns === row.ns);
  const open = new Set(conflicts.filter((document) => !isDecided(review.decisions, document)).map(({ id }) => id));
  const asParent = new Set(
    conflicts
      .filter(({ id }) => !open.has(id))
      .filter((document) => !changesParent(review.decisions, document))
      .map(({ id }) => id),
  );
  const total = row.added + row.modified + row.removed;
  // More conflicts than were read stay undecided as well.
  const undecided = open.size + Math.max(0, row.conflicts - conflicts.length);
  const selectable = total - undecided - asParent.size;
  const counted = (id: string): boolean => !open.has(id) && !asParent.has(id);
  return { total, undecided, chosen: chosenDocuments(review.selection, row.ns, selectable, counted) };
}

export function tallyOf(review: ReviewState): Tally {
  let [documents, documentsTotal, undecided] = [0, 0, 0];
  for (const row of review.diff?.summary ?? []) {
    const collection = collectionTally(review, row);
    documents += collection.chosen;
    documentsTotal += collection.total;
    undecided += collection.undecided;
  }
  const schemaTotal = review.diff?.schema.length ?? 0;
  const schema = review.selection.schema ? schemaTotal : 0;
  return {
    documents,
    documentsTotal,
    schema,
    schemaTotal,
    undecided,
    chosen: documents + schema,
    total: documentsTotal + schemaTotal,
  };
}
