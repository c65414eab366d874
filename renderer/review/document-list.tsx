import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import type { BranchRow, DocumentChange } from '../../shared/api.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { collectionName, fieldCount, idText, pathText, titleOf } from '../bson/plain.ts';
import { IconButton, TriStateBox } from '../shell/controls.tsx';
import { listKey } from '../shell/list-keys.ts';
import { KindMark } from '../shell/marks.tsx';
import { count, plural } from '../shell/numbers.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { ConflictWord } from './conflict-word.tsx';
import { isDecided } from './decisions.ts';
import { currentDocument, loadMoreDocuments, openCollection, openDocument, select } from './review.ts';
import type { ReviewState } from './review.ts';
import { chosenFields, documentState, withDocument } from './selection.ts';
import { collectionTally } from './tally.ts';

interface ListProps {
  readonly branch: BranchRow;
  readonly review: ReviewState;
}

const rowHeight = 28;

/** The documents of one collection that changed, those in view. One tab stop; Space includes or leaves out. */
export function DocumentList({ branch, review }: ListProps) {
  const { ns, list, conflictsOnly } = review;
  const document = currentDocument(review);
  const { id, name } = branch;
  const scroller = useRef<HTMLDivElement>(null);
  const documents = list?.documents ?? [];
  const virtual = useVirtualRows({
    scroller,
    count: documents.length,
    height: () => rowHeight,
    keyOf: (index) => documents[index]?.id ?? index,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= documents.length - 40) void loadMoreDocuments({ id, name });
  }, [last, documents.length, id, name]);
  const at = documents.findIndex((one) => one.id === document?.id && one.ns === document.ns);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
    // Followed when another document is opened, not when the list is read again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [document?.id, document?.ns]);
  if (ns === undefined) return null;
  const summary = review.diff?.summary.find((row) => row.ns === ns);
  const tally = summary === undefined ? undefined : collectionTally(review, summary);

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const current = documents[at];
    const next = listKey(event, Math.max(0, at), documents.length, page);
    const target = next === undefined ? undefined : documents[next];
    if (target !== undefined) void openDocument(branch, target.ns, target.id);
    else if (event.key === ' ' && current !== undefined) toggleDocument(branch, review, current);
    else return;
    event.preventDefault();
  };
  return (
    <div className="pick-part pick-documents">
      <div className="prow top plain">
        <h3 className="cut" id="documents-title">
          Documents in {collectionName(ns)}
        </h3>
        <span className="quiet prow-count">
          {tally === undefined ? '' : `${count(tally.chosen)} of ${count(tally.total)}`}
        </span>
        {(summary?.conflicts ?? 0) === 0 && !conflictsOnly ? null : (
          <IconButton
            look="bare"
            icon="filter"
            label="Only documents with conflicts"
            aria-pressed={conflictsOnly}
            onClick={() => void openCollection(branch, ns, !conflictsOnly)}
          />
        )}
      </div>
      <div
        role="grid"
        className="pick-grid"
        aria-labelledby="documents-title"
        aria-rowcount={list?.next === undefined ? documents.length : -1}
        aria-activedescendant={at < 0 ? undefined : documentRowId(documents[at])}
        aria-busy={list === undefined}
        tabIndex={0}
        ref={scroller}
        onKeyDown={onKeyDown}
      >
        <div className="pick-all" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const change = documents[item.index];
            return change === undefined ? null : (
              <DocumentRow
                key={item.key}
                branch={branch}
                review={review}
                change={change}
                index={item.index}
                top={item.start}
                current={item.index === at}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function DocumentRow({
  branch,
  review,
  change,
  index,
  top,
  current,
}: ListProps & {
  readonly change: DocumentChange;
  readonly index: number;
  readonly top: number;
  readonly current: boolean;
}) {
  const open = change.conflict && !isDecided(review.decisions, change);
  const state = open ? 'off' : documentState(review.selection, change.ns, change.id);
  const id = idText(change.id);
  return (
    <div
      className={state === 'off' && !open ? 'prow prow-out' : 'prow'}
      role="row"
      id={documentRowId(change)}
      aria-rowindex={index + 1}
      aria-selected={current}
      style={{ transform: `translateY(${String(top)}px)` }}
      onClick={() => void openDocument(branch, change.ns, change.id)}
    >
      <span role="gridcell" className="cell">
        <TriStateBox
          state={state}
          tabIndex={-1}
          disabled={open}
          label={open ? `${id} must be decided first` : `Include ${id}`}
          onToggle={() => toggleDocument(branch, review, change)}
        />
      </span>
      <span role="gridcell" className="cell">
        <KindMark kind={change.kind} />
      </span>
      <span role="gridcell" className="cut">
        <span className="id">{id}</span>
        <span className="tt">{aboutDocument(change)}</span>
      </span>
      <span role="gridcell" className="quiet nowrap">
        {open ? <ConflictWord /> : change.conflict ? 'decided' : fieldsWord(review, change)}
      </span>
    </div>
  );
}

function toggleDocument(branch: BranchRow, review: ReviewState, change: DocumentChange): void {
  if (change.conflict && !isDecided(review.decisions, change)) return;
  const state = documentState(review.selection, change.ns, change.id);
  select(branch.id, withDocument(review.selection, change.ns, change.id, state !== 'on'));
}

/** A whole document's title, else the names of the fields that changed. */
function aboutDocument(change: DocumentChange): string {
  const [whole] = change.fields;
  if (whole?.path.length === 0 && whole.order !== true) {
    const image = whole.branch ?? whole.base;
    return (image === undefined ? undefined : titleOf(fromBase64(image))) ?? '';
  }
  return change.fields.map((field) => pathText(field.path)).join(', ');
}

function fieldsWord(review: ReviewState, change: DocumentChange): string {
  if (change.measurements) {
    const { added, modified, removed } = change.measurements;
    return plural(added + modified + removed, 'measurement');
  }
  const [whole] = change.fields;
  if (whole?.path.length === 0 && whole.order !== true) {
    const image = whole.branch ?? whole.base;
    return image === undefined ? '' : plural(fieldCount(fromBase64(image)), 'field');
  }
  const paths = change.fields.map((field) => field.path);
  const chosen = chosenFields(review.selection, change.ns, change.id, paths);
  const all = plural(paths.length, 'field');
  return chosen === paths.length || chosen === 0 ? all : `${count(chosen)} of ${all}`;
}

function documentRowId(change: DocumentChange | undefined): string {
  return change === undefined ? '' : `document-${change.id.replace(/[^A-Za-z0-9]/g, '_')}`;
}
