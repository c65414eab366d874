import { useEffect, useMemo, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { documentBytes, documentValue, fromBase64, toBase64 } from '../../shared/bson/value.ts';
import { mergeDocument } from '../../shared/changes/compare.ts';
import { errorBody } from '../../shared/errors.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { idText } from '../bson/plain.ts';
import type { LinesJob } from '../bson/lines-job.ts';
import { useLines } from '../bson/use-lines.ts';
import { plural } from '../shell/numbers.ts';
import { call } from '../store/engine.ts';
import { decisionOf } from './decisions.ts';
import type { ConflictPlace, Decisions } from './decisions.ts';
import type { ReviewState } from './review.ts';
import { hasField } from './selection.ts';
import type { Selection } from './selection.ts';

type Sides = Output<'diff.document'>;

/** The document that is being decided, as it would be in the parent. What is not decided stays as the parent has it. */
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
      <Merged key={sides.of} review={review} parent={parent} ns={ns} id={id} sides={sides.sides} />
    </section>
  );
}

function Merged({
  review,
  parent,
  ns,
  id,
  sides,
}: {
  readonly review: ReviewState;
  readonly parent: string;
  readonly ns: string;
  readonly id: string;
  readonly sides: Sides;
}) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { decisions, selection, strict } = review;
  const merged = useMemo(
    () => mergedDocument(sides, { ns, id, decisions, selection, strict }),
    [sides, ns, id, decisions, selection, strict],
  );
  const job = useMemo(
    (): LinesJob => ({ base: sides.parent, target: merged.result, form: 'tree', options: { opened, noteTypes: true } }),
    [sides.parent, merged.result, opened],
  );
  const { lines } = useLines(job);
  const left = merged.undecided === 0 ? '' : `, ${plural(merged.undecided, 'place')} not decided: as ${parent} has it`;
  return (
    <>
      <h3>
        {idText(id)} as it would be in {parent}
        <span className="quiet">{left}</span>
      </h3>
      {merged.problem === undefined ? null : <p className="doc-note c-rem">{merged.problem}</p>}
      {merged.problem === undefined && merged.result === undefined ? (
        <p className="doc-note">It would not be in {parent}.</p>
      ) : (
        <DocumentView
          label="Document as it would be"
          lines={lines ?? []}
          onOpenFold={(key) => setOpened((now) => new Set([...now, key]))}
        />
      )}
    </>
  );
}

interface Chosen {
  readonly ns: string;
  readonly id: string;
  readonly decisions: Decisions;
  readonly selection: Selection;
  readonly strict: boolean;
}

function mergedDocument(
  { base, parent, branch }: Sides,
  { ns, id, decisions, selection, strict }: Chosen,
): { readonly result: string | undefined; readonly undecided: number; readonly problem?: string } {
  const bytes = (bson: string | undefined) => (bson === undefined ? undefined : documentBytes(fromBase64(bson)));
  let undecided = 0;
  try {
    const { result } = mergeDocument(
      { base: bytes(base), parent: bytes(parent), branch: bytes(branch) },
      ({ path, class: merge }) => {
        if (merge !== 'divergent') return hasField(selection, ns, id, path) ? 'branch' : 'parent';
        const choice = decisionOf(decisions, { ns, id, path, base: undefined, parent: undefined, branch: undefined });
        if (choice === undefined) {
          undecided += 1;
          return 'parent';
        }
        return 'side' in choice ? choice.side : { value: fromBase64(choice.value) };
      },
      { strict },
    );
    return { result: result === undefined ? undefined : toBase64(documentValue(result)), undecided };
  } catch (error) {
    return { result: undefined, undecided, problem: errorBody(error).message };
  }
}
