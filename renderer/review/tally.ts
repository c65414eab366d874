import type { Output } from '../../shared/api.ts';
import { changesParent, decisionOf, isDecided, schemaPlace, takes } from './decisions.ts';
import type { ReviewState } from './review.ts';
import { chosenDocuments, hasSchemaItem } from './selection.ts';

type SchemaItemChange = Output<'diff.get'>['schema'][number];

/** How much is chosen, of how much. */
export interface Tally {
  readonly documents: number;
  readonly documentsTotal: number;
  readonly schema: number;
  readonly schemaTotal: number;
  /** Conflicting documents and schema items that nobody has decided. */
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
  // Measurements are chosen by the bucket.
  const counts = row.buckets ?? row;
  const total = counts.added + counts.modified + counts.removed;
  // More conflicts than were read stay undecided as well.
  const undecided = open.size + Math.max(0, counts.conflicts - conflicts.length);
  const selectable = total - undecided - asParent.size;
  const counted = (id: string): boolean => !open.has(id) && !asParent.has(id);
  return { total, undecided, chosen: chosenDocuments(review.selection, row.ns, selectable, counted) };
}

/** A schema item that both sides changed otherwise and nobody decided. */
export function isOpenItem({ decisions }: ReviewState, item: SchemaItemChange): boolean {
  const place = schemaPlace(item);
  return place !== undefined && decisionOf(decisions, place) === undefined;
}

function staysAsParent({ decisions }: ReviewState, item: SchemaItemChange): boolean {
  const place = schemaPlace(item);
  return place !== undefined && takes(decisions, place, 'parent');
}

export function tallyOf(review: ReviewState): Tally {
  let [documents, documentsTotal, undecided] = [0, 0, 0];
  for (const row of review.diff?.summary ?? []) {
    const collection = collectionTally(review, row);
    documents += collection.chosen;
    documentsTotal += collection.total;
    undecided += collection.undecided;
  }
  const items = review.diff?.schema ?? [];
  const openItems = items.filter((item) => isOpenItem(review, item));
  const schema = items.filter(
    (item) => hasSchemaItem(review.selection, item) && !openItems.includes(item) && !staysAsParent(review, item),
  ).length;
  const schemaTotal = items.length;
  undecided += openItems.length;
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
