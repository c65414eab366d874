import { useEffect, useMemo, useState } from 'react';
import type { RefObject } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { documentBytes, fromBase64, toBase64 } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { compareDocument } from '../../shared/changes/compare.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { diffLines } from '../bson/document-lines.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { idText, titleOf } from '../bson/plain.ts';
import { showInLive } from '../live/show-in-live.ts';
import { Button, CopyButton, Segments } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { KindMark } from '../shell/marks.tsx';
import { count } from '../shell/numbers.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import type { Row } from './columns.ts';
import { documentLines } from './document-lines.ts';

interface DetailProps {
  readonly branch: BranchRow;
  readonly ns: string;
  readonly row: Row;
  readonly compare: boolean;
  readonly onCompare: (compare: boolean) => void;
  readonly place: RefObject<HTMLElement | null>;
}

type Sides = Output<'diff.document'>;

/** One document: as it is in the branch, or beside the same one in the parent. */
export function DocumentDetail({ branch, ns, row, compare, onCompare, place }: DetailProps) {
  const { parent } = branch;
  const id = row.fields.get('_id');
  const key = id === undefined ? undefined : toBase64(id);
  const [sides, setSides] = useState<Sides>();
  const [error, setError] = useState<ErrorBody>();
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (parent === undefined || key === undefined) return;
    const stop = new AbortController();
    call('diff.document', { branch: branch.name, ns, id: key }, { signal: stop.signal }).then(
      (answer) => {
        if (stop.signal.aborted) return;
        setSides(answer);
        setError(undefined);
      },
      (failure: unknown) => {
        if (!stop.signal.aborted && !isConnectionLoss(failure)) setError(errorBody(failure));
      },
    );
    return () => {
      stop.abort();
    };
  }, [branch.name, parent, ns, key, branch.seq]);

  const other = useMemo(() => difference(sides, row.value), [sides, row.value]);
  const comparing = compare && parent !== undefined && sides !== undefined;
  const lines = useMemo(
    () =>
      comparing
        ? diffLines(other.parent, row.value, other.changes, {
            opened,
            noteTypes: true,
            names: { parent, branch: branch.name },
          })
        : documentLines(row.value, other.changes),
    [comparing, other, row.value, opened, parent, branch.name],
  );
  const kind = sides?.change?.kind;
  const title = titleOf(row.value);
  return (
    <aside className="detail data-detail" aria-label="Document" ref={place} tabIndex={-1}>
      <div className="dhead">
        <h2>
          {kind === undefined ? null : <KindMark kind={kind} />}
          <span className="mono cut">{key === undefined ? 'no _id' : idText(key)}</span>
          {title === undefined ? null : <span className="quiet cut data-title">{title}</span>}
        </h2>
        {parent === undefined ? null : (
          <div className="data-sides">
            <Segments
              label="What is shown"
              value={compare ? 'compare' : 'branch'}
              onChange={(next) => onCompare(next === 'compare')}
              choices={[
                { value: 'branch', label: <span className="cut">{branch.name}</span> },
                { value: 'compare', label: <span className="cut">Beside {parent}</span> },
              ]}
            />
            <span className="soft small cut" role="status">
              {sides === undefined ? '' : sidesText(other, parent)}
            </span>
          </div>
        )}
      </div>
      {error === undefined ? null : <ErrorNote error={error} />}
      <DocumentView
        lines={lines}
        label={comparing ? 'Document beside its parent' : 'Document'}
        onOpenFold={(fold) => setOpened((before) => new Set([...before, fold]))}
      />
      <div className="dfoot">
        {key === undefined ? null : <Button onClick={() => showInLive(branch.id, { ns, id: key })}>Its writes</Button>}
        <span className="push" />
        <CopyButton label="document as EJSON" text={() => toEjson(row.value)}>
          EJSON
        </CopyButton>
      </div>
    </aside>
  );
}

interface Difference {
  readonly parent: BsonValue | undefined;
  readonly changes: NonNullable<ReturnType<typeof compareDocument>>['fields'];
}

/** How the document differs from the same one in the parent as it is now. */
function difference(sides: Sides | undefined, own: BsonValue): Difference {
  const parent = sides?.parent === undefined ? undefined : fromBase64(sides.parent);
  if (sides === undefined) return { parent, changes: [] };
  const base = parent === undefined ? undefined : documentBytes(parent);
  return { parent, changes: compareDocument({ base, parent: base, branch: documentBytes(own) })?.fields ?? [] };
}

function sidesText({ parent, changes }: Difference, name: string): string {
  if (parent === undefined) return `Not in ${name}`;
  return changes.length === 0
    ? `The same in ${name}`
    : `${count(changes.length)} ${changes.length === 1 ? 'differs' : 'differ'}`;
}
