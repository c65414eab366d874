import type { BranchRow, Change } from '../../shared/api.ts';
import { collectionName } from '../bson/plain.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { clock } from '../shell/time.ts';
import type { RowProps } from './feed-row.tsx';
import type { FeedRow } from './rows.ts';

/** A stretch of history that is not known, in its place in the feed. */
export function GapRow({ row, ...place }: RowProps & { readonly row: Extract<FeedRow, { kind: 'gap' }> }) {
  const { change } = row;
  return (
    <div
      className="fgap"
      role="row"
      id={place.id}
      aria-rowindex={place.index}
      aria-level={1}
      aria-selected={place.selected}
      style={{ transform: `translateY(${String(place.top)}px)` }}
      onClick={() => place.onSelect(change.seq)}
    >
      <span className="hatch" role="gridcell">
        <span className="sr">Not known</span>
      </span>
      <div className="fgap-text" role="gridcell">
        <p>
          <b>
            History gap here
            {change.ns === undefined ? '' : `, in ${collectionName(change.ns)}`}
            {stretchText(change)}
          </b>
        </p>
        <p className="soft cut">{reasonText(change)} Review compares exactly.</p>
      </div>
      <span role="gridcell">
        {/* Chosen with the row by keys: the list has one tab stop. */}
        <Button tabIndex={-1} aria-pressed={place.selected} onClick={() => place.onSelect(change.seq)}>
          Why
        </Button>
      </span>
    </div>
  );
}

/** Why a stretch of history is not known, what that means, and what knows better. */
export function GapBody({ change, branch }: { readonly change: Change; readonly branch: BranchRow }) {
  const where = change.ns === undefined ? branch.name : collectionName(change.ns);
  const sandbox = branch.parent !== undefined;
  return (
    <>
      <div className="detail-body">
        <div className="sec">Why</div>
        <p className="detail-none">{reasonText(change)}</p>
        <div className="sec">What is not known</div>
        <p className="detail-none">
          Which writes reached {where}
          {stretchText(change)}, in what order and by whom. Other rows are whole.
        </p>
        <div className="sec">What is known all the same</div>
        <p className="detail-none">
          {sandbox
            ? `What ${where} holds now. Review reads it document by document and compares it with ${branch.parent ?? 'main'}.`
            : `What ${where} holds now. A sandbox forked from here has all of it.`}
        </p>
      </div>
      <div className="foot-s">
        {sandbox ? <Button onClick={() => runCommand(commands.goReview, branch)}>Compare in Review</Button> : null}
      </div>
    </>
  );
}

function reasonText({ detail = {} }: Change): string {
  return typeof detail['reason'] === 'string' ? detail['reason'] : 'Some writes could not be recorded.';
}

/** `, 14:21:05 to 14:21:19` where it is known when the record stopped and went on again. */
function stretchText({ detail = {} }: Change): string {
  const { from, to } = detail;
  return typeof from === 'string' && typeof to === 'string' ? `, ${clock(from)} to ${clock(to)}` : '';
}
