import type { BranchRow, Output } from '../../shared/api.ts';
import { collectionName } from '../bson/plain.ts';
import { TriStateBox } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { Counts, KindMark } from '../shell/marks.tsx';
import { count } from '../shell/numbers.ts';
import { ConflictWord } from './conflict-word.tsx';
import { DocumentList } from './document-list.tsx';
import { openCollection, select } from './review.ts';
import type { ReviewState } from './review.ts';
import {
  collectionsState,
  collectionState,
  hasSchemaItem,
  schemaKey,
  schemaState,
  withCollection,
  withCollections,
  withSchema,
  withSchemaItem,
} from './selection.ts';
import type { Tri } from './selection.ts';
import { collectionTally, isOpenItem, tallyOf } from './tally.ts';
import { schemaWords } from './words.ts';

interface ListProps {
  readonly branch: BranchRow;
  readonly review: ReviewState;
}

/** What changed: schema, collections, and the documents of one collection. */
export function PickList({ branch, review }: ListProps) {
  const manyDatabases = new Set(review.diff?.summary.map((row) => row.ns.split('.')[0])).size > 1;
  return (
    <section className="pick" aria-label="What changed">
      <SchemaItems branch={branch} review={review} />
      <Collections branch={branch} review={review} manyDatabases={manyDatabases} />
      <DocumentList branch={branch} review={review} />
    </section>
  );
}

function SchemaItems({ branch, review }: ListProps) {
  const items = review.diff?.schema ?? [];
  if (items.length === 0) return null;
  const { selection } = review;
  const undecided = items.filter((item) => isOpenItem(review, item)).length;
  const state = schemaState(selection, items);
  const { schema } = tallyOf(review);
  return (
    <div className="pick-part pick-schema">
      <div className="prow top">
        <TriStateBox
          state={shownState(state, schema, undecided)}
          label="Include schema changes"
          onToggle={() => select(branch.id, withSchema(selection, state !== 'on'))}
        />
        <h3>Schema</h3>
        <span className="quiet prow-count">
          {count(schema)} of {count(items.length)}
        </span>
      </div>
      <ul>
        {items.map((item) => {
          const open = isOpenItem(review, item);
          const isIn = !open && hasSchemaItem(selection, item);
          const what = `${item.ns}: ${schemaWords(item)}`;
          return (
            <li key={schemaKey(item)} className={isIn || open ? 'prow' : 'prow prow-out'}>
              <TriStateBox
                state={isIn ? 'on' : 'off'}
                disabled={open}
                label={open ? `${what}, must be decided first` : `Include ${what}`}
                onToggle={() => select(branch.id, withSchemaItem(selection, item, !isIn))}
              />
              <KindMark kind={item.kind} />
              <span className="cut" title={what}>
                <span className="id">{collectionName(item.ns)}</span>
                <span className="tt">{schemaWords(item)}</span>
              </span>
              {open ? <ConflictWord /> : item.conflict ? <span className="quiet">decided</span> : <span />}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Collections({ branch, review, manyDatabases }: ListProps & { readonly manyDatabases: boolean }) {
  const rows = review.diff?.summary ?? [];
  if (rows.length === 0) return null;
  const state = collectionsState(
    review.selection,
    rows.map((row) => row.ns),
  );
  const tally = tallyOf(review);
  return (
    <div className="pick-part pick-collections">
      <div className="prow top">
        <TriStateBox
          state={shownState(state, tally.documents, tally.undecided)}
          label="Include all collections"
          onToggle={() => select(branch.id, withCollections(review.selection, state !== 'on'))}
        />
        <h3>Collections</h3>
        <span className="quiet prow-count">
          {count(tally.documents)} of {count(tally.documentsTotal)}
        </span>
      </div>
      <ul>
        {rows.map((row) => (
          <CollectionRow key={row.ns} branch={branch} review={review} row={row} manyDatabases={manyDatabases} />
        ))}
      </ul>
    </div>
  );
}

function CollectionRow({
  branch,
  review,
  row,
  manyDatabases,
}: ListProps & { readonly row: Output<'diff.get'>['summary'][number]; readonly manyDatabases: boolean }) {
  const state = collectionState(review.selection, row.ns);
  const { chosen, undecided } = collectionTally(review, row);
  const here = review.ns === row.ns;
  return (
    <li className={here ? 'prow here' : 'prow'}>
      <TriStateBox
        state={shownState(state, chosen, undecided)}
        label={`Include ${row.ns}`}
        onToggle={() => select(branch.id, withCollection(review.selection, row.ns, state !== 'on'))}
      />
      <Icon name="collection" />
      <button
        type="button"
        className="prow-open mono cut"
        aria-current={here}
        onClick={() => void openCollection(branch, row.ns)}
      >
        {collectionName(row.ns, manyDatabases)}
      </button>
      <Counts counts={row} />
    </li>
  );
}

/** A box whose part must be decided first is not full; one of which nothing is chosen is empty. */
function shownState(state: Tri, chosen: number, undecided: number): Tri {
  if (undecided === 0 || state === 'off') return state;
  return chosen === 0 ? 'off' : 'part';
}
