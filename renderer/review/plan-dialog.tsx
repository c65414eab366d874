import { useCallback, useEffect, useRef, useState } from 'react';
import type { Bson, BranchRow } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { idText } from '../bson/plain.ts';
import { Button } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import type { Progress } from '../store/app.ts';
import { branchById, chooseBranch, closeDialog, mainBranch, parentOf, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { createPlan } from './adopt.ts';
import type { AdoptPlan } from './adopt.ts';
import { PlanBody } from './plan-body.tsx';
import { refreshReview } from './review.ts';
import './plan.css';

interface Moved {
  readonly ns: string;
  readonly id: Bson;
}

/** Shows the stored plan before it runs; when something moved meanwhile, what. */
export function PlanDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  return branch === undefined ? null : <OpenPlan branch={branch} />;
}

function OpenPlan({ branch }: { readonly branch: BranchRow }) {
  const parentName = branch.parent ?? 'main';
  const [plan, setPlan] = useState<AdoptPlan>();
  const [error, setError] = useState<ErrorBody>();
  const [moved, setMoved] = useState<readonly Moved[]>();
  const [running, setRunning] = useState<{ readonly job: string; readonly stop: AbortController }>();
  const busy = running !== undefined;
  const progress = useApp((app) => (running === undefined ? undefined : app.progress[running.job]));
  const adopt = useRef<HTMLButtonElement>(null);

  const { id, name } = branch;
  const load = useCallback(
    () => createPlan({ id, name }, parentName).then(setPlan, (failure: unknown) => setError(errorBody(failure))),
    [id, name, parentName],
  );
  useEffect(() => {
    void load();
  }, [load]);
  const compareAgain = async (): Promise<void> => {
    setPlan(undefined);
    setMoved(undefined);
    setError(undefined);
    await refreshReview({ id, name });
    await load();
  };
  const ready = plan !== undefined && plan.items > 0;
  useEffect(() => {
    if (ready) adopt.current?.focus();
  }, [ready]);

  const apply = async (): Promise<void> => {
    if (plan === undefined || busy) return;
    const job = crypto.randomUUID();
    const stop = new AbortController();
    setRunning({ job, stop });
    try {
      const {
        applied,
        entry,
        leftOut = [],
      } = await call('plan.apply', { plan: plan.plan, job }, { signal: stop.signal });
      closeDialog();
      tellAdopted(branch, applied, entry, leftOut);
      await refreshReview({ id, name });
    } catch (failure) {
      const body = errorBody(failure);
      if (stop.signal.aborted) setError(cancelled(parentName));
      else if (body.code === 'plan_stale') setMoved(movedOf(body));
      else setError(body);
    } finally {
      setRunning(undefined);
    }
  };
  const title = moved === undefined ? adoptTitle(plan, branch.name, parentName) : `${parentName} moved meanwhile`;
  const lead =
    moved === undefined
      ? `Nothing has run yet. If ${parentName} moves before you press Adopt, nothing is applied and you see what moved.`
      : 'Nothing was applied. These documents are not as the plan expects them any more.';
  return (
    <Dialog
      title={title}
      lead={lead}
      width={856}
      busy={busy}
      foot={
        <>
          {ready && !busy && moved === undefined && error === undefined ? (
            <span className="note">
              <Icon name="undo" />
              Can be undone from History, with the same checks.
            </span>
          ) : null}
          {busy ? <ApplyProgress progress={progress} /> : <span className="push" />}
          <Button size="medium" onClick={busy ? () => running.stop.abort() : closeDialog}>
            Cancel {busy ? null : <kbd aria-hidden="true">Esc</kbd>}
          </Button>
          {moved !== undefined || error !== undefined ? (
            <Button look="primary" size="medium" icon="refresh" onClick={() => void compareAgain()}>
              Compare again
            </Button>
          ) : (
            <Button
              look="primary"
              size="medium"
              icon="adopt"
              keys="mod+enter"
              ref={adopt}
              disabled={!ready || busy}
              onClick={() => void apply()}
            >
              {busy ? 'Adopting' : `Adopt ${plan === undefined ? '' : plural(plan.items, 'change')}`}
            </Button>
          )}
        </>
      }
    >
      <div
        className="plan-scroll"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void apply();
        }}
      >
        {error === undefined ? null : (
          <div className="dialog-text">
            <ErrorNote error={error} />
          </div>
        )}
        {moved === undefined ? null : <MovedList moved={moved} />}
        {error === undefined && moved === undefined ? <PlanBody plan={plan} branch={branch} /> : null}
      </div>
    </Dialog>
  );
}

function adoptTitle(plan: AdoptPlan | undefined, branch: string, parent: string): string {
  const what = plan === undefined ? 'changes' : plural(plan.items, 'change');
  return `Adopt ${what} from ${branch} into ${parent}`;
}

/** How far an adoption is; before its first report it only runs. */
function ApplyProgress({ progress }: { readonly progress: Progress | undefined }) {
  const { done, total, text = 'Checking that nothing moved' } = progress ?? {};
  return (
    <label className="plan-progress">
      <span aria-live="polite">{text}</span>
      <progress {...(done === undefined || total === undefined ? {} : { value: done, max: Math.max(1, total) })} />
    </label>
  );
}

/** The engine stops between two batches and takes back what it had written. */
function cancelled(parent: string): ErrorBody {
  return {
    code: 'aborted',
    message: `Cancelled. What was written to ${parent} is taken back, unless the last piece was in already.`,
    hint: 'Compare again to see how things stand.',
    retry: true,
  };
}

function tellAdopted(branch: BranchRow, applied: number, entry: string | undefined, leftOut: readonly string[]): void {
  const { branches } = useApp.getState();
  const parent = parentOf(branches, branch) ?? mainBranch(branches);
  showToast({
    tone: 'done',
    text: `Adopted ${plural(applied, 'change')} into ${parent?.name ?? 'main'}`,
    hint: leftOut.length === 0 ? undefined : leftOut.join(' '),
    actions: [
      ...(entry === undefined ? [] : [{ label: 'Undo', run: () => void undo({ entry }) }]),
      ...(parent === undefined ? [] : [{ label: 'View', run: () => chooseBranch(parent.id, 'history') }]),
    ],
  });
}

function movedOf(error: ErrorBody): Moved[] {
  const moved = error.details?.['moved'];
  return Array.isArray(moved) ? (moved as Moved[]) : [];
}

function MovedList({ moved }: { readonly moved: readonly Moved[] }) {
  return (
    <ul className="moved">
      {moved.map(({ ns, id }) => (
        <li key={`${ns} ${id}`}>
          <Icon name="alert" />
          <span className="mono">
            <span className="quiet">{ns}</span> {readableId(id)}
          </span>
        </li>
      ))}
      {moved.length === 0 ? <li>The engine did not name them.</li> : null}
    </ul>
  );
}

/** Ids are bytes on the API; an older engine may name them as text. */
function readableId(id: Bson): string {
  try {
    return idText(id);
  } catch {
    return id;
  }
}
