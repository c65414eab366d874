import { useRef, useState } from 'react';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { Counts } from '../shell/marks.tsx';
import { branchById, chooseBranch, closeDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { whatGoes } from './discard-dialog.tsx';
import { undo } from './verbs.ts';

/** Says in numbers what a reset takes away. Cancel is the default. */
export function ResetDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const cancel = useRef<HTMLButtonElement>(null);
  const [error, setError] = useState<ErrorBody>();
  const [busy, setBusy] = useState(false);
  if (branch === undefined) return null;
  const parent = branch.parent ?? 'its parent';

  const reset = async (): Promise<void> => {
    setBusy(true);
    try {
      const { branch: fresh, entry } = await call('branches.reset', { branch: branch.name });
      closeDialog();
      // It has a new id: what it was is another branch now.
      chooseBranch(fresh.id);
      showToast({
        tone: 'done',
        text: `${branch.name} is as ${parent} is now, under the same URI`,
        actions: [{ label: 'Undo', run: () => void undo({ entry }) }],
      });
    } catch (failure) {
      setBusy(false);
      setError(errorBody(failure));
    }
  };
  return (
    <Dialog
      title={`Reset ${branch.name} to ${parent}?`}
      lead={`It gets what ${parent} holds now. Its name, URI and credentials stay; open connections break and come back.`}
      width={480}
      initialFocus={cancel}
      busy={busy}
      foot={
        <>
          <span className="push" />
          <Button size="medium" ref={cancel} onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button size="medium" look="danger" icon="refresh" onClick={() => void reset()} disabled={busy}>
            {busy ? 'Resetting' : 'Reset'}
          </Button>
        </>
      }
    >
      <div className="dialog-text">
        <p>{whatGoes(branch)}</p>
        {branch.counts === undefined ? null : <Counts counts={{ ...branch.counts, conflicts: 0 }} />}
        <p className="soft">What it was sleeps beside it for a day, and Undo brings it back.</p>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
