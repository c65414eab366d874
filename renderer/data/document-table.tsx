import { useEffect, useMemo, useRef } from 'react';
import type { CSSProperties, KeyboardEvent } from 'react';
import { toBase64 } from '../../shared/bson/value.ts';
import { idText, plainText } from '../bson/plain.ts';
import { listKey } from '../shell/list-keys.ts';
import { KindMark } from '../shell/marks.tsx';
import { age, clock, moment, useNow } from '../shell/time.ts';
import { useWidth } from '../shell/use-width.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { columnsOf } from './columns.ts';
import type { Column, Row } from './columns.ts';
import { sortDirection } from './query.ts';
import type { Documents, Touched } from './read.ts';

interface TableProps {
  readonly name: string;
  readonly documents: Documents;
  readonly touched: Touched | undefined;
  readonly sort: string;
  /** One line of text for each document instead of columns. */
  readonly lines: boolean;
  readonly chosen: string | undefined;
  readonly onChoose: (row: Row) => void;
  readonly onSort: (column: string) => void;
  readonly onOpen: () => void;
}

const rowHeight = 28;
const headHeight = 24;
/** Of the table's font. */
const charPx = 7.25;
const edgesPx = 32;
/** What the signs and times of changes take. */
const markedPx = 100;

/** The documents read so far, those in view. One tab stop; arrows choose, Enter goes to the document. */
export function DocumentTable(props: TableProps) {
  const { name, documents, touched, sort, lines, chosen, onChoose, onSort, onOpen } = props;
  const { rows, loadMore } = documents;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualRows({
    scroller,
    count: rows.length,
    height: () => rowHeight,
    keyOf: (index) => index,
    overscan: 12,
    headPx: headHeight,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 30) loadMore();
  }, [last, rows.length, loadMore]);
  const width = useWidth(scroller);
  const marked = touched !== undefined;
  const room = Math.floor((width - edgesPx - (marked ? markedPx : 0)) / charPx);
  const columns = useMemo(() => (lines ? columnsOf([], 0) : columnsOf(rows, room)), [rows, lines, room]);
  const now = useNow(60_000);
  const at = rows.findIndex((row) => row.bson === chosen);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const next = listKey(event, Math.max(0, at), rows.length, page);
    const target = next === undefined ? undefined : rows[next];
    if (target !== undefined && next !== undefined) {
      onChoose(target);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter') onOpen();
    else return;
    event.preventDefault();
  };
  const template = useMemo(() => gridTemplate(columns, marked, lines), [columns, marked, lines]);
  return (
    <div
      role="grid"
      className="dtable"
      aria-label={`Documents in ${name}`}
      aria-rowcount={documents.more ? -1 : rows.length + 1}
      aria-activedescendant={at < 0 ? undefined : `data-row-${String(at)}`}
      aria-busy={documents.loading}
      tabIndex={0}
      ref={scroller}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="dhead-row">
        <div role="row" className="drow dtable-head" style={template} aria-rowindex={1}>
          {marked ? (
            <span role="columnheader">
              <span className="sr">Change</span>
            </span>
          ) : null}
          {columns.map((column) => (
            <ColumnHead key={column.name} column={column} sort={sort} onSort={onSort} />
          ))}
          {lines ? <span role="columnheader">document</span> : null}
          {marked ? (
            <span role="columnheader" className="num">
              changed
            </span>
          ) : null}
        </div>
      </div>
      <div role="rowgroup" className="dtable-all" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <div
              key={item.key}
              role="row"
              className="drow"
              id={`data-row-${String(item.index)}`}
              aria-rowindex={item.index + 2}
              aria-selected={item.index === at}
              style={{ ...template, transform: `translateY(${String(item.start - headHeight)}px)` }}
              onClick={() => onChoose(row)}
            >
              {marked ? (
                <span role="gridcell" className="cell">
                  <Mark row={row} touched={touched} />
                </span>
              ) : null}
              {columns.map((column) => (
                <Cell key={column.name} row={row} column={column} />
              ))}
              {lines ? (
                <span role="gridcell" className="cut soft">
                  {plainText(row.value, 400)}
                </span>
              ) : null}
              {marked ? <ChangedAt row={row} touched={touched} now={now} /> : null}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function ColumnHead({
  column,
  sort,
  onSort,
}: {
  readonly column: Column;
  readonly sort: string;
  readonly onSort: (column: string) => void;
}) {
  const direction = sortDirection(sort, column.name);
  return (
    <span role="columnheader" aria-sort={direction ?? 'none'} className={column.numeric ? 'num' : ''}>
      <button
        type="button"
        tabIndex={-1}
        className="cut"
        title={`Sort by ${column.name}`}
        onClick={() => onSort(column.name)}
      >
        {direction === undefined ? '' : direction === 'ascending' ? '↑ ' : '↓ '}
        {column.name}
      </button>
    </span>
  );
}

function Cell({ row, column }: { readonly row: Row; readonly column: Column }) {
  const value = row.fields.get(column.name);
  const text =
    value === undefined ? '' : column.name === '_id' ? idText(toBase64(value)) : withoutQuotes(plainText(value, 80));
  return (
    <span role="gridcell" className={column.numeric ? 'num cut' : 'cut'}>
      {text}
    </span>
  );
}

/** Most texts are alone in their cell: their quotes would only repeat the column. */
function withoutQuotes(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

function Mark({ row, touched }: { readonly row: Row; readonly touched: Touched }) {
  const id = row.fields.get('_id');
  const kind = id === undefined ? undefined : touched.kinds.get(toBase64(id));
  return kind === undefined ? null : <KindMark kind={kind} />;
}

/** When the branch last wrote to the document; who did is in its title and read out. */
function ChangedAt({ row, touched, now }: { readonly row: Row; readonly touched: Touched; readonly now: number }) {
  const id = row.fields.get('_id');
  const write = id === undefined ? undefined : touched.last.get(toBase64(id));
  if (write === undefined) return <span role="gridcell" />;
  const who = write.actor ?? (write.actors === undefined ? '' : `one of ${write.actors.join(', ')}`);
  const isToday = new Date(write.time).toDateString() === new Date(now).toDateString();
  return (
    <span
      role="gridcell"
      className="num soft nowrap"
      title={`${moment(write.time, now)}${who === '' ? '' : `, ${who}`}`}
    >
      {isToday ? clock(write.time) : age(write.time, now)}
      {who === '' ? null : <span className="sr"> by {who}</span>}
    </span>
  );
}

function gridTemplate(columns: readonly Column[], marked: boolean, lines: boolean): CSSProperties {
  const widths = columns.map(({ chars }) => (lines ? 'minmax(88px, 0.8fr)' : `minmax(48px, ${String(chars)}fr)`));
  return {
    gridTemplateColumns: [marked ? '16px' : '', ...widths, lines ? 'minmax(0, 6fr)' : '', marked ? '60px' : ''].join(
      ' ',
    ),
  };
}
