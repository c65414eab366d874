import { useEffect, useMemo, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { allCommands, commands, runCommand } from '../shell/commands.ts';
import type { Command } from '../shell/commands.ts';
import { Button, CopyButton } from '../shell/controls.tsx';
import { mainSize } from '../shell/head.tsx';
import { Icon } from '../shell/icons.tsx';
import { Actors, Counts } from '../shell/marks.tsx';
import { WithContextMenu } from '../shell/menu.tsx';
import { count } from '../shell/numbers.ts';
import { useNow } from '../shell/time.ts';
import { chooseBranch, chosenBranch, isEmpty, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { nodeLook, stateWords } from './activity.ts';
import type { TreeRow } from './order.ts';
import { Rails, textX } from './rails.tsx';
import type { NodeLook } from './rails.tsx';
import { TimeLeft } from './time-left.tsx';

/** The branches with the tracks that join them. One tab stop; arrows move, letters find. */
export function BranchTree({ rows }: { readonly rows: readonly TreeRow[] }) {
  const activeAt = useApp((app) => app.activeAt);
  const chosen = useApp((app) => chosenBranch(app)?.id);
  const now = useNow(5_000);
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState<string>();
  const looks = useMemo(() => rows.map((row) => nodeLook(row.branch, activeAt, now)), [rows, activeAt, now]);
  const typed = useTypeAhead();

  const stop = rows.some((row) => row.branch.id === focused) ? focused : chosen;
  const focusRow = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setFocused(row.branch.id);
    list.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[index]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const row = rows[index];
    if (row === undefined || event.target !== event.currentTarget) return;
    const next = nextRow(event, rows, index, typed);
    if (next !== undefined) focusRow(next);
    else if (event.key === 'Enter' || event.key === ' ') chooseBranch(row.branch.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="yard">
      <Rails rows={rows} looks={looks} />
      <ul role="tree" aria-label="Branches" ref={list}>
        {rows.map((row, index) => (
          <WithContextMenu key={row.branch.id} entries={menuEntries(row.branch)}>
            <li
              role="treeitem"
              aria-level={row.level}
              aria-selected={row.branch.id === chosen}
              className={row.level === 1 ? 'is-main' : ''}
              style={{ '--x': `${String(textX(row.level))}px` } as CSSProperties}
              tabIndex={row.branch.id === stop ? 0 : -1}
              onClick={() => chooseBranch(row.branch.id)}
              onFocus={() => setFocused(row.branch.id)}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              <Row branch={row.branch} look={looks[index] ?? row.branch.state} reachable={row.branch.id === stop} />
            </li>
          </WithContextMenu>
        ))}
      </ul>
    </div>
  );
}

function Row({
  branch,
  look,
  reachable,
}: {
  readonly branch: BranchRow;
  readonly look: NodeLook;
  readonly reachable: boolean;
}) {
  const isMain = branch.parent === undefined;
  const empty = useApp(isEmpty);
  const tabIndex = reachable ? 0 : -1;
  return (
    <>
      <div className="l1">
        <span className="name cut" title={branch.name}>
          {branch.name}
        </span>
        <span className="sr">, {stateWords(look)}</span>
        <span className="end">
          {isMain ? (
            empty ? null : (
              <span className="ttl">
                <Icon name="lock" small />
                Protected
              </span>
            )
          ) : (
            <TimeLeft branch={branch} />
          )}
        </span>
      </div>
      <div className="l2">
        <SecondLine branch={branch} />
        {branch.behind === undefined || branch.behind === 0 ? null : (
          <span className="behind" title={`${count(branch.behind)} behind ${branch.parent ?? ''}`}>
            <Icon name="down" small />
            {count(branch.behind)}
            <span className="sr"> behind {branch.parent}</span>
          </span>
        )}
        <span className="end">{isMain ? null : <Actors names={branch.actors} small />}</span>
      </div>
      {isMain ? null : <RowActions branch={branch} tabIndex={tabIndex} />}
    </>
  );
}

/** What is most likely wanted of a branch in its state. */
function RowActions({ branch, tabIndex }: { readonly branch: BranchRow; readonly tabIndex: number }) {
  const { state } = branch;
  if (state === 'starting') return null;
  const verb = (command: Command, label: string) => (
    <Button
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation();
        runCommand(command, branch);
      }}
    >
      {label}
      <span className="sr"> {branch.name}</span>
    </Button>
  );
  return (
    <span className="acts">
      {state === 'live' ? (
        <>
          <CopyButton
            iconOnly
            label="URI"
            tabIndex={tabIndex}
            text={async () => (await call('branches.uri', { branch: branch.name })).uri}
          />
          {verb(commands.review, 'Review')}
        </>
      ) : null}
      {state === 'asleep' ? verb(commands.bringBack, 'Wake') : null}
      {state === 'expired' || state === 'trashed' ? verb(commands.bringBack, 'Bring back') : null}
      {state === 'failed' ? verb(commands.bringBack, 'Try again') : null}
    </span>
  );
}

function SecondLine({ branch }: { readonly branch: BranchRow }) {
  const empty = useApp(isEmpty);
  if (branch.parent === undefined) {
    return <span className="cut">{empty ? 'Nothing in it yet' : mainSize(branch, false) || 'Just imported'}</span>;
  }
  if (branch.state === 'starting') return <span>Starting</span>;
  if (branch.state === 'expired' || branch.state === 'trashed') {
    return <span>{branch.state === 'expired' ? 'Expired' : 'Discarded'}, others came from it</span>;
  }
  if (branch.state === 'failed') {
    return (
      <span className="cut c-rem" title={branch.note}>
        {branch.note ?? 'Failed'}
      </span>
    );
  }
  const { counts } = branch;
  const none =
    counts === undefined ? branch.ahead === 0 : counts.added + counts.modified + counts.removed + counts.schema === 0;
  if (none) return <span>{branch.state === 'asleep' ? 'Asleep, no changes' : 'No changes yet'}</span>;
  if (counts === undefined) return <span>{count(branch.ahead)} changed</span>;
  if (counts.added + counts.modified + counts.removed === 0) return <span>{count(counts.schema)} schema</span>;
  return <Counts counts={counts} />;
}

function menuEntries(branch: BranchRow) {
  const app = useApp.getState();
  return allCommands
    .filter((command) => command.ofBranch && command.enabled(branch, app))
    .map((command) => ({
      id: command.id,
      title: command.title(branch),
      icon: command.icon,
      keys: command.keys[0],
      run: () => command.run(branch),
    }));
}

/** The row that a key leads to, or undefined where the key is not for moving. */
function nextRow(
  event: KeyboardEvent,
  rows: readonly TreeRow[],
  index: number,
  typed: (letter: string) => string,
): number | undefined {
  const level = rows[index]?.level ?? 1;
  switch (event.key) {
    case 'ArrowDown':
      return Math.min(index + 1, rows.length - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return rows.length - 1;
    case 'ArrowLeft':
      return rows[index]?.parent ?? index;
    case 'ArrowRight':
      return (rows[index + 1]?.level ?? 0) > level ? index + 1 : index;
    default:
      break;
  }
  if (event.key.length !== 1 || event.key === ' ' || event.metaKey || event.ctrlKey || event.altKey) return undefined;
  const start = typed(event.key);
  const order = [...rows.keys()].map((offset) => (index + offset + (start.length === 1 ? 1 : 0)) % rows.length);
  return order.find((at) => rows[at]?.branch.name.toLowerCase().startsWith(start));
}

/** Letters typed within half a second of each other make one word. */
function useTypeAhead(): (letter: string) => string {
  const typed = useRef({ text: '', at: 0 });
  useEffect(() => {
    typed.current = { text: '', at: 0 };
  }, []);
  return (letter) => {
    const now = performance.now();
    const text = now - typed.current.at < 500 ? typed.current.text + letter.toLowerCase() : letter.toLowerCase();
    typed.current = { text, at: now };
    return text;
  };
}
