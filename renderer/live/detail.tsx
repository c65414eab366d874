import { useMemo, useState } from 'react';
import type { BranchRow, Change } from '../../shared/api.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { ejsonText } from '../bson/ejson-lines.ts';
import type { LinesJob } from '../bson/lines-job.ts';
import { useLines } from '../bson/use-lines.ts';
import { collectionName, idText } from '../bson/plain.ts';
import { Button, CopyButton, Segments } from '../shell/controls.tsx';
import { Actors, KindMark } from '../shell/marks.tsx';
import { count, plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { GapBody } from './gap.tsx';
import { isDocumentChange, kindOf, kindWord } from './kinds.ts';
import { changeTitle, summaryOf } from './summary.ts';
import type { DocumentRef } from './show-in-live.ts';
import type { FieldText } from './summary.ts';

interface DetailProps {
  readonly branch: BranchRow;
  readonly change: Change;
  /** Shows what taking the write back would do. */
  readonly onUndo: () => void;
  /** Shows everything that happened to the document; left out where that is shown. */
  readonly onHistory: ((document: DocumentRef) => void) | undefined;
}

/** One write in full. */
export function ChangeDetail({ branch, change, ...verbs }: DetailProps) {
  const kind = kindOf(change);
  const { fields, words } = summaryOf(change);
  const title = changeTitle(change);
  return (
    <aside className="detail" aria-label="Selected change">
      <div className="dhead">
        <h2>
          {kind === undefined ? <span className="hatch-box hatch" /> : <KindMark kind={kind} word={kindWord(change)} />}
          <span className="mono cut">
            <span className="quiet">{change.ns === undefined ? '' : collectionName(change.ns)}</span>{' '}
            {change.id === undefined ? kindWord(change) : idText(change.id)}
          </span>
          {title === undefined ? null : <span className="detail-title cut">{title}</span>}
        </h2>
        <dl className="kv">
          <dt>When</dt>
          <dd>
            {clock(change.time, 'ms')}, change {count(change.seq)}
          </dd>
          <dt>Who</dt>
          <dd>
            <WhoWords change={change} />
          </dd>
          <dt>Where</dt>
          <dd className="cut">
            {change.ns === undefined ? '' : `${change.ns}, `}
            {change.transaction === undefined ? 'single write, no transaction' : 'part of a transaction'}
          </dd>
        </dl>
      </div>
      {change.op === 'gap' ? (
        <GapBody change={change} branch={branch} />
      ) : isDocumentChange(change) ? (
        <DocumentChangeBody key={change.seq} change={change} fields={change.op === 'insert' ? [] : fields} {...verbs} />
      ) : (
        <OtherBody change={change} words={words} />
      )}
    </aside>
  );
}

function WhoWords({ change }: { readonly change: Change }) {
  if (change.actor !== undefined) {
    return (
      <>
        <Actors names={[change.actor]} small />
        {change.actor}
      </>
    );
  }
  const several = change.actors ?? [];
  if (several.length === 0) return <span className="quiet">not known</span>;
  return (
    <>
      one of <Actors names={several} small /> {several.join(', ')}
    </>
  );
}

type Image = 'both' | 'before' | 'after';

function DocumentChangeBody({
  change,
  fields,
  onUndo,
  onHistory,
}: Omit<DetailProps, 'branch'> & { readonly fields: readonly FieldText[] }) {
  const [image, setImage] = useState<Image>('both');
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { before, after, ns, id } = change;
  const shown: Image = before === undefined || after === undefined ? 'both' : image;
  const job = useMemo((): LinesJob => {
    const options = { opened, noteTypes: true };
    if (shown === 'both') return { base: before, target: after, form: 'tree', options };
    return { base: undefined, target: shown === 'before' ? before : after, fields: [], form: 'tree', options };
  }, [before, after, shown, opened]);
  const { lines, error } = useLines(job);
  const document = shown === 'before' ? before : (after ?? before);
  return (
    <>
      <div className="detail-body">
        {fields.length === 0 ? null : <FieldTable fields={fields} />}
        <div className="sec">
          <span>Document</span>
          {before === undefined && change.op !== 'insert' ? <span className="type">before not known</span> : null}
          {change.folded === true ? <span className="type">put together from its description</span> : null}
          <span className="push" />
          {before === undefined || after === undefined ? null : (
            <Segments
              label="Image"
              value={shown}
              onChange={setImage}
              choices={[
                { value: 'both', label: 'Both' },
                { value: 'before', label: 'Before' },
                { value: 'after', label: 'After' },
              ]}
            />
          )}
        </div>
        {lines === undefined || lines.length === 0 ? (
          <p className="detail-none">
            {error ??
              (lines === undefined
                ? 'Comparing a large document'
                : 'The document could not be recorded at this moment.')}
          </p>
        ) : (
          <DocumentView
            label="Document, before and after"
            lines={lines}
            onOpenFold={(key) => setOpened((now) => new Set([...now, key]))}
          />
        )}
      </div>
      <div className="foot-s">
        <Button icon="undo" keys="u" onClick={onUndo}>
          Undo this change
        </Button>
        {ns === undefined || id === undefined || onHistory === undefined ? null : (
          <Button icon="clock" onClick={() => onHistory({ ns, id })}>
            Its history
          </Button>
        )}
        <span className="push" />
        {document === undefined ? null : (
          <CopyButton iconOnly label="document as EJSON" text={() => ejsonText(fromBase64(document))} />
        )}
      </div>
    </>
  );
}

function FieldTable({ fields }: { readonly fields: readonly FieldText[] }) {
  const shown = fields.slice(0, 8);
  return (
    <>
      <div className="sec">{plural(fields.length, 'field')} changed</div>
      <table className="ba">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((field, index) => (
            <tr key={index}>
              <td title={field.path}>{field.path}</td>
              <td title={field.before}>
                {field.before ?? <span className="quiet">none</span>}
                {field.types === undefined ? null : <span className="type">{field.types[0]}</span>}
              </td>
              <td title={field.after}>
                {field.after === undefined ? <span className="quiet">none</span> : <b>{field.after}</b>}
                {field.types === undefined ? null : <span className="type">{field.types[1]}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < fields.length ? (
        <p className="detail-none">{plural(fields.length - shown.length, 'more field')} below.</p>
      ) : null}
    </>
  );
}

/** A schema event or an import: what it says of itself. */
function OtherBody({ change, words }: { readonly change: Change; readonly words: string | undefined }) {
  const hasDetail = Object.keys(change.detail ?? {}).length > 0;
  return (
    <div className="detail-body">
      <div className="sec">{kindWord(change)}</div>
      {words === undefined || words === '' ? null : <p className="detail-none">{words}</p>}
      {hasDetail ? <pre className="detail-json">{JSON.stringify(change.detail, null, 2)}</pre> : null}
    </div>
  );
}
