import { useMemo, useRef } from 'react';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { Entry } from '../history/entries.tsx';
import { useLog } from '../history/use-log.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { plural } from '../shell/numbers.ts';
import { branchById, closeDialog, openDialog, useApp } from '../store/app.ts';

/** What its parent adopted of a branch, newest first, with those that were taken back. */
function useAdoptions(branch: BranchRow | undefined): readonly LogEntry[] {
  const log = useLog();
  const { name, forkedAt = '' } = branch ?? {};
  return useMemo(
    // A branch that had the name before is another one.
    () => (log ?? []).filter((entry) => entry.kind === 'adopt' && entry.branch === name && entry.time >= forkedAt),
    [log, name, forkedAt],
  );
}

/** Leads to what was adopted before; nothing where nothing was. */
export function AdoptionsButton({ branch }: { readonly branch: BranchRow }) {
  const adoptions = useAdoptions(branch);
  if (adoptions.length === 0) return null;
  return (
    <Button look="bare" icon="adopt" onClick={() => openDialog({ kind: 'adoptions', branch: branch.id })}>
      {plural(adoptions.length, 'adoption')}
    </Button>
  );
}

/** What was adopted when, each with its Undo. */
export function AdoptionList({ branch }: { readonly branch: BranchRow }) {
  const adoptions = useAdoptions(branch);
  const log = useApp((app) => app.log) ?? [];
  if (adoptions.length === 0) return null;
  return (
    <div className="adoptions" role="list" aria-label="Adoptions">
      {adoptions.map((entry) => (
        <Entry key={entry.entry} entry={entry} log={log} here={branch} isLater={false} />
      ))}
    </div>
  );
}

/** The history of adoptions of a branch. */
export function AdoptionsDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const close = useRef<HTMLButtonElement>(null);
  if (branch === undefined) return null;
  return (
    <Dialog
      title={`Adopted from ${branch.name}`}
      lead={`What ${branch.parent ?? 'its parent'} took over, newest first. Undo shows first what it would change.`}
      width={640}
      initialFocus={close}
      foot={
        <>
          <span className="push" />
          <Button size="medium" ref={close} onClick={closeDialog}>
            Close <kbd aria-hidden="true">Esc</kbd>
          </Button>
        </>
      }
    >
      <AdoptionList branch={branch} />
    </Dialog>
  );
}
