import { useMemo, useState } from 'react';
import type { BranchRow, FieldPath } from '../../shared/api.ts';
import { DocumentView } from '../bson/document-view.tsx';
import type { ViewProps } from '../bson/document-view.tsx';
import type { Line } from '../bson/line.ts';
import type { LinesJob } from '../bson/lines-job.ts';
import { patchText } from '../bson/patch-text.ts';
import { SideBySideView } from '../bson/side-view.tsx';
import { useLines } from '../bson/use-lines.ts';
import { TriStateBox } from '../shell/controls.tsx';
import { useRoomKeys } from '../shell/room-keys.ts';
import { conflictPlaces, isDecided, takes } from './decisions.ts';
import type { Side } from './decisions.ts';
import { useDocumentForm } from './document-form.ts';
import { decide, reviewOf, select, undoSelect } from './review.ts';
import type { DocumentReview, ReviewState } from './review.ts';
import { hasField, withDocument, withFields } from './selection.ts';

type Change = NonNullable<DocumentReview['change']>;

/** The changes of one document, each with its box, in the form that is chosen. `onStep` goes to another document. */
export function DocumentChanges({
  branch,
  review,
  parent,
  document,
  change,
  onStep,
}: {
  readonly branch: BranchRow;
  readonly review: ReviewState;
  readonly parent: string;
  readonly document: DocumentReview;
  readonly change: Change;
  readonly onStep: (by: number) => void;
}) {
  const form = useDocumentForm((state) => state.form);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const { ns, id } = document;
  const paths = useMemo(() => change.fields.map((field) => field.path), [change]);
  const names = useMemo(() => ({ parent, branch: branch.name }), [parent, branch.name]);
  const job = useMemo(
    (): LinesJob => ({
      base: document.base,
      target: document.branch,
      fields: change.fields,
      form: form === 'ejson' ? 'ejson' : 'tree',
      options: { opened, names },
    }),
    [document.base, document.branch, change.fields, form, opened, names],
  );
  const { lines, error } = useLines(job);
  const patch = useMemo(() => patchText(change.fields, names), [change.fields, names]);
  const undecided = change.conflict && !isDecided(review.decisions, change);
  const about = (line: Line): FieldPath[] =>
    line.changes.flatMap((index) => (paths[index] === undefined ? [] : [paths[index]]));
  const isIn = (line: Line): boolean => about(line).every((path) => hasField(review.selection, ns, id, path));
  const includeAll = (included: boolean): void => {
    if (!undecided) select(branch.id, withDocument(review.selection, ns, id, included));
  };
  const include = (line: Line, included: boolean): void => {
    if (undecided) return;
    const chosen = about(line);
    // A change of the whole document is the document's own box.
    if (chosen.some((path) => path.length === 0) && paths.length === 1) includeAll(included);
    else select(branch.id, withFields(review.selection, ns, id, chosen, included, paths));
  };
  const boxes = (lines ?? []).filter((line) => line.box);
  const moveChange = (by: number): void => {
    const at = boxes.findIndex((line) => line.key === current);
    const next = boxes[at < 0 ? (by > 0 ? 0 : boxes.length - 1) : Math.min(boxes.length - 1, Math.max(0, at + by))];
    setCurrent(next?.key);
  };
  const chooseByKey = (included: boolean): void => {
    const { opening, list, selection } = reviewOf(branch.id);
    if (opening !== undefined) {
      // Typed ahead: the key is about the document that was asked for. One in conflict must be seen first.
      const asked = list?.documents.find((one) => one.id === opening.id && one.ns === opening.ns);
      if (asked?.conflict === false) select(branch.id, withDocument(selection, asked.ns, asked.id, included));
      return;
    }
    const line = boxes.find((one) => one.key === current);
    if (line === undefined) includeAll(included);
    else include(line, included);
  };
  useRoomKeys({
    j: () => moveChange(1),
    k: () => moveChange(-1),
    ']': () => onStep(1),
    '[': () => onStep(-1),
    a: () => chooseByKey(true),
    x: () => chooseByKey(false),
    u: () => undoSelect(branch.id),
  });
  if (error !== undefined) return <p className="doc-note">{error}</p>;
  if (lines === undefined) {
    return (
      <p className="doc-note" role="status">
        Comparing a large document
      </p>
    );
  }
  const tabStop = current ?? boxes[0]?.key;
  const view: ViewProps = {
    lines,
    label: 'Changes of the document',
    current,
    onOpenFold: (key) => setOpened((now) => new Set([...now, key])),
    isOut: (line) => line.changes.length > 0 && line.tone !== 'con' && !undecided && !isIn(line),
    box: (line) =>
      !line.box || line.tone === 'con' ? null : (
        <TriStateBox
          state={!undecided && isIn(line) ? 'on' : 'off'}
          disabled={undecided}
          tabIndex={line.key === tabStop ? 0 : -1}
          label={`Include ${line.name ?? 'the document'}`}
          onToggle={() => include(line, !isIn(line))}
        />
      ),
    end: (line) =>
      line.side === undefined ? (
        lineNote(line, line.changes.length > 0 && line.tone !== 'con' && !isIn(line))
      ) : (
        <TakeSide branch={branch} review={review} change={change} line={line} side={line.side} />
      ),
  };
  return (
    <>
      <p className="sr">{patch}</p>
      <div
        className="doc-frame"
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          // In the boxes arrows go from change to change; elsewhere they scroll.
          if (!(event.target as HTMLElement).matches('[role=checkbox]')) return;
          event.preventDefault();
          moveChange(event.key === 'ArrowDown' ? 1 : -1);
        }}
      >
        {form === 'sides' ? (
          <SideBySideView {...view} heads={[`${parent} at the fork`, branch.name]} />
        ) : form === 'ejson' ? (
          <DocumentView lines={lines} label="Changes of the document as EJSON" onOpenFold={view.onOpenFold} />
        ) : (
          <DocumentView {...view} />
        )}
      </div>
    </>
  );
}

/** In a conflict's line: take this side, or that it is taken. */
function TakeSide({
  branch,
  review,
  change,
  line,
  side,
}: {
  readonly branch: BranchRow;
  readonly review: ReviewState;
  readonly change: Change;
  readonly line: Line;
  readonly side: Side;
}) {
  const [index] = line.changes;
  const path = index === undefined ? undefined : change.fields[index]?.path;
  const place = conflictPlaces(change).find((one) => one.path === path);
  if (place === undefined) return line.note;
  const taken = takes(review.decisions, place, side);
  return (
    <button
      type="button"
      className={taken ? 'take taken' : 'take'}
      aria-pressed={taken}
      onClick={() => decide(branch.id, place, { side })}
    >
      {taken ? `${line.note ?? ''} taken` : `Take ${line.note ?? ''}`}
    </button>
  );
}

function lineNote(line: Line, out: boolean): string | undefined {
  if (!out || !line.box) return line.note;
  return line.note === undefined ? 'left out' : `${line.note}, left out`;
}
