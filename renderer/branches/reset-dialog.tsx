import { useAttempt } from '../shell/attempt.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { branchById, chooseBranch, closeDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { WhatGoes } from './discard-dialog.tsx';
import { undo } from './verbs.ts';

/** Says in numbers what a reset takes away. Cancel is the default. */
export function ResetDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const { busy, error, attempt } = useAttempt();
  if (branch === undefined) return null;
  const parent = branch.parent ?? 'its parent';

  const reset = async (): Promise<void> => {
    const { branch: fresh, entry } = await call('branches.reset', { branch: branch.name });
    closeDialog();
    // It has a new id: what it was is another branch now.
    chooseBranch(fresh.id);
    showToast({
      tone: 'done',
      text: `${branch.name} is as ${parent} is now, under the same URI`,
      actions: [{ label: 'Undo', run: () => void undo({ entry }) }],
    });
  };
  return (
    <ConfirmDialog
      title={`Reset ${branch.name} to ${parent}?`}
      lead={`It gets what ${parent} holds now. Its name, URI and credentials stay; open connections break and come back.`}
      verb={busy ? 'Resetting' : 'Reset'}
      icon="refresh"
      busy={busy}
      onConfirm={() => void attempt(reset)}
    >
      <div className="dialog-text">
        <WhatGoes branch={branch} />
        <p className="soft">What it was sleeps beside it for a day, and Undo brings it back.</p>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </ConfirmDialog>
  );
}
