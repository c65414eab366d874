import type { Output } from '../../shared/api.ts';
import { collectionName } from '../bson/plain.ts';
import { CountCells, CountHeads } from '../shell/count-table.tsx';
import type { CountRow } from '../shell/count-table.tsx';
import { Icon } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import { call } from '../store/engine.ts';

/** A plan that goes back, with the first of its items. */
export interface ReadPlan extends Output<'log.undoPlan'> {
  readonly read: Output<'plan.items'>['items'];
}

const readItems = 1_000;

export async function readPlan(made: Promise<Output<'log.undoPlan'>>): Promise<ReadPlan> {
  const plan = await made;
  const { items } = await call('plan.items', { plan: plan.plan, limit: readItems });
  return { ...plan, read: items };
}

/** What a plan will do, by collection, and what it leaves as it is. */
export function BackPlanBody({ plan }: { readonly plan: ReadPlan }) {
  const rows = new Map<string, CountRow>();
  const schema = plan.read.filter((item) => item.id === undefined);
  for (const item of plan.read) {
    if (item.id === undefined) continue;
    const row = rows.get(item.ns) ?? { added: 0, modified: 0, removed: 0 };
    row[item.expect === undefined ? 'added' : item.result === undefined ? 'removed' : 'modified'] += 1;
    rows.set(item.ns, row);
  }
  const more = plan.items - plan.read.length;
  return (
    <>
      {plan.items === 0 ? <p className="soft">Nothing would change.</p> : null}
      {rows.size === 0 ? null : (
        <CountTable head="Collection" rows={[...rows].map(([ns, row]) => ({ name: collectionName(ns), ...row }))} />
      )}
      {more > 0 ? <p className="soft">and {plural(more, 'more change')} not counted above</p> : null}
      {schema.length === 0 ? null : (
        <ul className="back-schema">
          {schema.map(({ ns, action }, at) => (
            <li key={`${ns} ${action} ${String(at)}`}>{action}</li>
          ))}
        </ul>
      )}
      <LeftOut sentences={plan.leftOut} />
    </>
  );
}

export function CountTable({
  head,
  rows,
}: {
  readonly head: string;
  readonly rows: readonly (CountRow & { readonly name: string })[];
}) {
  return (
    <table className="ptable">
      <CountHeads first={head} />
      <tbody>
        {rows.map(({ name, ...row }) => (
          <tr key={name}>
            <th scope="row" className="mono cut">
              {name}
            </th>
            <CountCells row={row} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What stays as it is, and why. */
export function LeftOut({ sentences }: { readonly sentences: readonly string[] | undefined }) {
  if (sentences === undefined || sentences.length === 0) return null;
  return (
    <ul className="back-left" aria-label="What stays as it is">
      {sentences.map((sentence) => (
        <li key={sentence} className="note">
          <Icon name="alert" />
          <span>{sentence}</span>
        </li>
      ))}
    </ul>
  );
}
