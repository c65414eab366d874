import { useEffect, useRef } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Button, Hatch } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { parentOf, useApp } from '../store/app.ts';
import { AdoptionList, AdoptionsButton } from './adoptions.tsx';
import { ConflictView } from './conflict-view.tsx';
import { DecisionBar } from './decision-bar.tsx';
import { DocumentPane } from './document-pane.tsx';
import { PickList } from './pick-list.tsx';
import { placesOf, refreshReview, reviewOf, useReview } from './review.ts';
import type { ReviewState } from './review.ts';
import { tallyOf } from './tally.ts';
import { gapSentence, sentence } from './words.ts';
import './review.css';

const quietMs = 400;

/** What a branch changed, against its parent as it is now. */
export function Review({ branch }: { readonly branch: BranchRow }) {
  const review = useReview(branch.id);
  useFreshReview(branch);
  const { diff, error } = review;
  if (diff === undefined) {
    return (
      <div className="body" aria-busy={error === undefined}>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    );
  }
  const nothing = !review.counting && diff.summary.length === 0 && diff.schema.length === 0;
  if (nothing) return <NoChanges branch={branch} review={review} />;
  if (review.view === 'conflicts' && placesOf(review).length > 0)
    return <ConflictView branch={branch} review={review} />;
  const tally = tallyOf(review);
  return (
    <div className="body review">
      <header className="sentence">
        <div className="sentence-text">
          {review.counting ? <h2 aria-busy="true">Counting what changed</h2> : <Sentence diff={diff} />}
          <Compared review={review} parent={diff.parent} />
        </div>
        <AdoptionsButton branch={branch} />
        {tally.undecided === 0 ? (
          placesOf(review).length === 0 ? null : (
            <Button onClick={() => runCommand(commands.decide, branch)}>Look at decisions</Button>
          )
        ) : (
          <Button look="conflict" icon="conflict" onClick={() => runCommand(commands.decide, branch)}>
            Decide {plural(tally.undecided, 'conflict')}
          </Button>
        )}
      </header>
      <PickList branch={branch} review={review} />
      <DocumentPane branch={branch} review={review} parent={diff.parent} />
      <DecisionBar branch={branch} tally={tally} counting={review.counting} />
    </div>
  );
}

function Sentence({ diff }: { readonly diff: NonNullable<ReviewState['diff']> }) {
  return (
    <h2>
      {sentence(diff).map((parts, index) => (
        <span key={index}>
          {index === 0 ? '' : ', '}
          {parts.map((part, at) => (
            <span key={at}>
              {part.words === '' ? `${part.number} ` : <b>{part.number}</b>} {part.words}
              {at < parts.length - 1 ? ' ' : ''}
            </span>
          ))}
        </span>
      ))}
    </h2>
  );
}

function Compared({ review, parent }: { readonly review: ReviewState; readonly parent: string }) {
  const { diff, error } = review;
  if (diff === undefined) return null;
  const gap = gapSentence(diff);
  return (
    <p>
      {gap === undefined ? null : <Hatch />}
      <span className="cut">
        Compared with {parent} at {clock(diff.comparedAt)}. {gap}
        {error === undefined ? '' : ` ${error.message}`}
      </span>
    </p>
  );
}

function NoChanges({ branch, review }: { readonly branch: BranchRow; readonly review: ReviewState }) {
  const { diff } = review;
  if (diff === undefined) return null;
  const gap = gapSentence(diff);
  return (
    <section className="blank" aria-label="Review">
      {diff.complete ? (
        <>
          <h2>Nothing to adopt</h2>
          <p className="soft">
            {branch.name} holds no change that {diff.parent} does not have. Compared at {clock(diff.comparedAt)}.
          </p>
          <AdoptionList branch={branch} />
        </>
      ) : (
        <>
          <h2>Not known yet</h2>
          <p className="soft">
            <Hatch /> {gap}
          </p>
        </>
      )}
    </section>
  );
}

/** Compares when the view opens and again when the branch or its parent has moved, a little after the last write. */
function useFreshReview(branch: BranchRow): void {
  const parentSeq = useApp((app) => parentOf(app.branches, branch)?.seq);
  const open = useApp((app) => app.connection.kind === 'open');
  const { id, name, seq, state: branchState } = branch;
  const state = useRef<{ running: boolean; again: boolean }>({ running: false, again: false });
  useEffect(() => {
    if (!open) return;
    const run = async (): Promise<void> => {
      const now = state.current;
      if (now.running) {
        now.again = true;
        return;
      }
      now.running = true;
      do {
        now.again = false;
        await refreshReview({ id, name });
      } while (now.again);
      now.running = false;
    };
    // What is opened is shown at once; what moves is compared when it has come to rest.
    const timer = setTimeout(() => void run(), reviewOf(id).diff === undefined ? 0 : quietMs);
    return () => {
      clearTimeout(timer);
    };
  }, [id, name, seq, branchState, parentSeq, open]);
}
