import type { DocumentChange } from '../../shared/api.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { collectionName, idText, pathText, titleOf } from '../bson/plain.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { KindMark } from '../shell/marks.tsx';
import { plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { conflictPlaces, decisionOf, placeKey } from './decisions.ts';
import type { Choice, ConflictPlace, Decisions, Reopened, Side } from './decisions.ts';
import { ResultCell } from './result-cell.tsx';
import type { Selection } from './selection.ts';
import { SettledRows } from './settled-rows.tsx';
import { sideText } from './side-text.ts';
import { schemaWords } from './words.ts';

/** What the rows show and tell. */
export interface RowActions {
  readonly names: Readonly<Record<Side, string>>;
  readonly decisions: Decisions;
  readonly selection: Selection;
  readonly reopened: Reopened;
  /** Keys of the row that has the keyboard, and of the one whose result is being typed. */
  readonly current: string | undefined;
  readonly editing: string | undefined;
  readonly onCurrent: (place: ConflictPlace) => void;
  readonly onEdit: (place: ConflictPlace | undefined) => void;
  readonly onDecide: (place: ConflictPlace, choice: Choice) => void;
}

/** Schema items that both sides changed otherwise: a side is taken, nothing is typed. */
export function SchemaConflicts({
  places,
  actions,
}: {
  readonly places: readonly ConflictPlace[];
  readonly actions: RowActions;
}) {
  const schema = places.filter((place) => place.schema !== undefined);
  if (schema.length === 0) return null;
  return (
    <tbody>
      <tr className="docrow">
        <th colSpan={5} scope="rowgroup">
          <div>
            <Icon name="collection" />
            <b>Schema</b>
          </div>
        </th>
      </tr>
      {schema.map((place) => (
        <PlaceRow key={placeKey(place)} place={place} actions={actions} />
      ))}
    </tbody>
  );
}

export function ConflictDocument({
  document,
  actions,
}: {
  readonly document: DocumentChange;
  readonly actions: RowActions;
}) {
  const { names, decisions, onDecide } = actions;
  const places = conflictPlaces(document);
  const decided = places.filter((place) => decisionOf(decisions, place) !== undefined).length;
  const [first] = document.fields;
  const whole = first?.path.length === 0 ? (first.branch ?? first.parent ?? first.base) : undefined;
  const title = whole === undefined ? undefined : titleOf(fromBase64(whole));
  const takeAll = (side: Side): void => {
    for (const place of places) onDecide(place, { side });
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
            {title === undefined ? null : <span className="quiet cut">{title}</span>}
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
        <PlaceRow key={placeKey(place)} place={place} actions={actions} />
      ))}
      <SettledRows document={document} names={names} selection={actions.selection} />
    </tbody>
  );
}

function PlaceRow({ place, actions }: { readonly place: ConflictPlace; readonly actions: RowActions }) {
  const { names, decisions, reopened, current, onDecide, onCurrent } = actions;
  const key = placeKey(place);
  const choice = decisionOf(decisions, place);
  const taken = choice !== undefined && 'side' in choice ? choice.side : undefined;
  const path = place.schema === undefined ? pathText(place.path) : `${place.ns} ${schemaWords(place.schema)}`;
  const moved = reopened.get(key);
  const text = (side: Side): string => sideText(place[side], place.base);
  const option = (side: Side) => (
    <button
      type="button"
      className={taken === side ? 'opt on' : 'opt'}
      aria-pressed={taken === side}
      aria-label={`Take ${names[side]} for ${path}: ${text(side)}`}
      title={text(side)}
      onClick={() => onDecide(place, { side })}
    >
      <span className="rad" />
      <span className="cut">{text(side)}</span>
    </button>
  );
  const isCurrent = key === current;
  return (
    <tr className={isCurrent ? (choice === undefined ? 'cur' : 'cur done') : ''} onClick={() => onCurrent(place)}>
      <th scope="row" className="path">
        <span className="cut path-text" title={path}>
          {path}
        </span>
        {moved === undefined ? null : (
          <span className="moved-note">
            {names[moved.side]} changed this at {clock(moved.at)}
          </span>
        )}
      </th>
      <td className="cut" title={sideText(place.base, undefined)}>
        {sideText(place.base, undefined)}
      </td>
      <td>{option('parent')}</td>
      <td>{option('branch')}</td>
      <td>
        <ResultCell place={place} path={path} choice={choice} actions={actions} />
      </td>
    </tr>
  );
}
