import { useRef, useState } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { Counts } from '../shell/marks.tsx';
import { plural } from '../shell/numbers.ts';
import { moment } from '../shell/time.ts';
import { branchById, chooseBranch, closeDialog, mainBranch, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { bringBack } from './verbs.ts';

/** Says in numbers what would go. Cancel is the default. */
export function DiscardDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const cancel = useRef<HTMLButtonElement>(null);
  const [error, setError] = useState<ErrorBody>();
  const [busy, setBusy] = useState(false);
  if (branch === undefined) return null;

  const discard = async (): Promise<void> => {
    setBusy(true);
    try {
      const { trashedUntil } = await call('branches.discard', { branch: branch.name });
      closeDialog();
      const main = mainBranch(useApp.getState().branches);
      if (main !== undefined) chooseBranch(main.id);
      showToast({
        tone: 'done',
        text: `Discarded ${branch.name}`,
        ...(trashedUntil === undefined
          ? {}
          : { hint: `Can be brought back until ${moment(trashedUntil, Date.now())}` }),
        actions: trashedUntil === undefined ? [] : [{ label: 'Undo', run: () => void bringBack(branch) }],
      });
    } catch (failure) {
      setBusy(false);
      setError(errorBody(failure));
    }
  };

  return (
    <Dialog
      title={`Discard ${branch.name}?`}
      lead="Its server stops and its connection string is refused at once."
      width={480}
      initialFocus={cancel}
      busy={busy}
      foot={
        <>
          <span className="push" />
          <Button size="medium" ref={cancel} onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button size="medium" look="danger" icon="trash" onClick={() => void discard()} disabled={busy}>
            {busy ? 'Discarding' : 'Discard'}
          </Button>
        </>
      }
    >
      <div className="dialog-text">
        <p>{whatGoes(branch)}</p>
        {branch.counts === undefined ? null : <Counts counts={{ ...branch.counts, conflicts: 0 }} />}
        <p className="soft">It can be brought back for 1 hour, then only its summary in History stays.</p>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}

/** How much of a branch is not in its parent, in a sentence that ends in a colon. */
export function whatGoes(branch: BranchRow): string {
  const { counts } = branch;
  const parent = branch.parent ?? 'its parent';
  const documents = counts === undefined ? branch.ahead : counts.added + counts.modified + counts.removed;
  const schema = counts?.schema ?? 0;
  if (documents + schema === 0) return `Nothing differs from ${parent}, so nothing is lost.`;
  const parts = [
    documents === 0 ? '' : plural(documents, 'changed document'),
    schema === 0 ? '' : plural(schema, 'schema change'),
  ].filter((part) => part !== '');
  return `${parts.join(' and ')} ${documents + schema === 1 ? 'is' : 'are'} not in ${parent} and would be lost:`;
}
