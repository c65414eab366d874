import type { BranchRow } from '../../shared/api.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { count, listed, plural } from '../shell/numbers.ts';
import { reviewOf, select } from './review.ts';
import { everything, nothing } from './selection.ts';
import type { Tally } from './tally.ts';

/** What is chosen, and the one button that takes it further. */
export function DecisionBar({
  branch,
  tally,
  counting,
}: {
  readonly branch: BranchRow;
  readonly tally: Tally;
  readonly counting: boolean;
}) {
  const parts = [
    tally.documents === 0 ? '' : plural(tally.documents, 'document'),
    tally.schema === 0 ? '' : plural(tally.schema, 'schema change'),
  ].filter((part) => part !== '');
  const { selection } = reviewOf(branch.id);
  const isNothing = tally.chosen === 0;
  if (counting) {
    return (
      <div className="foot" role="region" aria-label="Decision">
        <p aria-live="polite">Counting what changed. Documents can be looked at meanwhile.</p>
      </div>
    );
  }
  return (
    <div className="foot" role="region" aria-label="Decision">
      <p aria-live="polite">
        <b>
          {count(tally.chosen)} of {count(tally.total)} selected
        </b>
        <br />
        {isNothing ? 'Nothing is selected.' : `${listed(parts)}.`}
        {tally.undecided > 0 ? ` Conflicts stay here until decided.` : ''}
      </p>
      <span className="push" />
      {isNothing || selection !== everything ? (
        <Button look="bare" size="medium" onClick={() => select(branch.id, everything)}>
          Select all
        </Button>
      ) : null}
      {isNothing ? null : (
        <Button look="bare" size="medium" onClick={() => select(branch.id, nothing)}>
          Select none
        </Button>
      )}
      <AdoptButton branch={branch} tally={tally} />
    </div>
  );
}

export function AdoptButton({ branch, tally }: { readonly branch: BranchRow; readonly tally: Tally }) {
  return (
    <Button
      look="primary"
      size="medium"
      icon="adopt"
      keys="mod+enter"
      disabled={tally.chosen === 0}
      onClick={() => runCommand(commands.adopt, branch)}
    >
      Adopt {plural(tally.chosen, 'change')}
    </Button>
  );
}
