import { useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { Output } from '../../shared/api.ts';
import { Hatch } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { listKey } from '../shell/list-keys.ts';
import { KindMark } from '../shell/marks.tsx';
import { count } from '../shell/numbers.ts';
import type { Collection } from './read.ts';

type Databases = Output<'data.collections'>['databases'];

interface TreeProps {
  readonly databases: Databases;
  readonly chosen: string | undefined;
  /** What differs from the parent, where it is known. */
  readonly difference: Output<'diff.get'> | undefined;
  readonly onChoose: (ns: string) => void;
}

type ChangedCounts = Pick<Output<'diff.get'>['summary'][number], 'added' | 'modified' | 'removed'>;

type Item =
  | { readonly kind: 'database'; readonly key: string; readonly name: string; readonly open: boolean }
  | { readonly kind: 'collection'; readonly key: string; readonly collection: Collection };

/** Databases and their collections. One tab stop; arrows move, left and right close and open. */
export function CollectionTree({ databases, chosen, difference, onChoose }: TreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string>();
  const list = useRef<HTMLUListElement>(null);
  const items: Item[] = databases.flatMap(({ name, collections }) => {
    const open = !closed.has(name);
    return [
      { kind: 'database', key: name, name, open } as const,
      ...(open ? collections.map((one) => ({ kind: 'collection', key: one.ns, collection: one }) as const) : []),
    ];
  });
  const stop = items.some(({ key }) => key === focused) ? focused : (chosen ?? items[0]?.key);

  const toggle = (name: string, open: boolean): void => {
    setClosed((before) => {
      const next = new Set(before);
      if (open) next.delete(name);
      else next.add(name);
      return next;
    });
  };
  const focus = (index: number): void => {
    setFocused(items[index]?.key);
    list.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[index]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const item = items[index];
    if (item === undefined) return;
    const next = listKey(event, index, items.length, 10);
    if (next !== undefined) focus(next);
    else if (event.key === 'ArrowRight' && item.kind === 'database') toggle(item.name, true);
    else if (event.key === 'ArrowLeft') {
      if (item.kind === 'database') toggle(item.name, false);
      else focus(items.slice(0, index).findLastIndex(({ kind }) => kind === 'database'));
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (item.kind === 'collection') onChoose(item.collection.ns);
      else toggle(item.name, !item.open);
    } else return;
    event.preventDefault();
  };
  return (
    <ul className="colls" role="tree" aria-label="Collections" ref={list}>
      {items.map((item, index) => (
        <li
          key={item.key}
          role="treeitem"
          aria-level={item.kind === 'database' ? 1 : 2}
          aria-selected={item.key === chosen}
          {...(item.kind === 'database' ? { 'aria-expanded': item.open } : {})}
          className={item.kind === 'database' ? 'db' : 'c'}
          tabIndex={item.key === stop ? 0 : -1}
          onFocus={() => setFocused(item.key)}
          onKeyDown={(event) => onKeyDown(event, index)}
          onClick={() => (item.kind === 'database' ? toggle(item.name, !item.open) : onChoose(item.collection.ns))}
        >
          {item.kind === 'database' ? (
            <>
              <Icon name={item.open ? 'chevron-down' : 'chevron-right'} small />
              <span className="cut">{item.name}</span>
            </>
          ) : (
            <CollectionLine collection={item.collection} difference={difference} />
          )}
        </li>
      ))}
    </ul>
  );
}

function CollectionLine({
  collection,
  difference,
}: {
  readonly collection: Collection;
  readonly difference: Output<'diff.get'> | undefined;
}) {
  const { ns, name, type, documents } = collection;
  const changed = difference?.summary.find((row) => row.ns === ns && row.added + row.modified + row.removed > 0);
  const gap = difference?.gaps.find((one) => one.ns === ns && !one.settled);
  return (
    <>
      {changed === undefined ? (
        <Icon name={type === 'view' ? 'eye' : 'collection'} small />
      ) : (
        <ChangedMark changed={changed} />
      )}
      <span className="cut" title={name}>
        {name}
      </span>
      {gap === undefined ? null : (
        <span title={gap.reason}>
          <Hatch />
          <span className="sr">, has a gap in its history</span>
        </span>
      )}
      <span className="n">
        {type === 'view'
          ? 'view'
          : type === 'timeseries'
            ? 'time series'
            : documents === undefined
              ? null
              : count(documents)}
      </span>
    </>
  );
}

/** The sign of what was changed in a collection, in the place of its icon; the numbers are its title and read out. */
function ChangedMark({ changed: { added, modified, removed } }: { readonly changed: ChangedCounts }) {
  const kinds = [
    ...(added > 0 ? (['added'] as const) : []),
    ...(modified > 0 ? (['modified'] as const) : []),
    ...(removed > 0 ? (['removed'] as const) : []),
  ];
  const words = [
    added > 0 ? `${count(added)} added` : '',
    modified > 0 ? `${count(modified)} changed` : '',
    removed > 0 ? `${count(removed)} removed` : '',
  ].filter((word) => word !== '');
  const [only = 'modified'] = kinds;
  return (
    <span title={words.join(', ')}>
      <KindMark kind={kinds.length === 1 ? only : 'modified'} word={words.join(', ')} />
    </span>
  );
}
