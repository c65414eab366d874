import type { ReactNode, RefObject } from 'react';
import type { ErrorBody } from '../../shared/errors.ts';
import { ErrorNote } from './dialog.tsx';

/** The form of a dialog that gives something a name: Enter submits, and a refusal stands below. */
export function NameForm({
  id,
  field,
  name,
  placeholder,
  error,
  children,
  onName,
  onSubmit,
}: {
  /** Of the input, in the document. */
  readonly id: string;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly name: string;
  readonly placeholder?: string;
  readonly error: ErrorBody | undefined;
  /** Further lines of the form. */
  readonly children?: ReactNode;
  readonly onName: (name: string) => void;
  readonly onSubmit: () => void;
}) {
  return (
    <div
      className="form"
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        event.preventDefault();
        onSubmit();
      }}
    >
      <label htmlFor={id}>Name</label>
      <div className="field field-ink">
        <input
          id={id}
          ref={field}
          value={name}
          placeholder={placeholder}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : `${id}-error`}
          onChange={(event) => onName(event.target.value)}
        />
      </div>
      {children}
      {error === undefined ? null : (
        <div className="form-wide">
          <ErrorNote id={`${id}-error`} error={error} />
        </div>
      )}
    </div>
  );
}
