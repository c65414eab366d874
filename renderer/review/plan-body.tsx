import type { BranchRow } from '../../shared/api.ts';
import { collectionName, idText } from '../bson/plain.ts';
import { Code } from '../shell/code.tsx';
import { CopyButton } from '../shell/controls.tsx';
import { CountCells, CountHeads } from '../shell/count-table.tsx';
import type { CountRow } from '../shell/count-table.tsx';
import { Icon } from '../shell/icons.tsx';
import { count, plural } from '../shell/numbers.ts';
import type { AdoptPlan } from './adopt.ts';
import { isDecided } from './decisions.ts';
import { reviewOf } from './review.ts';

/** What a plan changes, what its dry run found, and the text that would do it. */
export function PlanBody({ plan, branch }: { readonly plan: AdoptPlan | undefined; readonly branch: BranchRow }) {
  if (plan === undefined) return <div className="plan plan-wait" aria-busy="true" />;
  const lines = plan.mongosh.trimEnd();
  return (
    <>
      <div className="plan">
        <section aria-label="What will change">
          <h3>What will change in {plan.parent}</h3>
          <ItemTable plan={plan} />
          <LeftBehind plan={plan} branch={branch} />
        </section>
        <section aria-label="Dry run">
          <h3>Dry run</h3>
          {plan.checks.map((check) => (
            <div className="check" key={check.name}>
              <span className={check.ok ? 'ok' : 'att'}>
                <Icon name={check.ok ? 'check' : 'alert'} />
              </span>
              <div>
                <p>
                  <span className="sr">{check.ok ? 'Passed: ' : 'Look at this: '}</span>
                  {check.name === wholeRun ? check.detail : sentenceCase(check.name)}
                </p>
                {check.name === wholeRun ? null : <p>{check.detail}</p>}
              </div>
            </div>
          ))}
          {plan.checks.length === 0 ? (
            <p className="soft">No index or validator of {plan.parent} is concerned.</p>
          ) : null}
        </section>
      </div>
      <div className="plan-code-head">
        <h3 className="h3">As mongosh</h3>
        <span className="push" />
        <CopyButton look="bare" label="mongosh text" text={() => plan.mongosh}>
          Copy
        </CopyButton>
      </div>
      <Code text={lines} language="shell" label="What runs, as mongosh" />
    </>
  );
}

/** The check that stands for the run as a whole: the heading says its name already. */
const wholeRun = 'dry run';

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ItemTable({ plan }: { readonly plan: AdoptPlan }) {
  const rows = new Map<string, CountRow>();
  const sum: CountRow = { added: 0, modified: 0, removed: 0 };
  for (const item of plan.read) {
    const name = item.id === undefined ? 'Schema' : item.ns;
    const row = rows.get(name) ?? { added: 0, modified: 0, removed: 0 };
    const column = columnOf(item.action);
    row[column] += 1;
    sum[column] += 1;
    rows.set(name, row);
  }
  const more = plan.items - plan.read.length;
  return (
    <table className="ptable">
      <CountHeads first="Collection" />
      <tbody>
        {[...rows].map(([name, row]) => (
          <tr key={name}>
            <th scope="row" className={name === 'Schema' ? '' : 'mono'}>
              {name === 'Schema' ? name : collectionName(name)}
            </th>
            <CountCells row={row} />
          </tr>
        ))}
        <tr className="sum">
          <th scope="row">{plural(plan.items, 'change')}</th>
          <CountCells row={sum} />
        </tr>
        {more > 0 ? (
          <tr>
            <td colSpan={4}>and {count(more)} more that are not counted above</td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}

function columnOf(action: string): keyof CountRow {
  if (/^(insert|create|the new)\b/i.test(action)) return 'added';
  return /^(delete|drop|the dropped)\b/i.test(action) ? 'removed' : 'modified';
}

function LeftBehind({ plan, branch }: { readonly plan: AdoptPlan; readonly branch: BranchRow }) {
  const { conflicts, decisions } = reviewOf(branch.id);
  if (plan.conflicts === 0) return null;
  const names = conflicts.filter((document) => !isDecided(decisions, document)).map(({ id }) => idText(id));
  return (
    <>
      <h3 className="plan-left">Left in {branch.name}</h3>
      <p className="soft plan-left-text">
        {plural(plan.conflicts, 'conflict')}, not decided{names.length === 0 ? '' : ': '}
        <span className="mono">{names.slice(0, 6).join(', ')}</span>
        {names.length > 6 ? ` and ${count(names.length - 6)} more` : ''}.
      </p>
    </>
  );
}
