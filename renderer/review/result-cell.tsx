import { useId, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { fromBase64, sameBytes, toBase64, Type, typeName } from '../../shared/bson/value.ts';
import { Icon } from '../shell/icons.tsx';
import type { RowActions } from './conflict-rows.tsx';
import { placeKey, resultOf } from './decisions.ts';
import type { Choice, ConflictPlace } from './decisions.ts';
import { sideText } from './side-text.ts';
import { textToEdit, typedValue } from './typed-text.ts';

interface CellProps {
  readonly place: ConflictPlace;
  readonly path: string;
  readonly choice: Choice | undefined;
  readonly actions: RowActions;
}

/** What the parent will hold: a side that was taken, or what is typed here. */
export function ResultCell(props: CellProps) {
  const { place, path, choice, actions } = props;
  if (actions.editing === placeKey(place) && place.schema === undefined) return <ResultEditor {...props} />;
  const result = choice === undefined ? undefined : resultOf(place, choice);
  const canEdit = place.schema === undefined;
  const kind = expectedType(place);
  const hint = canEdit
    ? `Pick a side, or type ${kind === undefined ? 'a value' : articled(typeWord(kind))}`
    : 'Pick a side';
  return (
    <div className="result">
      <button
        type="button"
        className={choice === undefined ? 'res todo' : 'res'}
        disabled={!canEdit}
        aria-label={canEdit ? `Edit the result for ${path}` : `Result for ${path}`}
        onClick={() => actions.onEdit(place)}
      >
        {choice === undefined ? (
          hint
        ) : (
          <>
            <span className="cut">{sideText(result, place.base)}</span>
            {result === undefined ? null : <span className="type">{typeName(fromBase64(result))}</span>}
            <span className="from">{'side' in choice ? actions.names[choice.side] : 'edited'}</span>
          </>
        )}
      </button>
      <span className={choice === undefined ? 'state c-con' : 'state c-add'}>
        <Icon name={choice === undefined ? 'conflict' : 'check'} />
        <span className="sr">{choice === undefined ? 'not decided' : 'decided'}</span>
      </span>
    </div>
  );
}

/** Enter takes what is typed, Escape leaves all as it was. The type is told with each key. */
function ResultEditor({ place, path, choice, actions }: CellProps) {
  const expected = expectedType(place);
  const from =
    (choice === undefined ? undefined : resultOf(place, choice)) ?? place.branch ?? place.parent ?? place.base;
  const [text, setText] = useState(() => (from === undefined ? '' : textToEdit(fromBase64(from), expected)));
  const typed = typedValue(text, expected);
  const explain = useId();
  const isLong = text.includes('\n');
  const take = (): void => {
    if ('problem' in typed) return;
    actions.onEdit(undefined);
    actions.onDecide(place, choiceOf(place, typed.value));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // In a text of many lines Enter makes another one.
    if (event.key === 'Enter' && (!isLong || event.metaKey || event.ctrlKey)) take();
    else if (event.key === 'Escape') actions.onEdit(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const field = {
    value: text,
    autoFocus: true,
    spellCheck: false,
    'aria-label': `Result for ${path}`,
    'aria-invalid': 'problem' in typed,
    'aria-describedby': explain,
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
    onKeyDown,
  };
  return (
    <div className="result-edit">
      <div className={'problem' in typed ? 'res editing bad' : 'res editing'}>
        {isLong ? <textarea rows={8} {...field} /> : <input {...field} />}
        {'type' in typed ? <span className="type">{typed.type}</span> : null}
        <button type="button" className="take" disabled={'problem' in typed} onClick={take}>
          Take
        </button>
      </div>
      <p id={explain} role="status">
        {'problem' in typed
          ? typed.problem
          : expected !== undefined && typed.value[0] !== expected
            ? `Both sides hold ${articled(typeWord(expected))}; this is ${articled(typed.type)}.`
            : ''}
      </p>
    </div>
  );
}

/** A typed value that is one of the sides is that side. */
function choiceOf(place: ConflictPlace, value: Uint8Array): Choice {
  for (const side of ['parent', 'branch'] as const) {
    const bson = place[side];
    if (bson !== undefined && sameBytes(fromBase64(bson), value)) return { side };
  }
  return { value: toBase64(value) };
}

/** The type of both sides; of the one that is there where the other removed it. */
function expectedType({ parent, branch }: ConflictPlace): number | undefined {
  const [one, other] = [parent, branch].map((bson) => (bson === undefined ? undefined : fromBase64(bson)[0]));
  return one === other ? one : (one ?? other) === (other ?? one) ? (one ?? other) : undefined;
}

function typeWord(type: number): string {
  const words: Partial<Record<number, string>> = {
    [Type.Date]: 'date',
    [Type.String]: 'text',
    [Type.Object]: 'document',
    [Type.Array]: 'array',
  };
  return words[type] ?? typeName(Uint8Array.of(type));
}

function articled(word: string): string {
  if (word === 'text') return word;
  return /^[aeiou]/i.test(word) ? `an ${word}` : `a ${word}`;
}
