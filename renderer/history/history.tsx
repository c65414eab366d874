import { useEffect, useMemo } from 'react';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import type { IconName } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import { clock, day, useNow } from '../shell/time.ts';
import { showToast, useApp } from '../store/app.ts';
import { isConnectionLoss, loadLog } from '../store/engine.ts';
import './history.css';

/** What was done to the branch as a whole, newest first. main shows what was done to any of them. */
export function History({ branch }: { readonly branch: BranchRow }) {
  const log = useApp((app) => app.log);
  const now = useNow(60_000);
  useEffect(() => {
    loadLog().catch((error: unknown) => {
      const { message, hint } = errorBody(error);
      if (!isConnectionLoss(error)) showToast({ tone: 'problem', text: message, hint });
    });
  }, []);
  const days = useMemo(() => byDay(log ?? [], branch, now), [log, branch, now]);
  if (log === undefined) return <div className="body" aria-busy="true" />;
  if (days.length === 0) {
    return (
      <section className="blank" aria-label="History">
        <h2>Nothing has happened yet</h2>
        <p className="soft">
          Forks, imports, adoptions and what was undone are listed here. Single writes are in Live.
        </p>
      </section>
    );
  }
  return (
    <div className="body log" role="region" aria-label="History" tabIndex={0}>
      {days.map(({ name, entries }) => (
        <section key={name} aria-label={name}>
          <h2 className="day">{name}</h2>
          <ul>
            {entries.map((entry) => (
              <Entry key={entry.entry} entry={entry} log={log} here={branch} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

const icons: Readonly<Record<string, IconName>> = {
  fork: 'fork',
  import: 'import',
  adopt: 'adopt',
  undo: 'undo',
  discard: 'trash',
  expire: 'buffer-stop',
  expired: 'buffer-stop',
  wake: 'undo',
  keep: 'pin',
  extend: 'clock',
  reset: 'refresh',
};

function Entry({
  entry,
  log,
  here,
}: {
  readonly entry: LogEntry;
  readonly log: readonly LogEntry[];
  readonly here: BranchRow;
}) {
  const undone = entry.undoneBy === undefined ? undefined : log.find((other) => other.entry === entry.undoneBy);
  return (
    <li className={entry.undoneBy === undefined ? 'entry' : 'entry void'}>
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
            <span className="chip">undone{undone === undefined ? '' : ` ${clock(undone.time, 'minute')}`}</span>
          )}
        </p>
      </div>
      {entry.undoable && entry.undoneBy === undefined ? (
        <Button icon="undo" onClick={() => void undo(entry)}>
          Undo<span className="sr"> {entry.text}</span>
        </Button>
      ) : null}
    </li>
  );
}

function byDay(log: readonly LogEntry[], branch: BranchRow, now: number) {
  const days: { name: string; entries: LogEntry[] }[] = [];
  for (const entry of log) {
    if (branch.parent !== undefined && entry.branch !== branch.name && !entry.text.includes(branch.name)) continue;
    const name = day(entry.time, now);
    const last = days.at(-1);
    if (last?.name === name) last.entries.push(entry);
    else days.push({ name, entries: [entry] });
  }
  return days;
}
