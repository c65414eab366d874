import { useCallback, useEffect, useRef, useState } from 'react';
import type { Bson, BranchRow } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { collectionName, idText } from '../bson/plain.ts';
import { Code } from '../shell/code.tsx';
import { Button, CopyButton } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { count, plural } from '../shell/numbers.ts';
import { branchById, chooseBranch, closeDialog, mainBranch, parentOf, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { createPlan } from './adopt.ts';
import type { AdoptPlan } from './adopt.ts';
import { isDecided } from './decisions.ts';
import { refreshReview, reviewOf } from './review.ts';
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
  const [busy, setBusy] = useState(false);
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
    setBusy(true);
    try {
      const { applied, entry } = await call('plan.apply', { plan: plan.plan });
      closeDialog();
      tellAdopted(branch, applied, entry);
      await refreshReview({ id, name });
    } catch (failure) {
      const body = errorBody(failure);
      if (body.code === 'plan_stale') setMoved(movedOf(body));
      else setError(body);
    } finally {
      setBusy(false);
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
          <span className="note">
            <Icon name="undo" />
            Can be undone from History, with the same checks.
          </span>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
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

function tellAdopted(branch: BranchRow, applied: number, entry: string | undefined): void {
  const { branches } = useApp.getState();
  const parent = parentOf(branches, branch) ?? mainBranch(branches);
  showToast({
    tone: 'done',
    text: `Adopted ${plural(applied, 'change')} into ${parent?.name ?? 'main'}`,
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

function PlanBody({ plan, branch }: { readonly plan: AdoptPlan | undefined; readonly branch: BranchRow }) {
  if (plan === undefined) return <div className="plan plan-wait" aria-busy="true" />;
  const lines = plan.mongosh.trimEnd();
  return (
    <>
      <div className="plan">
        <section aria-label="What will change">
          <h3>What will change in {plan.parent}</h3>
          <ItemTable plan={plan} />
          <LeftBehind plan={plan} branch={branch} />
        </section>
        <section aria-label="Dry run">
          <h3>Dry run</h3>
          {plan.checks.map((check) => (
            <div className="check" key={check.name}>
              <span className={check.ok ? 'ok' : 'att'}>
                <Icon name={check.ok ? 'check' : 'alert'} />
              </span>
              <div>
                <p>
                  <span className="sr">{check.ok ? 'Passed: ' : 'Look at this: '}</span>
                  {check.name}
                </p>
                <p>{check.detail}</p>
              </div>
            </div>
          ))}
          {plan.checks.length === 0 ? (
            <p className="soft">No index or validator of {plan.parent} is concerned.</p>
          ) : null}
        </section>
      </div>
      <div className="plan-code-head">
        <h3 className="h3">As mongosh</h3>
        <span className="push" />
        <CopyButton look="bare" label="mongosh text" text={() => plan.mongosh}>
          Copy
        </CopyButton>
      </div>
      <Code text={lines} language="shell" label="What runs, as mongosh" />
    </>
  );
}

interface Row {
  added: number;
  changed: number;
  removed: number;
}

function ItemTable({ plan }: { readonly plan: AdoptPlan }) {
  const rows = new Map<string, Row>();
  const sum: Row = { added: 0, changed: 0, removed: 0 };
  for (const item of plan.read) {
    const name = item.id === undefined ? 'Schema' : item.ns;
    const row = rows.get(name) ?? { added: 0, changed: 0, removed: 0 };
    const column = columnOf(item.action);
    row[column] += 1;
    sum[column] += 1;
    rows.set(name, row);
  }
  const more = plan.items - plan.read.length;
  return (
    <table className="ptable">
      <thead>
        <tr>
          <th scope="col">Collection</th>
          <th scope="col">added</th>
          <th scope="col">changed</th>
          <th scope="col">removed</th>
        </tr>
      </thead>
      <tbody>
        {[...rows].map(([name, row]) => (
          <tr key={name}>
            <th scope="row" className={name === 'Schema' ? '' : 'mono'}>
              {name === 'Schema' ? name : collectionName(name)}
            </th>
            <Cells row={row} />
          </tr>
        ))}
        <tr className="sum">
          <th scope="row">{plural(plan.items, 'change')}</th>
          <Cells row={sum} />
        </tr>
        {more > 0 ? (
          <tr>
            <td colSpan={4}>and {count(more)} more that are not counted above</td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}

function Cells({ row }: { readonly row: Row }) {
  return (
    <>
      <td className={row.added > 0 ? 'c-add' : 'quiet'}>{row.added > 0 ? `+${count(row.added)}` : '0'}</td>
      <td className={row.changed > 0 ? 'c-mod' : 'quiet'}>{row.changed > 0 ? `~${count(row.changed)}` : '0'}</td>
      <td className={row.removed > 0 ? 'c-rem' : 'quiet'}>{row.removed > 0 ? `−${count(row.removed)}` : '0'}</td>
    </>
  );
}

function columnOf(action: string): keyof Row {
  if (/^(insert|create)/.test(action)) return 'added';
  return /^(delete|drop)/.test(action) ? 'removed' : 'changed';
}

function LeftBehind({ plan, branch }: { readonly plan: AdoptPlan; readonly branch: BranchRow }) {
  const { conflicts, decisions } = reviewOf(branch.id);
  if (plan.conflicts === 0) return null;
  const names = conflicts.filter((document) => !isDecided(decisions, document)).map(({ id }) => idText(id));
  return (
    <>
      <h3 className="plan-left">Left in {branch.name}</h3>
      <p className="soft plan-left-text">
        {plural(plan.conflicts, 'conflict')}, not decided{names.length === 0 ? '' : ': '}
        <span className="mono">{names.slice(0, 6).join(', ')}</span>
        {names.length > 6 ? ` and ${count(names.length - 6)} more` : ''}.
      </p>
    </>
  );
}
