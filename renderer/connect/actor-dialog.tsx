import { useRef, useState } from 'react';
import type { AccessLevel } from '../../shared/api.ts';
import { useAttempt } from '../shell/attempt.ts';
import { copyText } from '../shell/clipboard.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { NameForm } from '../shell/name-form.tsx';
import { branchById, closeDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { AccessChoice } from './access-choice.tsx';

/** A credential of its own for one more program; ends on its copied URI. */
export function ActorDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const nameField = useRef<HTMLInputElement>(null);
  const [name, setName] = useState('');
  const [access, setAccess] = useState<AccessLevel>(branch?.access ?? 'schema');
  const { busy, error, attempt } = useAttempt();
  if (branch === undefined) return null;
  const actor = name.trim();

  const add = async (): Promise<void> => {
    const { uri } = await call('actors.add', { branch: branch.name, actor, access });
    closeDialog();
    const copied = await copyText(uri);
    showToast({
      tone: 'done',
      text: copied ? `${actor} can connect: its URI is on your clipboard` : `${actor} can connect`,
    });
  };
  const submit = (): void => {
    if (busy || actor === '') nameField.current?.focus();
    else void attempt(add, () => nameField.current?.select());
  };
  return (
    <Dialog
      title={`Add an actor to ${branch.name}`}
      lead="A user and password of its own. What it writes is recorded under its name."
      width={480}
      initialFocus={nameField}
      busy={busy}
      foot={
        <>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button look="primary" size="medium" keys="enter" disabled={busy} onClick={submit}>
            Add and copy URI
          </Button>
        </>
      }
    >
      <NameForm
        id="actor-name"
        field={nameField}
        name={name}
        placeholder="cursor"
        error={error}
        onName={setName}
        onSubmit={submit}
      >
        <AccessChoice value={access} onChange={setAccess} />
      </NameForm>
    </Dialog>
  );
}
