import { useEffect, useMemo, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { Button } from '../shell/controls.tsx';
import { listKey } from '../shell/list-keys.ts';
import { useNow } from '../shell/time.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { isHeld, loadOlder, setAway, wantsOlder } from './feed.ts';
import type { Feed } from './feed.ts';
import { FeedRowView } from './feed-row.tsx';
import type { FeedRow } from './rows.ts';

const rowHeight = 28;
const gapHeight = 52;
/** The column heads stay in view above the rows. */
const headHeight = 24;
/** Scrolled by less than this, the view still counts as being at the newest row. */
const atTop = 4;

/** The rows in view. One tab stop: the grid has the keyboard and names its active row. */
export function FeedList({
  feed,
  rows,
  selected,
  onSelect,
  onToggle,
  filtered,
}: {
  readonly feed: Feed;
  readonly rows: readonly FeedRow[];
  readonly selected: number | undefined;
  readonly onSelect: (seq: number) => void;
  readonly onToggle: (key: string) => void;
  readonly filtered: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const now = useNow(1_000);
  const manyDatabases = useMemo(
    () => new Set(feed.changes.flatMap(({ ns }) => (ns === undefined ? [] : [ns.split('.')[0]]))).size > 1,
    [feed.changes],
  );
  const virtual = useVirtualRows({
    scroller,
    count: rows.length,
    height: (index) => (rows[index]?.kind === 'gap' ? gapHeight : rowHeight),
    keyOf: (index) => rows[index]?.key ?? index,
    overscan: 8,
    headPx: headHeight,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const wanted = wantsOlder(feed);
  useEffect(() => {
    if (wanted && !filtered && rows.length > 0 && last >= rows.length - 20) void loadOlder();
  }, [last, rows.length, filtered, wanted]);
  // Following again brings the newest row back into view.
  const held = isHeld(feed);
  useEffect(() => {
    if (!held) scroller.current?.scrollTo({ top: 0 });
  }, [held]);

  const at = rows.findIndex((row) => row.kind !== 'group' && row.change.seq === selected);
  const onKeyDown = (event: KeyboardEvent): void => {
    const current = rows[at];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    let next = listKey(event, at < 0 ? 0 : at, rows.length, page);
    // Groups have no detail of their own: moving goes past them.
    if (next !== undefined && rows[next]?.kind === 'group') {
      const step = next > at ? 1 : -1;
      const group = rows[next];
      if (group?.kind === 'group' && !group.open) onToggle(group.key);
      next = Math.min(rows.length - 1, Math.max(0, next + step));
    }
    const row = next === undefined ? undefined : rows[next];
    if (next !== undefined && row !== undefined && row.kind !== 'group') {
      onSelect(row.change.seq);
      virtual.scrollToIndex(next);
    } else if (event.key === 'ArrowLeft' && current?.kind === 'change' && current.inGroup) {
      const group = rows.slice(0, at).findLast((one) => one.kind === 'group');
      if (group !== undefined) onToggle(group.key);
    } else return;
    event.preventDefault();
  };
  const onScroll = (): void => setAway((scroller.current?.scrollTop ?? 0) > atTop);

  return (
    <div
      role="treegrid"
      className="feed-grid"
      aria-label="Writes, newest first"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at < 0 ? undefined : rowId(rows[at])}
      tabIndex={0}
      ref={scroller}
      onKeyDown={onKeyDown}
      onScroll={onScroll}
    >
      <div className="frow fhead" role="row" aria-rowindex={1}>
        <span role="columnheader">
          <span className="sr">Kind</span>
        </span>
        <span role="columnheader">Document</span>
        <span role="columnheader">Change</span>
        <span role="columnheader">By</span>
        <span role="columnheader" className="num">
          Age
        </span>
      </div>
      <div className="feed-all" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <FeedRowView
              key={item.key}
              id={rowId(row)}
              row={row}
              index={item.index + 2}
              top={item.start - headHeight}
              now={now}
              selected={row.kind !== 'group' && row.change.seq === selected}
              manyDatabases={manyDatabases}
              onSelect={onSelect}
              onToggle={onToggle}
            />
          );
        })}
      </div>
      {feed.reachedStart || feed.changes.length === 0 ? null : (
        <div className="feed-older" role="row">
          <span role="gridcell">
            <Button
              look="bare"
              disabled={feed.loadingOlder}
              onClick={() => {
                setAway(true);
                void loadOlder();
              }}
            >
              {feed.loadingOlder ? 'Reading older writes' : 'Show older writes'}
            </Button>
          </span>
        </div>
      )}
      {rows.length === 0 ? <p className="feed-none">No write fits the filter.</p> : null}
    </div>
  );
}

function rowId(row: FeedRow | undefined): string {
  return `feed-${row?.key ?? ''}`;
}
