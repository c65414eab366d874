import { useRef, useState } from 'react';
import { useAttempt } from '../shell/attempt.ts';
import { copyText } from '../shell/clipboard.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { branchById, chooseBranch, closeDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { LeftOut } from './back-plan.tsx';
import './history.css';

/** Opens a moment of a branch as a new one; the branch itself stays as it is. */
export function RestoreAsDialog({ id, seq }: { readonly id: string; readonly seq: number }) {
  const from = useApp((app) => branchById(app, id)?.name);
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(`${from ?? 'branch'}-at-${String(seq)}`);
  const { busy, error, attempt } = useAttempt();
  if (from === undefined) return null;
  const leftOut = error?.details?.['leftOut'] as readonly string[] | undefined;

  const refused = leftOut === undefined ? error : undefined;
  const submit = (): void => void attempt(open, () => field.current?.select());

  const open = async (): Promise<void> => {
    const made = await call('restore.branch', { branch: from, to: { seq }, as: name, partial: leftOut !== undefined });
    closeDialog();
    chooseBranch(made.branch.id, 'live');
    showToast({
      tone: 'done',
      text: `${name} is ${from} as it was then`,
      actions: [{ label: 'Copy URI', run: () => void copyText(made.uri) }],
    });
  };
  return (
    <Dialog
      title={`Open ${from} as it was ${seq === 0 ? 'at its beginning' : `behind change ${String(seq)}`}`}
      lead={`A fork of ${from}, put back to that moment. ${from} itself stays as it is.`}
      width={480}
      initialFocus={field}
      busy={busy}
      foot={
        <>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button size="medium" look="primary" icon="fork" disabled={busy} onClick={submit}>
            {leftOut === undefined ? 'Open' : 'Open without these'}
          </Button>
        </>
      }
    >
      <form
        className="dialog-text back-body"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label className="back-name">
          <span>Name</span>
          <span className="field">
            <input
              ref={field}
              value={name}
              spellCheck={false}
              autoComplete="off"
              aria-invalid={refused !== undefined}
              aria-describedby={refused === undefined ? undefined : 'restore-error'}
              onChange={(event) => setName(event.target.value)}
            />
          </span>
        </label>
        <LeftOut sentences={leftOut} />
        {refused === undefined ? null : <ErrorNote id="restore-error" error={refused} />}
      </form>
    </Dialog>
  );
}
