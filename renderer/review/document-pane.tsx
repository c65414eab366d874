import { useEffect, useMemo, useState } from 'react';
import type { BranchRow, FieldChange, FieldPath } from '../../shared/api.ts';
import type { z } from 'zod';
import { toEjson } from '../../shared/bson/ejson.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { diffLines } from '../bson/document-lines.ts';
import type { Line, PlaceChange } from '../bson/line.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { collectionName, idText, plainText, titleOf } from '../bson/plain.ts';
import { showInLive } from '../live/show-in-live.ts';
import { Button, CopyButton, IconButton, TriStateBox } from '../shell/controls.tsx';
import { useRoomKeys } from '../shell/room-keys.ts';
import { Actors, KindMark } from '../shell/marks.tsx';
import { count, listed, plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { conflictPlaces, decisionOf, isDecided, withDecision } from './decisions.ts';
import type { Side } from './decisions.ts';
import { openDocument, select, undoSelect, updateReview } from './review.ts';
import type { DocumentReview, ReviewState } from './review.ts';
import { chosenFields, hasField, withDocument, withFields } from './selection.ts';

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
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const { ns, id } = document;
  const paths = useMemo(() => change.fields.map((field) => field.path), [change]);
  const lines = useMemo(() => {
    const side = (bson: string | undefined) => (bson === undefined ? undefined : fromBase64(bson));
    return diffLines(side(document.base), side(document.branch), change.fields.map(placeChange), {
      opened,
      names: { parent, branch: branch.name },
    });
  }, [document.base, document.branch, change, opened, parent, branch.name]);
  const undecided = change.conflict && !isDecided(review.decisions, change);
  const about = (line: Line): FieldPath[] =>
    line.changes.flatMap((index) => (paths[index] === undefined ? [] : [paths[index]]));
  const isIn = (line: Line): boolean => about(line).every((path) => hasField(review.selection, ns, id, path));
  const include = (line: Line, included: boolean): void => {
    if (undecided) return;
    const chosen = about(line);
    // A change of the whole document is the document's own box.
    if (chosen.some((path) => path.length === 0) && paths.length === 1) includeAll(included);
    else select(branch.id, withFields(review.selection, ns, id, chosen, included, paths));
  };
  const includeAll = (included: boolean): void => {
    if (!undecided) select(branch.id, withDocument(review.selection, ns, id, included));
  };
  const step = (by: number): void => moveDocument(branch, review, by);
  const boxes = lines.filter((line) => line.box);
  const moveChange = (by: number): void => {
    const at = boxes.findIndex((line) => line.key === current);
    const next = boxes[at < 0 ? (by > 0 ? 0 : boxes.length - 1) : Math.min(boxes.length - 1, Math.max(0, at + by))];
    setCurrent(next?.key);
  };
  const chooseByKey = (included: boolean): void => {
    const line = boxes.find((one) => one.key === current);
    if (line === undefined) includeAll(included);
    else include(line, included);
  };
  useRoomKeys({
    j: () => moveChange(1),
    k: () => moveChange(-1),
    ']': () => step(1),
    '[': () => step(-1),
    a: () => chooseByKey(true),
    x: () => chooseByKey(false),
    u: () => undoSelect(branch.id),
  });
  useEffect(() => {
    window.document.querySelector('.dl.current')?.scrollIntoView({ block: 'nearest' });
  }, [current]);

  const title = titleOf(fromBase64(document.branch ?? document.base ?? document.parent ?? ''));
  const chosen = undecided ? 0 : chosenFields(review.selection, ns, id, paths);
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
        <CopyButton label="document as EJSON" text={() => toEjson(fromBase64(document.branch ?? document.base ?? ''))}>
          EJSON
        </CopyButton>
        <span className="pair">
          <IconButton label="Previous document" keys="[" icon="chevron-left" onClick={() => step(-1)} />
          <IconButton label="Next document" keys="]" icon="chevron-right" onClick={() => step(1)} />
        </span>
      </div>
      <div className="diffmeta">
        <Writes document={document} />
        <button
          type="button"
          className="link"
          onClick={() => showInLive(branch.id, plainText(fromBase64(id)).replace(/^"|"$/g, ''))}
        >
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
      <DocumentView
        label="Changes of the document"
        lines={lines}
        current={current}
        onOpenFold={(key) => setOpened((now) => new Set([...now, key]))}
        isOut={(line) => line.changes.length > 0 && line.tone !== 'con' && !undecided && !isIn(line)}
        box={(line) =>
          !line.box || line.tone === 'con' ? null : (
            <TriStateBox
              state={!undecided && isIn(line) ? 'on' : 'off'}
              disabled={undecided}
              label={`Include ${line.name ?? 'the document'}`}
              onToggle={() => include(line, !isIn(line))}
            />
          )
        }
        end={(line) =>
          line.side === undefined ? (
            lineNote(line, line.changes.length > 0 && line.tone !== 'con' && !isIn(line))
          ) : (
            <TakeSide branch={branch} review={review} change={change} line={line} side={line.side} />
          )
        }
      />
    </section>
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
  readonly change: NonNullable<DocumentReview['change']>;
  readonly line: Line;
  readonly side: Side;
}) {
  const [index] = line.changes;
  const path = index === undefined ? undefined : change.fields[index]?.path;
  const place = conflictPlaces(change).find((one) => one.path === path);
  if (place === undefined) return line.note;
  const taken = decisionOf(review.decisions, place) === side;
  return (
    <button
      type="button"
      className={taken ? 'take taken' : 'take'}
      aria-pressed={taken}
      onClick={() => updateReview(branch.id, { decisions: withDecision(review.decisions, place, side) })}
    >
      {taken ? `${line.note ?? ''} taken` : `Take ${line.note ?? ''}`}
    </button>
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

function lineNote(line: Line, out: boolean): string | undefined {
  if (!out) return line.note;
  if (!line.box) return line.note;
  return line.note === undefined ? 'left out' : `${line.note}, left out`;
}

function moveDocument(branch: BranchRow, review: ReviewState, by: number): void {
  const documents = review.list?.documents ?? [];
  const at = documents.findIndex((one) => one.id === review.document?.id && one.ns === review.document.ns);
  const next = documents[Math.min(documents.length - 1, Math.max(0, at + by))];
  if (next !== undefined) void openDocument(branch, next.ns, next.id);
}

function placeChange(field: z.infer<typeof FieldChange>): PlaceChange {
  const side = (bson: string | undefined) => (bson === undefined ? undefined : fromBase64(bson));
  return {
    path: field.path,
    base: side(field.base),
    parent: side(field.parent),
    branch: side(field.branch),
    class: field.class,
    order: field.order,
  };
}
