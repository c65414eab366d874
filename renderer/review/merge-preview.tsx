import { useEffect, useMemo, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { idText } from '../bson/plain.ts';
import type { LinesJob } from '../bson/lines-job.ts';
import { useLines } from '../bson/use-lines.ts';
import { plural } from '../shell/numbers.ts';
import { call } from '../store/engine.ts';
import type { ConflictPlace, Side } from './decisions.ts';
import { mergedOrProblem } from './merged-document.ts';
import type { MergedDocument, Source } from './merged-document.ts';
import { resultLines } from './result-lines.ts';
import type { ResultLine } from './result-lines.ts';
import type { ReviewState } from './review.ts';
import { sideText } from './side-text.ts';

type Sides = Output<'diff.document'>;

/** The document that is being decided, as it would be in the parent, each new place with the side it comes from. */
export function MergePreview({
  branch,
  review,
  parent,
  place,
}: {
  readonly branch: BranchRow;
  readonly review: ReviewState;
  readonly parent: string;
  readonly place: ConflictPlace | undefined;
}) {
  const { ns, id } = place ?? {};
  const [sides, setSides] = useState<{ readonly of: string; readonly sides: Sides }>();
  const of = `${ns ?? ''}\n${id ?? ''}\n${review.diff?.comparedAt ?? ''}`;
  useEffect(() => {
    if (ns === undefined || id === undefined) return;
    let wanted = true;
    call('diff.document', { branch: branch.name, ns, id, ...(review.strict ? { strict: true } : {}) }).then(
      (answer) => (wanted ? setSides({ of, sides: answer }) : undefined),
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [branch.name, ns, id, of, review.strict]);
  if (ns === undefined || id === undefined || sides === undefined) return null;
  if (!sides.of.startsWith(`${ns}\n${id}\n`)) return null;
  return (
    <section className="conf-preview" aria-label="Result">
      <Preview
        key={sides.of}
        review={review}
        names={{ parent, branch: branch.name }}
        ns={ns}
        id={id}
        sides={sides.sides}
      />
    </section>
  );
}

type Names = Readonly<Record<Side, string>>;

function Preview({
  review,
  names,
  ns,
  id,
  sides,
}: {
  readonly review: ReviewState;
  readonly names: Names;
  readonly ns: string;
  readonly id: string;
  readonly sides: Sides;
}) {
  const { decisions, selection, strict } = review;
  const merged = useMemo(
    () => mergedOrProblem(sides, { ns, id, decisions, selection, strict }),
    [sides, ns, id, decisions, selection, strict],
  );
  const undecided = 'problem' in merged ? 0 : merged.undecided;
  return (
    <>
      <h3>
        {idText(id)} as it would be in {names.parent}
        {undecided === 0 ? null : (
          <span className="c-con"> {plural(undecided, 'place')} not decided, it is left out until then</span>
        )}
      </h3>
      {'problem' in merged ? (
        <p className="doc-note c-rem">{merged.problem}</p>
      ) : merged.result === undefined && undecided === 0 ? (
        <p className="doc-note">It would not be in {names.parent}.</p>
      ) : (
        <Lines merged={merged} names={names} />
      )}
    </>
  );
}

function Lines({ merged, names }: { readonly merged: MergedDocument; readonly names: Names }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { result, before, fields, sources } = merged;
  const job = useMemo(
    (): LinesJob => ({
      base: before,
      target: result,
      fields,
      form: 'tree',
      options: { opened, noteTypes: true },
    }),
    [before, result, fields, opened],
  );
  const { lines = [] } = useLines(job);
  const shown = useMemo(() => resultLines(lines, sources), [lines, sources]);
  const end = (line: ResultLine) => {
    const { source, note } = line;
    const field = fields[line.changes[0] ?? -1];
    if (source === undefined) return note;
    if (source !== 'open')
      return (
        <>
          <SideTag source={source} names={names} />
          {note === undefined ? null : <span className="push">{note}</span>}
        </>
      );
    const text = (side: Side): string => `${sideText(field?.[side], field?.base)} from ${names[side]}`;
    return (
      <span className="cut">
        {text('parent')}, or {text('branch')}
      </span>
    );
  };
  return (
    <DocumentView
      label="Document as it would be"
      look="result"
      lines={shown}
      end={end}
      onOpenFold={(key) => setOpened((now) => new Set([...now, key]))}
    />
  );
}

const rails: Readonly<Record<Source, string>> = {
  parent: 'm',
  branch: '',
  both: 'mb',
  mixed: 'mb',
  edited: 'none',
  open: 'none',
};

/** The rail of the side a value comes from: thick the parent, thin the branch. */
function SideTag({ source, names }: { readonly source: Exclude<Source, 'open'>; readonly names: Names }) {
  const words = {
    parent: names.parent,
    branch: names.branch,
    both: 'both alike',
    mixed: `${names.parent} and ${names.branch}`,
    edited: 'edited',
  };
  return (
    <span className={`side-tag ${rails[source]}`}>
      <span className="sr">, {source === 'both' || source === 'edited' ? '' : 'from '}</span>
      {words[source]}
    </span>
  );
}
