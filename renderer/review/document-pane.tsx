import { useMemo } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { ejsonText } from '../bson/ejson-lines.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { collectionName, idText, titleOf } from '../bson/plain.ts';
import { showInLive } from '../live/show-in-live.ts';
import { Button, CopyButton, IconButton, Segments } from '../shell/controls.tsx';
import { Actors, KindMark } from '../shell/marks.tsx';
import { count, listed, plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { isDecided } from './decisions.ts';
import { DocumentChanges } from './document-changes.tsx';
import { showForm, useDocumentForm } from './document-form.ts';
import { currentDocument, openDocument, reviewOf, select } from './review.ts';
import type { DocumentReview, ReviewState } from './review.ts';
import { chosenFields, withDocument } from './selection.ts';

interface PaneProps {
  readonly branch: BranchRow;
  readonly review: ReviewState;
  readonly parent: string;
}

/** One document: what the branch changed in it, each change with its box. */
export function DocumentPane(props: PaneProps) {
  const { document } = props.review;
  if (document?.change === undefined) {
    return <section className="diffp" aria-label="Document" />;
  }
  return <OpenDocument key={`${document.ns} ${document.id}`} {...props} document={document} change={document.change} />;
}

function OpenDocument({
  branch,
  review,
  parent,
  document,
  change,
}: PaneProps & { readonly document: DocumentReview; readonly change: NonNullable<DocumentReview['change']> }) {
  const form = useDocumentForm((state) => state.form);
  const { ns, id } = document;
  const image = document.branch ?? document.base ?? document.parent ?? '';
  const title = useMemo(() => titleOf(fromBase64(image)), [image]);
  const paths = useMemo(() => change.fields.map((field) => field.path), [change]);
  const undecided = change.conflict && !isDecided(review.decisions, change);
  const chosen = undecided ? 0 : chosenFields(review.selection, ns, id, paths);
  const includeAll = (included: boolean): void => select(branch.id, withDocument(review.selection, ns, id, included));
  const step = (by: number): void => moveDocument(branch, by);
  return (
    <section className="diffp" aria-label="Document">
      <div className="tool">
        <h3 className="crumb">
          <KindMark kind={change.kind} />
          <span className="mono cut">
            <span className="q">{collectionName(ns)} ›</span> {idText(id)}
          </span>
          {title === undefined ? null : <span className="q cut">{title}</span>}
        </h3>
        <span className="push" />
        <Segments
          label="Layout"
          value={form}
          onChange={showForm}
          choices={[
            { value: 'unified', label: 'Unified' },
            { value: 'sides', label: 'Side by side' },
            { value: 'ejson', label: 'EJSON' },
          ]}
        />
        <CopyButton iconOnly label="document as EJSON" text={() => ejsonText(fromBase64(image))} />
        <span className="pair">
          <IconButton label="Previous document" keys="[" icon="chevron-left" onClick={() => step(-1)} />
          <IconButton label="Next document" keys="]" icon="chevron-right" onClick={() => step(1)} />
        </span>
      </div>
      <div className="diffmeta">
        <Writes document={document} />
        <button type="button" className="link" onClick={() => showInLive(branch.id, { ns, id })}>
          Show in Live
        </button>
        <span className="push" />
        <span className="nowrap">
          {count(chosen)} of {plural(paths.length, 'change')}
        </span>
        <Button look="bare" keys="a" disabled={undecided} onClick={() => includeAll(true)}>
          Include all
        </Button>
        <Button look="bare" keys="x" disabled={undecided} onClick={() => includeAll(false)}>
          Leave out
        </Button>
      </div>
      <DocumentChanges
        branch={branch}
        review={review}
        parent={parent}
        document={document}
        change={change}
        onStep={step}
      />
    </section>
  );
}

function Writes({ document }: { readonly document: DocumentReview }) {
  const { actors, count: writes, lastAt } = document.writes;
  const who = actors.length === 0 ? '' : `${listed(actors)}, `;
  return (
    <>
      <Actors names={actors} small />
      <span className="cut">
        {who}
        {plural(writes, 'write')}
        {lastAt === undefined ? '' : `, last at ${clock(lastAt)}`}
      </span>
    </>
  );
}

function moveDocument(branch: BranchRow, by: number): void {
  const review = reviewOf(branch.id);
  const documents = review.list?.documents ?? [];
  const current = currentDocument(review);
  const at = documents.findIndex((one) => one.id === current?.id && one.ns === current.ns);
  const next = documents[Math.min(documents.length - 1, Math.max(0, at + by))];
  if (next !== undefined) void openDocument(branch, next.ns, next.id);
}
