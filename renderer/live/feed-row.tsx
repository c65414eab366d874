import { memo } from 'react';
import type { ReactNode } from 'react';
import type { Change } from '../../shared/api.ts';
import { collectionName, idText } from '../bson/plain.ts';
import { Icon } from '../shell/icons.tsx';
import { KindMark, NamedActors } from '../shell/marks.tsx';
import { count, plural } from '../shell/numbers.ts';
import { age } from '../shell/time.ts';
import { GapRow } from './gap.tsx';
import { kindOf, kindWord, schemaWord } from './kinds.ts';
import type { FeedRow, Group } from './rows.ts';
import { summaryOf } from './summary.ts';
import type { FieldText } from './summary.ts';

export interface RowProps {
  readonly id: string;
  readonly row: FeedRow;
  readonly index: number;
  readonly top: number;
  readonly now: number;
  readonly selected: boolean;
  readonly manyDatabases: boolean;
  readonly onSelect: (seq: number) => void;
  readonly onToggle: (key: string) => void;
}

export const FeedRowView = memo(function FeedRowView(props: RowProps) {
  const { row } = props;
  if (row.kind === 'group') return <GroupRow {...props} row={row} />;
  if (row.kind === 'gap') return <GapRow {...props} row={row} />;
  return <ChangeRow {...props} row={row} />;
});

function ChangeRow({
  row,
  now,
  manyDatabases,
  ...place
}: RowProps & { readonly row: Extract<FeedRow, { kind: 'change' }> }) {
  const { change, inGroup, last } = row;
  const kind = kindOf(change);
  const chip = schemaWord(change);
  return (
    <div
      className={['frow', inGroup ? 'kid' : '', inGroup && last ? 'kid-last' : ''].join(' ')}
      role="row"
      id={place.id}
      aria-rowindex={place.index}
      aria-level={inGroup ? 2 : 1}
      aria-selected={place.selected}
      style={{ transform: `translateY(${String(place.top)}px)` }}
      onClick={() => place.onSelect(change.seq)}
    >
      <span role="gridcell">{kind === undefined ? null : <KindMark kind={kind} word={kindWord(change)} />}</span>
      <span role="gridcell">
        <span className="ns cut">
          <i>{change.ns === undefined ? '' : collectionName(change.ns, manyDatabases)}</i>{' '}
          {change.id === undefined ? null : idText(change.id)}
          {chip === undefined ? null : <span className="type">{chip}</span>}
        </span>
      </span>
      <span role="gridcell">
        <ChangeText change={change} />
      </span>
      <span role="gridcell">
        <Who change={change} hidden={inGroup} />
      </span>
      <span role="gridcell" className="age">
        {inGroup ? '' : age(change.time, now)}
      </span>
    </div>
  );
}

function ChangeText({ change }: { readonly change: Change }) {
  const { words, fields } = summaryOf(change);
  const shown = change.op === 'insert' ? fields : fields.slice(0, 1);
  const more = fields.length - shown.length;
  return (
    <span className="chg cut">
      {words === undefined || words === '' ? null : <i>{words}</i>}
      {shown.map((field) => (
        <FieldChangeText key={field.path} field={field} />
      ))}
      {more > 0 ? <i>{`+${plural(more, 'field')}`}</i> : null}
    </span>
  );
}

/** `price.amount 129.00→135.45` */
export function FieldChangeText({ field }: { readonly field: FieldText }): ReactNode {
  const { path, before, after, types } = field;
  if (field.order === true) {
    return (
      <span>
        <i>{path === 'whole document' ? 'fields' : path}</i> order changed{' '}
      </span>
    );
  }
  if (before === undefined) {
    return (
      <span>
        <i>{path}</i> {after}{' '}
      </span>
    );
  }
  if (after === undefined) {
    return (
      <span>
        <i>{path}</i> <span className="sign c-rem">−</span> {before}{' '}
      </span>
    );
  }
  return (
    <span>
      <i>{path}</i> {before}
      <span className="ar" aria-hidden="true">
        →
      </span>
      <span className="sr"> to </span>
      {after}{' '}
      {types === undefined ? null : (
        <span className="type">
          {types[0]} → {types[1]}
        </span>
      )}{' '}
    </span>
  );
}

function Who({ change, hidden = false }: { readonly change: Change; readonly hidden?: boolean }) {
  if (hidden) return null;
  const names = change.actor === undefined ? (change.actors ?? []) : [change.actor];
  return (
    <span
      className="who-cell"
      title={change.actor === undefined && names.length > 0 ? `one of ${names.join(', ')}` : undefined}
    >
      {change.actor === undefined && names.length > 1 ? <span className="sr">one of </span> : null}
      <NamedActors names={names} />
    </span>
  );
}

function GroupRow({ row, now, ...place }: RowProps & { readonly row: Extract<FeedRow, { kind: 'group' }> }) {
  const { group, open, key } = row;
  const newest = group.changes.at(-1);
  const actors = [
    ...new Set(
      group.changes.flatMap((change) => (change.actor === undefined ? (change.actors ?? []) : [change.actor])),
    ),
  ];
  return (
    <div
      className={open ? 'frow group open' : 'frow group'}
      role="row"
      id={place.id}
      aria-rowindex={place.index}
      aria-level={1}
      aria-expanded={open}
      style={{ transform: `translateY(${String(place.top)}px)` }}
      onClick={() => place.onToggle(key)}
    >
      <span role="gridcell">
        <Icon name={open ? 'chevron-down' : 'chevron-right'} small />
      </span>
      <b role="gridcell">{group.type === 'transaction' ? 'Transaction' : 'Burst'}</b>
      <span role="gridcell" className="cut soft">
        {groupWords(group)}
      </span>
      <span role="gridcell">
        <span className="who-cell">
          <NamedActors names={actors} />
        </span>
      </span>
      <span role="gridcell" className="age">
        {newest === undefined ? '' : age(newest.time, now)}
      </span>
    </div>
  );
}

/** `4 writes in 3 collections, 11 ms` or `21 writes to products in 0.2 s` */
function groupWords({ type, changes }: Group): string {
  const namespaces = [...new Set(changes.map((change) => change.ns ?? ''))];
  const [first, last] = [changes[0], changes.at(-1)];
  const ms = first === undefined || last === undefined ? 0 : Date.parse(last.time) - Date.parse(first.time);
  const [only] = namespaces;
  const where =
    namespaces.length === 1 && only !== undefined
      ? `to ${collectionName(only)}`
      : `in ${count(namespaces.length)} collections`;
  const took = ms < 100 ? `${String(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  return `${plural(changes.length, 'write')} ${where}${ms === 0 ? '' : type === 'burst' ? ` in ${took}` : `, ${took}`}`;
}
