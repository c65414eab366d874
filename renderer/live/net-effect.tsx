import { useCallback, useEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { BranchRow, DocumentChange } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { fromBase64, typeName } from '../../shared/bson/value.ts';
import { collectionName, fieldCount, idText, pathText, plainBson } from '../bson/plain.ts';
import { showDocument } from '../review/review.ts';
import { Icon } from '../shell/icons.tsx';
import { listKey } from '../shell/list-keys.ts';
import { KindMark } from '../shell/marks.tsx';
import { plural } from '../shell/numbers.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { FieldChangeText } from './feed-row.tsx';
import type { FieldText } from './summary.ts';

const pageDocuments = 200;
const quietMs = 400;
const rowHeight = 28;

interface Listed {
  readonly documents: readonly DocumentChange[];
  readonly next: string | undefined;
  readonly complete: boolean;
}

/** What the writes come to: one row for each document that differs from the parent. Enter opens it in Review. */
export function NetEffect({ branch }: { readonly branch: BranchRow }) {
  const { id, name, seq } = branch;
  const [listed, setListed] = useState<Listed>();
  const [problem, setProblem] = useState<string>();
  const [at, setAt] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const asking = useRef(false);
  const read = useCallback(
    async (before: Listed | undefined, limit: number): Promise<void> => {
      if (asking.current) return;
      asking.current = true;
      try {
        const after = before?.next === undefined ? {} : { after: before.next };
        const diff = await call('diff.get', { branch: name, listing: true, limit, ...after });
        const documents = [...(before?.documents ?? []), ...diff.documents];
        setListed({ documents, next: diff.next, complete: diff.complete });
        setProblem(undefined);
      } catch (error) {
        if (!isConnectionLoss(error)) setProblem(errorBody(error).message);
      } finally {
        asking.current = false;
      }
    },
    [name],
  );
  const known = listed?.documents.length ?? 0;
  useEffect(() => {
    const timer = setTimeout(
      () => void read(undefined, Math.min(2_000, Math.max(pageDocuments, known))),
      known === 0 ? 0 : quietMs,
    );
    return () => {
      clearTimeout(timer);
    };
    // How many are known says only how many to read again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id, seq, read]);
  const documents = listed?.documents ?? [];
  const virtual = useVirtualRows({
    scroller,
    count: documents.length,
    height: () => rowHeight,
    keyOf: (index) => `${documents[index]?.ns ?? ''} ${documents[index]?.id ?? String(index)}`,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (listed?.next === undefined || last < listed.documents.length - 60) return;
    const timer = setTimeout(() => void read(listed, 500));
    return () => {
      clearTimeout(timer);
    };
  }, [last, listed, read]);
  const open = (change: DocumentChange | undefined): void => {
    if (change !== undefined) void showDocument(branch, change.ns, change.id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const next = listKey(event, at, documents.length, page);
    if (next !== undefined) {
      setAt(next);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter') open(documents[at]);
    else return;
    event.preventDefault();
  };
  return (
    <section className="feed feed-net" aria-label="Net effect">
      {listed?.complete === false ? (
        <div className="banner">
          <span className="hatch-box hatch" aria-hidden="true" />
          <span>Not complete: some of what was written is not known yet. There may be more than is listed.</span>
        </div>
      ) : null}
      {problem === undefined ? null : <p className="feed-note">{problem}</p>}
      {listed !== undefined && documents.length === 0 ? (
        <p className="feed-note">
          {listed.complete ? `Nothing differs from ${branch.parent ?? 'main'}.` : 'Nothing is known to differ yet.'}
        </p>
      ) : null}
      <div
        className="feed-grid"
        role="listbox"
        aria-label="Documents that differ"
        aria-busy={listed === undefined}
        aria-activedescendant={documents[at] === undefined ? undefined : `net-${String(at)}`}
        tabIndex={0}
        ref={scroller}
        onKeyDown={onKeyDown}
      >
        <div className="feed-all" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const change = documents[item.index];
            return change === undefined ? null : (
              <div
                key={item.key}
                className="frow net"
                role="option"
                id={`net-${String(item.index)}`}
                aria-selected={item.index === at}
                style={{ transform: `translateY(${String(item.start)}px)` }}
                onClick={() => {
                  setAt(item.index);
                  open(change);
                }}
              >
                <KindMark kind={change.kind} />
                <span className="ns cut">
                  <i>{collectionName(change.ns)}</i> {idText(change.id)}
                </span>
                <NetText change={change} />
                {change.conflict ? (
                  <span className="con-n c-con">
                    <Icon name="conflict" small />
                    conflict
                  </span>
                ) : (
                  <span />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

function NetText({ change }: { readonly change: DocumentChange }) {
  const [whole] = change.fields;
  if (whole?.path.length === 0 && whole.order !== true) {
    const image = whole.branch ?? whole.base;
    const fields = image === undefined ? '' : plural(fieldCount(fromBase64(image)), 'field');
    return (
      <span className="chg cut">
        <i>
          {change.kind === 'removed' ? 'removed, ' : 'new, '}
          {fields}
        </i>
      </span>
    );
  }
  const shown = change.fields.slice(0, 3);
  const more = change.fields.length - shown.length;
  return (
    <span className="chg cut">
      {shown.map((field) => (
        <FieldChangeText key={JSON.stringify(field.path)} field={fieldText(field)} />
      ))}
      {more > 0 ? <i>{`+${plural(more, 'field')}`}</i> : null}
    </span>
  );
}

function fieldText({ path, base, branch, order }: DocumentChange['fields'][number]): FieldText {
  const types = [base, branch].map((bson) => (bson === undefined ? '' : typeName(fromBase64(bson)))) as [
    string,
    string,
  ];
  return {
    path: pathText(path),
    ...(base === undefined ? {} : { before: plainBson(base, 80) }),
    ...(branch === undefined ? {} : { after: plainBson(branch, 80) }),
    ...(base !== undefined && branch !== undefined && types[0] !== types[1] ? { types } : {}),
    ...(order === true ? { order } : {}),
  };
}
