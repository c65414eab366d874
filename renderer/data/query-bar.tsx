import { useId, useRef, useState } from 'react';
import type { ErrorBody } from '../../shared/errors.ts';
import { Button, IconButton } from '../shell/controls.tsx';
import { mistakeIn } from './query.ts';
import type { Mistake } from './query.ts';

interface QueryBarProps {
  readonly filter: string;
  readonly sort: string;
  /** What the engine said against the query that was run. */
  readonly refused: ErrorBody | undefined;
  readonly onRun: (filter: string, sort: string) => void;
}

/** Filter and sort; Enter runs them. What cannot be read is shown while typing stops, never sent. */
export function QueryBar({ filter, sort, refused, onRun }: QueryBarProps) {
  const [typed, setTyped] = useState({ filter, sort });
  const [shown, setShown] = useState({ filter, sort });
  // Set from elsewhere, by a column's head or another collection: the fields follow.
  if (shown.filter !== filter || shown.sort !== sort) {
    setShown({ filter, sort });
    setTyped({ filter, sort });
  }
  const [mistake, setMistake] = useState<Mistake & { readonly field: 'filter' | 'sort' }>();
  const fields = { filter: useRef<HTMLInputElement>(null), sort: useRef<HTMLInputElement>(null) };
  const note = useId();

  const run = (query: { readonly filter: string; readonly sort: string }): void => {
    for (const name of ['filter', 'sort'] as const) {
      const found = mistakeIn(query[name]);
      if (found === undefined) continue;
      setMistake({ ...found, field: name });
      const field = fields[name].current;
      field?.focus();
      if (found.at !== undefined) field?.setSelectionRange(found.at, found.at + 1);
      return;
    }
    setMistake(undefined);
    onRun(query.filter, query.sort);
  };
  const input = (name: 'filter' | 'sort', label: string, placeholder: string) => (
    <label className={`field field-s query query-${name}`}>
      <span className="quiet">{label}</span>
      <input
        ref={fields[name]}
        {...(name === 'filter' ? { 'data-filter': true } : {})}
        value={typed[name]}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        aria-invalid={mistake?.field === name || (name === 'filter' && refused !== undefined)}
        aria-describedby={note}
        onChange={(event) => {
          setTyped({ ...typed, [name]: event.target.value });
          setMistake(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') run(typed);
          else if (event.key === 'Escape' && typed[name] !== '') {
            const cleared = { ...typed, [name]: '' };
            setTyped(cleared);
            run(cleared);
          } else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
    </label>
  );
  const cleared = { filter: '', sort: '' };
  return (
    <div className="query-bar">
      <div className="tool" role="search">
        {input('filter', 'Filter', '{ "price.amount": { $gt: 100 } }')}
        {input('sort', 'Sort', '{ name: 1 }')}
        <Button keys="enter" onClick={() => run(typed)}>
          Run
        </Button>
        <IconButton
          label="Clear filter and sort"
          icon="close"
          look="bare"
          disabled={typed.filter === '' && typed.sort === ''}
          onClick={() => {
            setTyped(cleared);
            run(cleared);
          }}
        />
      </div>
      <div id={note} role="status" className="query-note">
        {mistake === undefined ? (
          refused === undefined ? null : (
            <p className="c-rem">
              {refused.message} {refused.hint}
            </p>
          )
        ) : (
          <p className="c-rem">
            The {mistake.field} cannot be read
            {mistake.at === undefined ? '' : ` at character ${String(mistake.at + 1)}`}: {mistake.message}
          </p>
        )}
      </div>
    </div>
  );
}
