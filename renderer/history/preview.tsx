import { useEffect, useMemo, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { collectionName, idText } from '../bson/plain.ts';
import { useLines } from '../bson/use-lines.ts';
import { Button } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { KindMark } from '../shell/marks.tsx';
import { count, plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { openDialog } from '../store/app.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { CountTable, LeftOut } from './back-plan.tsx';

export type Preview = Output<'restore.preview'>;

const listed = 200;
/** While the mark is dragged nothing is asked. */
const restMs = 150;

/** What differs between a moment and now; `undefined` while it is asked for. */
export function usePreview(branch: BranchRow, seq: number): { preview?: Preview; error?: ErrorBody } {
  const [answer, setAnswer] = useState<{ seq: number; preview?: Preview; error?: ErrorBody }>({ seq: -1 });
  const { name, seq: last } = branch;
  useEffect(() => {
    const gone = new AbortController();
    const timer = setTimeout(() => {
      call('restore.preview', { branch: name, to: { seq }, limit: listed }, { signal: gone.signal }).then(
        (preview) => setAnswer({ seq, preview }),
        (error: unknown) => {
          if (!gone.signal.aborted && !isConnectionLoss(error)) setAnswer({ seq, error: errorBody(error) });
        },
      );
    }, restMs);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [name, seq, last]);
  return answer.seq === seq ? answer : {};
}

/** The chosen moment: what changed since, any of its documents then and now, and the two ways back to it. */
export function MomentPane({
  branch,
  seq,
  preview,
  error,
}: {
  readonly branch: BranchRow;
  readonly seq: number;
  readonly preview: Preview | undefined;
  readonly error: ErrorBody | undefined;
}) {
  const [chosen, setChosen] = useState<{ readonly ns: string; readonly id: string }>();
  const at = preview?.at.seq ?? seq;
  const time = preview?.at.time;
  const when = at === 0 ? 'its beginning' : time === undefined ? `change ${count(at)}` : clock(time);
  const changed = preview?.summary.reduce((sum, each) => sum + each.added + each.modified + each.removed, 0) ?? 0;
  const isNow = preview !== undefined && changed + preview.schema.length === 0;
  const buttons = { disabled: preview === undefined || isNow };
  return (
    <aside className="detail moment" aria-label="Chosen moment">
      <div className="dhead">
        <h2>
          <Icon name="clock" />
          <span className="cut">
            {branch.name} at {when}
          </span>
        </h2>
        <p className="soft">
          {at === 0 ? 'Before its first change' : `After change ${count(at)}`}
          {at > seq ? ', the end of its transaction' : ''}. What you see is a preview, {branch.name} has not moved.
        </p>
      </div>
      <div
        className="moment-body"
        aria-busy={preview === undefined && error === undefined}
        tabIndex={0}
        role="group"
        aria-label="Since then"
      >
        {error === undefined ? null : <ErrorNote error={error} />}
        {preview === undefined ? null : (
          <>
            <h3 className="sec">Since then</h3>
            {isNow ? <p className="soft">Nothing differs from now.</p> : null}
            {preview.summary.length === 0 ? null : (
              <CountTable
                head="Collection"
                rows={preview.summary.map(({ ns, ...counts }) => ({ name: collectionName(ns), ...counts }))}
              />
            )}
            {preview.schema.length === 0 ? null : (
              <ul className="back-schema">
                {preview.schema.map(({ ns, text }, index) => (
                  <li key={`${ns} ${text} ${String(index)}`}>{text}</li>
                ))}
              </ul>
            )}
            <LeftOut sentences={preview.leftOut} />
            <Documents preview={preview} chosen={chosen} onChoose={setChosen} total={changed} />
            {chosen === undefined ? null : (
              <ThenAndNow key={`${chosen.ns} ${chosen.id} ${String(at)}`} branch={branch} seq={at} {...chosen} />
            )}
          </>
        )}
      </div>
      <div className="moment-foot">
        <Button
          size="medium"
          icon="fork"
          onClick={() => openDialog({ kind: 'restore-as', branch: branch.id, seq: at })}
          {...buttons}
        >
          Open as a new branch
        </Button>
        <Button
          size="medium"
          look="danger"
          icon="undo"
          onClick={() => openDialog({ kind: 'restore', branch: branch.id, seq: at })}
          {...buttons}
        >
          Put {branch.name} back to this moment
        </Button>
        <p className="quiet">
          Putting {branch.name} back shows its plan first
          {isNow || preview === undefined ? '' : `: ${whatMoves(changed, preview.schema.length)} would change`}. It
          becomes an entry here and can itself be undone.
        </p>
      </div>
    </aside>
  );
}

function whatMoves(documents: number, schema: number): string {
  const parts = [
    documents === 0 ? '' : plural(documents, 'document'),
    schema === 0 ? '' : plural(schema, 'schema item'),
  ].filter((part) => part !== '');
  return parts.join(' and ');
}

function Documents({
  preview,
  chosen,
  onChoose,
  total,
}: {
  readonly preview: Preview;
  readonly chosen: { readonly ns: string; readonly id: string } | undefined;
  readonly onChoose: (document: { readonly ns: string; readonly id: string }) => void;
  readonly total: number;
}) {
  const { documents } = preview;
  if (documents.length === 0) return null;
  return (
    <>
      <h3 className="sec">Documents, then and now</h3>
      <ul className="moment-documents" aria-label="Documents that differ">
        {documents.map(({ ns, id, kind }) => (
          <li key={`${ns} ${id}`}>
            <button
              type="button"
              className="moment-document"
              aria-pressed={chosen?.ns === ns && chosen.id === id}
              onClick={() => onChoose({ ns, id })}
            >
              <KindMark kind={kind} />
              <span className="mono cut">
                <span className="quiet">{collectionName(ns)}</span> {idText(id)}
              </span>
            </button>
          </li>
        ))}
        {total > documents.length ? (
          <li className="quiet">and {plural(total - documents.length, 'more document')}</li>
        ) : null}
      </ul>
    </>
  );
}

/** One document as it was and as it is. */
function ThenAndNow({
  branch,
  ns,
  id,
  seq,
}: {
  readonly branch: BranchRow;
  readonly ns: string;
  readonly id: string;
  readonly seq: number;
}) {
  const [sides, setSides] = useState<Output<'restore.document'>>();
  const [error, setError] = useState<ErrorBody>();
  const { name } = branch;
  useEffect(() => {
    let isOpen = true;
    call('restore.document', { branch: name, ns, id, to: { seq } }).then(
      (answer) => isOpen && setSides(answer),
      (failure: unknown) => isOpen && setError(errorBody(failure)),
    );
    return () => {
      isOpen = false;
    };
  }, [name, ns, id, seq]);
  if (error !== undefined) return <ErrorNote error={error} />;
  return sides === undefined ? null : <Sides id={id} sides={sides} />;
}

function Sides({ id, sides }: { readonly id: string; readonly sides: Output<'restore.document'> }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const job = useMemo(
    () => ({ base: sides.then, target: sides.now, form: 'tree' as const, options: { opened, noteTypes: true } }),
    [sides, opened],
  );
  const { lines, error } = useLines(job);
  if (error !== undefined) return <p className="soft">{error}</p>;
  return (
    <div className="moment-sides">
      <DocumentView
        lines={lines ?? []}
        label={`${idText(id)}, then and now`}
        onOpenFold={(key) => setOpened(new Set([...opened, key]))}
      />
    </div>
  );
}
