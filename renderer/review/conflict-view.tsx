import { useEffect, useMemo, useState } from 'react';
import type { BranchRow, DocumentChange } from '../../shared/api.ts';
import { fromBase64, typeName } from '../../shared/bson/value.ts';
import { collectionName, fieldCount, idText, pathText, plainBson } from '../bson/plain.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { KindMark } from '../shell/marks.tsx';
import { count, plural } from '../shell/numbers.ts';
import { useRoomKeys } from '../shell/room-keys.ts';
import { clock } from '../shell/time.ts';
import { AdoptButton } from './decision-bar.tsx';
import { conflictPlaces, decisionOf, placeKey, withDecision } from './decisions.ts';
import type { ConflictPlace, Side } from './decisions.ts';
import { reviewOf, showConflicts, updateReview } from './review.ts';
import type { ReviewState } from './review.ts';
import { tallyOf } from './tally.ts';
import './conflicts.css';

/** Every place that both sides changed otherwise, with the side to be taken. */
export function ConflictView({ branch, review }: { readonly branch: BranchRow; readonly review: ReviewState }) {
  const parent = review.diff?.parent ?? 'parent';
  const places = useMemo(() => review.conflicts.flatMap(conflictPlaces), [review.conflicts]);
  const open = places.filter((place) => decisionOf(review.decisions, place) === undefined);
  const [current, setCurrent] = useState<string>();
  const currentKey = current ?? keyOf(open[0] ?? places[0]);
  const tally = tallyOf(review);
  const decide = (place: ConflictPlace, side: Side): void => {
    updateReview(branch.id, { decisions: withDecision(reviewOf(branch.id).decisions, place, side) });
    // On to the next one that is open, round the end.
    const at = places.findIndex((one) => placeKey(one) === placeKey(place));
    const rest = [...places.slice(at + 1), ...places.slice(0, at)];
    setCurrent(keyOf(rest.find((one) => decisionOf(review.decisions, one) === undefined) ?? place));
  };
  const move = (by: 1 | -1): void => {
    const at = places.findIndex((place) => placeKey(place) === currentKey);
    const order = places.map((_, offset) => places[(at + by * (offset + 1) + places.length * 2) % places.length]);
    const next = order.find((place) => place !== undefined && decisionOf(review.decisions, place) === undefined);
    if (next !== undefined) setCurrent(placeKey(next));
  };
  const here = places.find((place) => placeKey(place) === currentKey);
  useRoomKeys({
    n: () => move(1),
    'shift+n': () => move(-1),
    '1': () => (here === undefined ? undefined : decide(here, 'parent')),
    '2': () => (here === undefined ? undefined : decide(here, 'branch')),
  });
  useEffect(() => {
    document.querySelector('.ctable .cur')?.scrollIntoView({ block: 'nearest' });
  }, [currentKey]);
  const [next] = open;
  return (
    <div className="body conf">
      <header className="sentence">
        <div className="sentence-text">
          <h2>
            <b>
              {count(places.length - open.length)} of {count(places.length)}
            </b>{' '}
            decisions made in <b>{count(review.conflicts.length)}</b>{' '}
            {review.conflicts.length === 1 ? 'document' : 'documents'}
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
              <i key={placeKey(place)} className={decisionOf(review.decisions, place) === undefined ? 'todo' : ''} />
            ))}
          </span>
        )}
        <Button size="medium" onClick={() => showConflicts(branch.id, false)}>
          Back to review
        </Button>
      </header>
      <div className="conf-scroll" tabIndex={0} role="region" aria-label="Conflicts">
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
          {review.conflicts.map((document) => (
            <ConflictDocument
              key={`${document.ns} ${document.id}`}
              document={document}
              review={review}
              names={{ parent, branch: branch.name }}
              current={currentKey}
              onDecide={decide}
            />
          ))}
        </table>
      </div>
      <div className="foot" role="region" aria-label="Decision">
        <Button size="medium" icon="chevron-left" keys="shift+n" disabled={open.length === 0} onClick={() => move(-1)}>
          Previous
        </Button>
        <Button size="medium" icon="chevron-right" keys="n" disabled={open.length === 0} onClick={() => move(1)}>
          Next undecided
        </Button>
        <p className="cut foot-left">
          {next === undefined ? (
            <b>All decided</b>
          ) : (
            <>
              <b>{count(open.length)} left: </b>
              {collectionName(next.ns)} {idText(next.id)}, {pathText(next.path)}
            </>
          )}
        </p>
        <span className="push" />
        <AdoptButton branch={branch} tally={tally} />
      </div>
    </div>
  );
}

function ConflictDocument({
  document,
  review,
  names,
  current,
  onDecide,
}: {
  readonly document: DocumentChange;
  readonly review: ReviewState;
  readonly names: Readonly<Record<Side, string>>;
  readonly current: string | undefined;
  readonly onDecide: (place: ConflictPlace, side: Side) => void;
}) {
  const places = conflictPlaces(document);
  const decided = places.filter((place) => decisionOf(review.decisions, place) !== undefined).length;
  const others = document.fields.filter((field) => field.class !== 'divergent');
  const takeAll = (side: Side): void => {
    for (const place of places) onDecide(place, side);
  };
  return (
    <tbody>
      <tr className="docrow">
        <th colSpan={5} scope="rowgroup">
          <div>
            <KindMark kind={document.kind} />
            <b className="mono">
              {collectionName(document.ns)} {idText(document.id)}
            </b>
            {decided === places.length ? (
              <span className="state c-add">
                <Icon name="check" />
                Decided
              </span>
            ) : (
              <span className="state c-con">
                {decided === 0
                  ? `${plural(places.length, 'place')} to decide`
                  : `${String(decided)} of ${String(places.length)} decided`}
              </span>
            )}
            <span className="push" />
            <span className="quiet">Whole document</span>
            <Button onClick={() => takeAll('parent')}>Take {names.parent}</Button>
            <Button onClick={() => takeAll('branch')}>Take {names.branch}</Button>
          </div>
        </th>
      </tr>
      {places.map((place) => (
        <PlaceRow
          key={placeKey(place)}
          place={place}
          taken={decisionOf(review.decisions, place)}
          names={names}
          isCurrent={placeKey(place) === current}
          onDecide={onDecide}
        />
      ))}
      {others.map((field) => (
        <tr key={JSON.stringify(field.path)} className="auto">
          <td className="cut">{pathText(field.path)}</td>
          <td className="cut">{sideText(field.base, undefined)}</td>
          <td className="side-col quiet cut">{sideText(field.parent, field.base)}</td>
          <td className="side-col cut">{sideText(field.branch, field.base)}</td>
          <td className="result-col cut">
            {sideText(field.branch, field.base)}{' '}
            <span className="lbl">{field.class === 'convergent' ? 'alike' : `only in ${names.branch}`}</span>
          </td>
        </tr>
      ))}
    </tbody>
  );
}

function PlaceRow({
  place,
  taken,
  names,
  isCurrent,
  onDecide,
}: {
  readonly place: ConflictPlace;
  readonly taken: Side | undefined;
  readonly names: Readonly<Record<Side, string>>;
  readonly isCurrent: boolean;
  readonly onDecide: (place: ConflictPlace, side: Side) => void;
}) {
  const path = pathText(place.path);
  const option = (side: Side) => (
    <button
      type="button"
      className={taken === side ? 'opt on' : 'opt'}
      aria-pressed={taken === side}
      aria-label={`Take ${names[side]} for ${path}: ${sideText(place[side], place.base)}`}
      onClick={() => onDecide(place, side)}
    >
      <span className="rad" />
      <span className="cut">{sideText(place[side], place.base)}</span>
    </button>
  );
  const result = taken === undefined ? undefined : place[taken];
  return (
    <tr className={isCurrent ? (taken === undefined ? 'cur' : 'cur done') : ''}>
      <th scope="row" className="cut path">
        {path}
      </th>
      <td className="cut">{sideText(place.base, undefined)}</td>
      <td>{option('parent')}</td>
      <td>{option('branch')}</td>
      <td>
        <div className="result">
          {taken === undefined ? (
            <span className="res todo">Pick a side</span>
          ) : (
            <span className="res">
              <span className="cut">{sideText(result, place.base)}</span>
              {result === undefined ? null : <span className="type">{typeName(fromBase64(result))}</span>}
              <span className="from">{names[taken]}</span>
            </span>
          )}
          <span className={taken === undefined ? 'state c-con' : 'state c-add'}>
            <Icon name={taken === undefined ? 'conflict' : 'check'} />
            <span className="sr">{taken === undefined ? 'not decided' : 'decided'}</span>
          </span>
        </div>
      </td>
    </tr>
  );
}

/** A side's value; one that is missing was removed, or was never there. */
function sideText(bson: string | undefined, base: string | undefined): string {
  if (bson === undefined) return base === undefined ? 'not there' : '− removed';
  const value = fromBase64(bson);
  return typeName(value) === 'Object' ? plural(fieldCount(value), 'field') : plainBson(bson, 120);
}

function keyOf(place: ConflictPlace | undefined): string | undefined {
  return place === undefined ? undefined : placeKey(place);
}
