import { useRef, useState } from 'react';
import { useAttempt } from '../shell/attempt.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { NameForm } from '../shell/name-form.tsx';
import { bytes } from '../shell/numbers.ts';
import { branchById, closeDialog, openDialog, pinKey, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { pinWords } from './pins.ts';

/** Freezes a branch as it is now under a name of its own. */
export function PinDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const nameField = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(() => suggestPinName(branch?.name ?? 'main', new Date()));
  const { busy, error, attempt } = useAttempt();
  if (branch === undefined) return null;

  const pin = async (): Promise<void> => {
    const made = await call('pins.create', { branch: branch.name, name: name.trim() });
    closeDialog();
    showToast({
      tone: 'done',
      text: `Pinned ${branch.name} as ${made.name}`,
      hint: `${pinWords(made)}. Fork it as often as you like.`,
      actions: [{ label: 'Fork it', run: () => openDialog({ kind: 'fork', from: pinKey(made.name) }) }],
    });
  };
  const submit = (): void => void attempt(pin, () => nameField.current?.select());
  return (
    <Dialog
      title={`Pin ${branch.name} as a starting point`}
      lead="What it holds now stays under this name, read-only. What is forked from it always begins the same."
      width={480}
      initialFocus={nameField}
      busy={busy}
      foot={
        <>
          <span className="note">
            {busy
              ? 'Reading all of it, for its hash'
              : branch.sizeBytes === undefined
                ? null
                : `Reads ${bytes(branch.sizeBytes)} once.`}
          </span>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button look="primary" size="medium" icon="pin" keys="enter" disabled={busy} onClick={submit}>
            {busy ? 'Pinning' : 'Pin'}
          </Button>
        </>
      }
    >
      <NameForm id="pin-name" field={nameField} name={name} error={error} onName={setName} onSubmit={submit} />
    </Dialog>
  );
}

/** `main-29-nov`: says of what and when. */
function suggestPinName(branch: string, at: Date): string {
  return `${branch}-${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }).replace(' ', '-').toLowerCase()}`;
}
