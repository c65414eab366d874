import type { BranchRow } from '../../shared/api.ts';
import { useAttempt } from '../shell/attempt.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Counts } from '../shell/marks.tsx';
import { plural } from '../shell/numbers.ts';
import { moment } from '../shell/time.ts';
import { branchById, chooseBranch, closeDialog, mainBranch, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { bringBack } from './verbs.ts';

/** Says in numbers what would go. Cancel is the default. */
export function DiscardDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const { busy, error, attempt } = useAttempt();
  if (branch === undefined) return null;

  const discard = async (): Promise<void> => {
    const { trashedUntil } = await call('branches.discard', { branch: branch.name });
    closeDialog();
    const main = mainBranch(useApp.getState().branches);
    if (main !== undefined) chooseBranch(main.id);
    showToast({
      tone: 'done',
      text: `Discarded ${branch.name}`,
      ...(trashedUntil === undefined ? {} : { hint: `Can be brought back until ${moment(trashedUntil, Date.now())}` }),
      actions: trashedUntil === undefined ? [] : [{ label: 'Undo', run: () => void bringBack(branch) }],
    });
  };

  return (
    <ConfirmDialog
      title={`Discard ${branch.name}?`}
      lead="Its server stops and its connection string is refused at once."
      verb={busy ? 'Discarding' : 'Discard'}
      icon="trash"
      busy={busy}
      onConfirm={() => void attempt(discard)}
    >
      <div className="dialog-text">
        <WhatGoes branch={branch} />
        <p className="soft">It can be brought back for 1 hour, then only its summary in History stays.</p>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </ConfirmDialog>
  );
}

/** How much of a branch is not in its parent and goes with it. */
export function WhatGoes({ branch }: { readonly branch: BranchRow }) {
  return (
    <>
      <p>{whatGoes(branch)}</p>
      {branch.counts === undefined ? null : <Counts counts={{ ...branch.counts, conflicts: 0 }} />}
    </>
  );
}

/** Ends in a colon where there are counts to follow. */
function whatGoes(branch: BranchRow): string {
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
