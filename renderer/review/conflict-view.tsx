import { useEffect, useMemo, useState } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { collectionName, idText, pathText } from '../bson/plain.ts';
import { Button } from '../shell/controls.tsx';
import { count, plural } from '../shell/numbers.ts';
import { useRoomKeys } from '../shell/room-keys.ts';
import { clock } from '../shell/time.ts';
import { ConflictDocument, SchemaConflicts } from './conflict-rows.tsx';
import type { RowActions } from './conflict-rows.tsx';
import { AdoptButton } from './decision-bar.tsx';
import { decisionOf, placeKey } from './decisions.ts';
import type { Choice, ConflictPlace } from './decisions.ts';
import { MergePreview } from './merge-preview.tsx';
import { decide, placesOf, reviewOf, setStrict, showConflicts } from './review.ts';
import type { ReviewState } from './review.ts';
import { tallyOf } from './tally.ts';
import { schemaWords } from './words.ts';
import './conflicts.css';

const documentsAtFirst = 200;

/** Every place that both sides changed otherwise, with the result to be had. */
export function ConflictView({ branch, review }: { readonly branch: BranchRow; readonly review: ReviewState }) {
  const parent = review.diff?.parent ?? 'parent';
  const { conflicts, diff, decisions } = review;
  const places = useMemo(() => placesOf({ conflicts, diff }), [conflicts, diff]);
  const open = places.filter((place) => decisionOf(decisions, place) === undefined);
  const [current, setCurrent] = useState<string>();
  const [editing, setEditing] = useState<string>();
  const [shown, setShown] = useState(documentsAtFirst);
  const currentKey = current ?? keyOf(open[0] ?? places[0]);
  const here = places.find((place) => placeKey(place) === currentKey);
  const tally = tallyOf(review);
  const move = (by: 1 | -1): void => {
    const at = places.findIndex((place) => placeKey(place) === currentKey);
    const order = places.map((_, offset) => places[(at + by * (offset + 1) + places.length * 2) % places.length]);
    const next = order.find((place) => place !== undefined && decisionOf(decisions, place) === undefined);
    if (next !== undefined) setCurrent(placeKey(next));
  };
  const actions: RowActions = {
    names: { parent, branch: branch.name },
    decisions,
    selection: review.selection,
    reopened: review.reopened,
    current: currentKey,
    editing,
    onCurrent: (place) => setCurrent(placeKey(place)),
    onEdit: (place) => setEditing(place === undefined ? undefined : placeKey(place)),
    onDecide: (place, choice) => {
      decide(branch.id, place, choice);
      // On to the next one that is open, round the end.
      const at = places.findIndex((one) => placeKey(one) === placeKey(place));
      const rest = [...places.slice(at + 1), ...places.slice(0, at)];
      const now = reviewOf(branch.id).decisions;
      setCurrent(keyOf(rest.find((one) => decisionOf(now, one) === undefined) ?? place));
    },
  };
  const choose = (choice: Choice | undefined): void => {
    if (here === undefined) return;
    if (choice === undefined) decide(branch.id, here, undefined);
    else actions.onDecide(here, choice);
  };
  useRoomKeys({
    n: () => move(1),
    'shift+n': () => move(-1),
    '1': () => choose({ side: 'parent' }),
    '2': () => choose({ side: 'branch' }),
    u: () => choose(undefined),
  });
  useEffect(() => {
    document.querySelector('.ctable .cur')?.scrollIntoView({ block: 'nearest' });
  }, [currentKey]);
  const inDocuments = new Set(places.flatMap(({ ns, id }) => (id === undefined ? [] : [`${ns}\n${id}`]))).size;
  return (
    <div className="body conf">
      <header className="sentence">
        <div className="sentence-text">
          <h2>
            <b>
              {count(places.length - open.length)} of {count(places.length)}
            </b>{' '}
            decisions made{inDocuments === 0 ? '' : ' in '}
            {inDocuments === 0 ? null : <b>{count(inDocuments)}</b>}
            {inDocuments === 0 ? '' : inDocuments === 1 ? ' document' : ' documents'}
          </h2>
          <p>
            Kept as you go. A decision is asked for again only if {parent} or {branch.name} changes that place.
          </p>
        </div>
        {places.length > 24 ? null : (
          <span
            className="steps"
            role="img"
            aria-label={`${String(places.length - open.length)} of ${String(places.length)} decided`}
          >
            {places.map((place) => (
              <i key={placeKey(place)} className={decisionOf(decisions, place) === undefined ? 'todo' : ''} />
            ))}
          </span>
        )}
        <label className="switch" title="Any edit of one document on both sides is a conflict">
          <input
            type="checkbox"
            role="switch"
            checked={review.strict}
            onChange={(event) => void setStrict(branch, event.target.checked)}
          />
          Strict
        </label>
        <Button size="medium" onClick={() => showConflicts(branch.id, false)}>
          Back to review
        </Button>
      </header>
      <div
        className="conf-scroll"
        tabIndex={0}
        role="region"
        aria-label="Conflicts"
        onKeyDown={(event) => {
          // On a button Enter is the button's.
          if (event.key !== 'Enter' || event.target !== event.currentTarget || here === undefined) return;
          event.preventDefault();
          actions.onEdit(here);
        }}
      >
        <table className="ctable">
          <colgroup>
            <col className="w-path" />
            <col className="w-base" />
            <col className="w-side" />
            <col className="w-side" />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Path</th>
              <th scope="col">Base{branch.forkedAt === undefined ? '' : `, ${clock(branch.forkedAt)}`}</th>
              <th scope="col" className="side-col">
                <span className="side-tag m">{parent}</span>
              </th>
              <th scope="col" className="side-col">
                <span className="side-tag">{branch.name}</span>
              </th>
              <th scope="col" className="result-col">
                Result
              </th>
            </tr>
          </thead>
          <SchemaConflicts places={places} actions={actions} />
          {conflicts.slice(0, shown).map((document) => (
            <ConflictDocument key={`${document.ns} ${document.id}`} document={document} actions={actions} />
          ))}
        </table>
        {conflicts.length > shown ? (
          <p className="conf-more">
            <Button onClick={() => setShown(shown + documentsAtFirst)}>
              Show {plural(Math.min(documentsAtFirst, conflicts.length - shown), 'more document')}
            </Button>
          </p>
        ) : null}
      </div>
      <MergePreview branch={branch} review={review} parent={parent} place={here} />
      <div className="foot" role="region" aria-label="Decision">
        <Button size="medium" icon="chevron-left" keys="shift+n" disabled={open.length === 0} onClick={() => move(-1)}>
          Previous
        </Button>
        <Button size="medium" icon="chevron-right" keys="n" disabled={open.length === 0} onClick={() => move(1)}>
          Next undecided
        </Button>
        <p className="cut foot-left">
          <Left open={open} />
        </p>
        <span className="push" />
        <AdoptButton branch={branch} tally={tally} />
      </div>
    </div>
  );
}

function Left({ open }: { readonly open: readonly ConflictPlace[] }) {
  const [next] = open;
  if (next === undefined) return <b>All decided</b>;
  const { ns, id, path, schema } = next;
  const what = schema === undefined ? pathText(path) : schemaWords(schema);
  return (
    <>
      <b>{count(open.length)} left: </b>
      {collectionName(ns)} {id === undefined ? '' : `${idText(id)}, `}
      {what}
    </>
  );
}

function keyOf(place: ConflictPlace | undefined): string | undefined {
  return place === undefined ? undefined : placeKey(place);
}
