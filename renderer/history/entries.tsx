import { useMemo, useRef } from 'react';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { undo } from '../branches/verbs.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import type { IconName } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import { clock, day, useNow } from '../shell/time.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { openDialog } from '../store/app.ts';

type Row = { readonly day: string } | { readonly entry: LogEntry };

const heights = { day: 28, entry: 52 } as const;

/** What was done to the branch, newest first; only what is in view is drawn. */
export function Entries({
  entries,
  branch,
  shownUpTo,
}: {
  readonly entries: readonly LogEntry[];
  readonly branch: BranchRow;
  /** The chosen moment: what came later is drawn lighter. */
  readonly shownUpTo: string | undefined;
}) {
  const now = useNow(60_000);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => withDays(entries, now), [entries, now]);
  const virtual = useVirtualRows({
    scroller,
    count: rows.length,
    height: (index) => ('day' in (rows[index] ?? { day: '' }) ? heights.day : heights.entry),
    keyOf: (index) => keyOf(rows[index], index),
    overscan: 8,
  });
  return (
    <div className="log" ref={scroller} role="region" aria-label="Entries" tabIndex={0}>
      <div className="log-all" role="list" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const style = { transform: `translateY(${String(item.start)}px)` };
          return 'day' in row ? (
            <h2 key={item.key} className="day" role="presentation" style={style}>
              {row.day}
            </h2>
          ) : (
            <Entry
              key={item.key}
              entry={row.entry}
              log={entries}
              here={branch}
              style={style}
              isLater={shownUpTo !== undefined && row.entry.time > shownUpTo}
            />
          );
        })}
      </div>
    </div>
  );
}

function keyOf(row: Row | undefined, index: number): string | number {
  if (row === undefined) return index;
  return 'day' in row ? row.day : row.entry.entry;
}

function withDays(entries: readonly LogEntry[], now: number): Row[] {
  const rows: Row[] = [];
  let last = '';
  for (const entry of entries) {
    const name = day(entry.time, now);
    if (name !== last) rows.push({ day: name });
    last = name;
    rows.push({ entry });
  }
  return rows;
}

const icons: Readonly<Record<string, IconName>> = {
  fork: 'fork',
  import: 'import',
  adopt: 'adopt',
  undo: 'undo',
  restore: 'clock',
  'undo-changes': 'undo',
  discard: 'trash',
  expire: 'buffer-stop',
  expired: 'buffer-stop',
  wake: 'undo',
  keep: 'pin',
  pin: 'pin',
  unpin: 'trash',
  extend: 'clock',
  reset: 'refresh',
};

/** One line of the log, with the button that takes it back. */
export function Entry({
  entry,
  log,
  here,
  style,
  isLater,
}: {
  readonly entry: LogEntry;
  readonly log: readonly LogEntry[];
  readonly here: BranchRow;
  /** Its place in a list of which only a part is drawn. */
  readonly style?: { readonly transform: string };
  readonly isLater: boolean;
}) {
  const undone = entry.undoneBy === undefined ? undefined : log.find((other) => other.entry === entry.undoneBy);
  const classes = ['entry', entry.undoneBy === undefined ? '' : 'void', isLater ? 'later' : ''];
  const verb = entry.kind === 'undo' ? 'Redo' : 'Undo';
  return (
    <div className={classes.filter((name) => name !== '').join(' ')} role="listitem" style={style}>
      <time dateTime={entry.time}>{clock(entry.time)}</time>
      <Icon name={icons[entry.kind] ?? 'info'} />
      <div className="entry-text">
        <p className="cut" title={entry.text}>
          <b>{entry.text}</b>
        </p>
        <p className="d">
          {entry.branch === here.name ? null : <span>{entry.branch}</span>}
          {entry.items === undefined ? null : <span>{plural(entry.items, 'item')}</span>}
          {entry.actor === undefined ? null : <span className="quiet">by {entry.actor}</span>}
          {entry.undoneBy === undefined ? null : (
            <span className="chip" title={`by ${entry.undoneBy}`}>
              undone{undone === undefined ? '' : ` ${clock(undone.time, 'minute')}`}
            </span>
          )}
        </p>
      </div>
      {entry.undoable && entry.undoneBy === undefined ? (
        <Button
          icon={verb === 'Undo' ? 'undo' : undefined}
          onClick={() => {
            if (entry.previewable) openDialog({ kind: 'undo', entry: entry.entry, text: entry.text });
            else void undo(entry);
          }}
        >
          {verb}
          <span className="sr"> {entry.text}</span>
        </Button>
      ) : null}
    </div>
  );
}
