import { useState } from 'react';
import { useAttempt } from '../shell/attempt.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { Button } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { count, plural } from '../shell/numbers.ts';
import { chooseBranch, closeDialog, hasEnded, mainBranch, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { refreshWhenCounted, withProgress } from './import.ts';
import { endTour, startTour } from './tour.ts';

/** Says in numbers what goes. Cancel is the default. */
export function ResetDemoDialog() {
  const branches = useApp((app) => app.branches);
  const [job] = useState(() => `reset-demo-${String(Date.now())}`);
  const progress = useApp((app) => app.progress[job]);
  const { busy, error, attempt } = useAttempt();
  const sandboxes = branches.filter((branch) => branch.parent !== undefined && !hasEnded(branch));
  const changes = sandboxes.reduce((sum, { ahead }) => sum + ahead, 0);

  const reset = async (again: boolean): Promise<void> => {
    endTour();
    const { documents } = await withProgress(job, () => call('demo.reset', { job }));
    closeDialog();
    const main = mainBranch(useApp.getState().branches);
    if (main !== undefined) chooseBranch(main.id, 'live');
    void refreshWhenCounted();
    showToast({ tone: 'done', text: `The demo is as it was: ${count(documents)} documents in main` });
    if (again) startTour();
  };
  return (
    <ConfirmDialog
      title="Reset the demo?"
      lead="main gets the sample shop as it was at the start."
      verb={busy ? 'Resetting' : 'Reset'}
      icon="undo"
      busy={busy}
      onConfirm={() => void attempt(() => reset(false))}
      other={
        <Button size="medium" look="bare" disabled={busy} onClick={() => void attempt(() => reset(true))}>
          Reset and tour again
        </Button>
      }
    >
      <div className="dialog-text">
        <p>
          {sandboxes.length === 0
            ? 'There is no sandbox to discard. What was changed in main’s shop is lost.'
            : `${plural(sandboxes.length, 'sandbox', 'sandboxes')} with ${plural(changes, 'change')} ${sandboxes.length === 1 ? 'is' : 'are'} discarded, and what was changed in main’s shop is lost.`}
        </p>
        <p className="soft">Discarded sandboxes can be brought back for 1 hour. Other databases of main stay.</p>
        {busy ? (
          <span className="import-progress" role="status">
            <progress max={1} aria-label="Reset" />
            <span className="soft cut">{progress?.text ?? 'Discarding sandboxes'}</span>
          </span>
        ) : null}
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </ConfirmDialog>
  );
}
