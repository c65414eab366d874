import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { Input } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { idText, pathText } from '../bson/plain.ts';
import { useAttempt } from '../shell/attempt.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { plural } from '../shell/numbers.ts';
import { branchById, chooseTab, closeDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { BackPlanBody, readPlan, type ReadPlan } from './back-plan.tsx';
import './history.css';

/** Puts a branch back to a moment, in place: shows the plan first. */
export function RestoreDialog({ id, seq }: { readonly id: string; readonly seq: number }) {
  const name = useApp((app) => branchById(app, id)?.name);
  const [load] = useState(() => () => readPlan(call('restore.plan', { branch: name ?? '', to: { seq } })));
  if (name === undefined) return null;
  return (
    <BackDialog
      title={`Put ${name} back to ${seq === 0 ? 'its beginning' : `change ${String(seq)}`}?`}
      lead={`Nothing has run yet. What happened in ${name} since then would be taken back as one entry of History, which can itself be undone.`}
      load={load}
      verb="Put back"
      done={(applied) => `${name} is back: ${plural(applied, 'change')}`}
    />
  );
}

/** Takes an entry of the log back: shows the plan first. */
export function UndoEntryDialog({ entry, text }: { readonly entry: string; readonly text: string }) {
  const [load] = useState(() => () => readPlan(call('log.undoPlan', { entry })));
  return (
    <BackDialog
      title="Take this back?"
      lead={`${text}. What others changed in the same documents since stays.`}
      load={load}
      verb="Undo"
      done={(applied) => `Undone, ${plural(applied, 'change')} taken back`}
    />
  );
}

/** Takes changes back inside their branch, field by field: shows the plan first. */
export function UndoChangesDialog({ id, what }: { readonly id: string; readonly what: Input<'changes.undo'>['what'] }) {
  const name = useApp((app) => branchById(app, id)?.name);
  const [conflicting, setConflicting] = useState<ReactNode>(null);
  const [load] = useState(() => async () => {
    const made = await call('changes.undo', { branch: name ?? '', what });
    if (made.conflicts > 0) {
      setConflicting(
        <ul className="back-left" aria-label="Changed again since">
          {made.conflicting.map((document) => (
            <li key={`${document.ns} ${document.id}`} className="mono">
              <span className="quiet">{document.ns}</span> {idText(document.id)}{' '}
              {document.fields
                .filter((field) => field.class === 'divergent')
                .map(({ path }) => pathText(path))
                .join(', ')}
            </li>
          ))}
        </ul>,
      );
    }
    return readPlan(Promise.resolve(made));
  });
  if (name === undefined) return null;
  return (
    <BackDialog
      title={`Take ${changesText(what)} back?`}
      lead={`Nothing has run yet. What others changed in the same documents of ${name} since stays.`}
      load={load}
      verb="Take back"
      done={(applied) => `Took back ${plural(applied, 'change')} in ${name}`}
    >
      {conflicting}
    </BackDialog>
  );
}

function changesText(what: Input<'changes.undo'>['what']): string {
  if ('actor' in what) return `what ${what.actor} changed`;
  if ('transaction' in what) return 'this transaction';
  if ('from' in what) return `changes ${String(what.from)} to ${String(what.to)}`;
  return what.seqs.length === 1 ? 'this change' : `${String(what.seqs.length)} changes`;
}

/** A plan to look at, with Cancel as the default. */
function BackDialog({
  title,
  lead,
  load,
  verb,
  done,
  children,
}: {
  readonly title: string;
  readonly lead: string;
  /** Keeps its identity while the dialog is open. */
  readonly load: () => Promise<ReadPlan>;
  readonly verb: string;
  readonly done: (applied: number) => string;
  readonly children?: ReactNode;
}) {
  const [plan, setPlan] = useState<ReadPlan>();
  const [notMade, setNotMade] = useState<ErrorBody>();
  const { busy, error: refused, attempt } = useAttempt();
  const error = notMade ?? refused;
  useEffect(() => {
    let isOpen = true;
    load().then(
      (read) => isOpen && setPlan(read),
      (failure: unknown) => isOpen && setNotMade(errorBody(failure)),
    );
    return () => {
      isOpen = false;
    };
  }, [load]);
  const apply = async (): Promise<void> => {
    if (plan === undefined) return;
    const { applied, entry } = await call('plan.apply', { plan: plan.plan });
    closeDialog();
    showToast({
      tone: 'done',
      text: done(applied),
      actions: [
        ...(entry === undefined ? [] : [{ label: 'Undo', run: () => void undo({ entry }) }]),
        { label: 'View', run: () => chooseTab('history') },
      ],
    });
  };
  const conflicts = plan?.conflicts ?? 0;
  const isReady = plan !== undefined && plan.items > 0 && conflicts === 0 && error === undefined;
  return (
    <ConfirmDialog
      title={title}
      lead={lead}
      width={560}
      verb={isReady ? `${verb}: ${plural(plan.items, 'change')}` : verb}
      icon="undo"
      busy={busy}
      ready={isReady}
      onConfirm={() => void attempt(apply)}
    >
      <div className="dialog-text back-body" aria-busy={plan === undefined && error === undefined}>
        {conflicts > 0 ? (
          <p role="alert">
            {plural(conflicts, 'document')} {conflicts === 1 ? 'was' : 'were'} changed again since in the same places,
            so nothing can be taken back here. Take the later changes back first.
          </p>
        ) : null}
        {children}
        {plan === undefined || conflicts > 0 ? null : <BackPlanBody plan={plan} />}
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </ConfirmDialog>
  );
}
