import { useMemo } from 'react';
import type { Change, ChangeKind } from '../../shared/api.ts';
import { Icon } from '../shell/icons.tsx';
import { Actor, KindMark } from '../shell/marks.tsx';
import { Pick } from '../shell/menu.tsx';
import { commands, runCommand } from '../shell/commands.ts';
import { IconButton, Segments } from '../shell/controls.tsx';
import { useFeed } from './feed.ts';
import { noFilter } from './rows.ts';
import type { FeedFilter } from './rows.ts';

/** Each write as it came, or what they come to. */
export type LiveView = 'writes' | 'net';

const kinds: readonly ChangeKind[] = ['added', 'modified', 'removed'];
const all = '';

export function FeedFilters({
  changes,
  filter,
  onChange,
  total,
  view,
}: {
  readonly changes: readonly Change[];
  readonly filter: FeedFilter;
  readonly onChange: (filter: FeedFilter) => void;
  readonly total: string;
  /** Which of the two views is shown, and how to change it; left out where there is one. */
  readonly view?: { readonly value: LiveView; readonly onChange: (view: LiveView) => void } | undefined;
}) {
  const collections = useNames(changes, (change) => (change.ns === undefined ? [] : [change.ns]));
  const actors = useNames(changes, (change) => [
    ...(change.actor === undefined ? [] : [change.actor]),
    ...(change.actors ?? []),
  ]);
  const paused = useFeed(({ feed }) => feed?.pausedAt !== undefined);
  /** The one value that stands for "nothing is filtered", so that it can be told by identity. */
  const set = (change: Partial<FeedFilter>): void => {
    const next = { ...filter, ...change };
    const isNone =
      next.hidden.size === 0 && next.collection === undefined && next.actor === undefined && next.text === '';
    onChange(isNone ? noFilter : next);
  };
  const toggle = (kind: ChangeKind): void => {
    const hidden = new Set(filter.hidden);
    if (!hidden.delete(kind)) hidden.add(kind);
    set({ hidden });
  };
  return (
    <div className="tool" role="toolbar" aria-label="Filter changes">
      {view === undefined ? null : (
        <Segments
          label="View"
          value={view.value}
          onChange={view.onChange}
          choices={[
            { value: 'writes', label: 'Every write' },
            { value: 'net', label: 'Net effect' },
          ]}
        />
      )}
      {view?.value === 'net' ? null : (
        <>
          <IconButton
            label={paused ? 'Resume' : 'Pause'}
            icon={paused ? 'play' : 'pause'}
            keys="space"
            aria-pressed={paused}
            onClick={() => runCommand(commands.pause)}
          />
          <span className="seg seg-ops" role="group" aria-label="Kinds">
            {kinds.map((kind) => (
              <button key={kind} type="button" aria-pressed={!filter.hidden.has(kind)} onClick={() => toggle(kind)}>
                <KindMark kind={kind} />
              </button>
            ))}
          </span>
          <Pick
            label="Collection"
            value={filter.collection ?? all}
            onChange={(value) => set({ collection: value === all ? undefined : value })}
            items={[
              { value: all, text: 'All collections', label: 'All collections' },
              ...collections.map((name) => ({ value: name, text: name, label: <span className="mono">{name}</span> })),
            ]}
          />
          <Pick
            label="Actor"
            value={filter.actor ?? all}
            onChange={(value) => set({ actor: value === all ? undefined : value })}
            items={[
              { value: all, text: 'Anyone', label: 'Anyone' },
              ...actors.map((name) => ({
                value: name,
                text: name,
                label: (
                  <span className="pick-label">
                    <Actor name={name} small />
                    {name}
                  </span>
                ),
              })),
            ]}
          />
          <div className="field field-s feed-text">
            <Icon name="search" />
            <input
              data-filter
              placeholder="Field, value or id"
              aria-label="Filter by field, value or id"
              value={filter.text}
              onChange={(event) => set({ text: event.target.value.toLowerCase() })}
              onKeyDown={(event) => (event.key === 'Escape' ? set({ text: '' }) : undefined)}
            />
          </div>
        </>
      )}
      <span className="push" />
      <span className="quiet nowrap feed-total">{total}</span>
    </div>
  );
}

function useNames(changes: readonly Change[], namesOf: (change: Change) => readonly string[]): string[] {
  return useMemo(() => {
    const names = new Set<string>();
    for (const change of changes) for (const name of namesOf(change)) names.add(name);
    return [...names].sort();
    // The function is the same for the life of the component.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [changes]);
}
