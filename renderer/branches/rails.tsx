import { memo } from 'react';
import type { BranchState } from '../../shared/api.ts';
import type { TreeRow } from './order.ts';

/** Height of a tree row, as in the style sheet. */
export const rowHeight = 52;
const nodeOffset = 17;
const firstX = 22;
const stepX = 18;

const nodeX = (level: number): number => firstX + (level - 1) * stepX;
const nodeY = (row: number): number => row * rowHeight + nodeOffset;

/** Where a row's text starts, clear of its node. */
export function textX(level: number): number {
  return nodeX(level) + 16;
}

/** How a branch's node looks: `active` while something writes to it. */
export type NodeLook = BranchState | 'active';

/** The yard: main is a thick track, a sandbox a siding that leaves its parent's, a deadline a buffer stop. */
export const Rails = memo(function Rails({
  rows,
  looks,
}: {
  readonly rows: readonly TreeRow[];
  readonly looks: readonly NodeLook[];
}) {
  const height = rows.length * rowHeight;
  return (
    <svg className="rails" width={nodeX(8)} height={height} aria-hidden="true">
      {rows.map((row, at) => (
        <Track key={row.branch.id} rows={rows} at={at} />
      ))}
      {rows.map((row, at) => (
        <Node
          key={row.branch.id}
          x={nodeX(row.level)}
          y={nodeY(at)}
          look={looks[at] ?? row.branch.state}
          main={row.level === 1}
        />
      ))}
    </svg>
  );
});

function Track({ rows, at }: { readonly rows: readonly TreeRow[]; readonly at: number }) {
  const row = rows[at];
  if (row === undefined) return null;
  const x = nodeX(row.level);
  const y = nodeY(at);
  if (row.parent === undefined) {
    return rows.length === 1 ? null : (
      <path className="rail-main" d={`M${String(x)} ${String(y)}V${String(nodeY(rows.length - 1) + 20)}`} />
    );
  }
  const from = nodeX(row.level - 1);
  const lastChild = rows.findLastIndex((other) => other.parent === at);
  const end = lastChild < 0 ? y + 22 : nodeY(lastChild) - 28;
  const leaves = `M${String(from)} ${String(y - 30)}C${String(from)} ${String(y - 12)} ${String(x)} ${String(y - 18)} ${String(x)} ${String(y)}`;
  const stop = row.branch.expiresAt === undefined || lastChild >= 0 ? '' : `M${String(x - 4)} ${String(end)}h8`;
  return (
    <>
      <path className="rail-sb siding" d={leaves} />
      <path className="rail-sb" d={`M${String(x)} ${String(y)}V${String(end)}${stop}`} />
    </>
  );
}

function Node({
  x,
  y,
  look,
  main,
}: {
  readonly x: number;
  readonly y: number;
  readonly look: NodeLook;
  readonly main: boolean;
}) {
  if (main) return <circle className="node node-main" cx={x} cy={y} r={5} />;
  if (look === 'active') {
    return (
      <>
        <circle className="node-halo" cx={x} cy={y} r={7.5} />
        <circle className="node-live" cx={x} cy={y} r={5.5} />
      </>
    );
  }
  return (
    <>
      <circle className={`node is-${look}`} cx={x} cy={y} r={4.5} />
      {look === 'asleep' ? <path className="rail-sb" d={`M${String(x - 2)} ${String(y)}h4`} /> : null}
      {look === 'failed' ? <path className="rail-fail" d={`M${String(x - 2)} ${String(y - 2)}l4 4m0 -4l-4 4`} /> : null}
    </>
  );
}

/** The same node as a picture of its own, for a heading. */
export function BranchNode({ look, main }: { readonly look: NodeLook; readonly main: boolean }) {
  return (
    <svg className="head-node" width="18" height="18" aria-hidden="true">
      <Node x={9} y={9} look={look} main={main} />
    </svg>
  );
}
