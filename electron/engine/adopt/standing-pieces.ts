import { sameBytes } from '../../../shared/bson/value.ts';
import { notUpToDate, settleNow, type Side } from '../changes/side.ts';
import { readCurrent } from '../changes/touched.ts';
import type { PlanItemRecord, PlanRecord, PlanStore } from '../home/plans.ts';
import { collect, type Piece } from './pieces.ts';

export interface Standing {
  /** Pieces that were written and not taken back, in order. */
  readonly pieces: Piece[];
  /** False where nobody can tell any more: the history lost what happened, and others wrote the documents since. */
  readonly isKnown: boolean;
}

/**
 * What of a plan that was cut off stands in the parent. Its history holds each transaction exactly once, so it says which were
 * committed, whatever the documents became since. Where the change log was lost in between, the documents themselves say it of
 * those that the history does not hold.
 * @throws ForkyardError `branch_failed` where the parent's history is not up to date
 */
export async function standingPieces(store: PlanStore, plan: PlanRecord, parent: Side): Promise<Standing> {
  const { transactions = [], startSeq = 0 } = plan;
  if (transactions.length === 0) return { pieces: [], isKnown: true };
  if (!(await settleNow(parent, 30_000))) throw notUpToDate(parent);
  const { changes } = parent.history;
  const hasGap = await changes.hasGapAfter(startSeq);
  // The last one of a piece that was committed says whether it stands.
  const outcomes = new Map<string, { readonly piece: Piece; stands: boolean; isTold: boolean }>();
  for (const { id, from, to, back } of transactions) {
    const place = `${from}-${to}`;
    const outcome = outcomes.get(place) ?? { piece: { from, to }, stands: false, isTold: false };
    outcomes.set(place, outcome);
    outcome.isTold = await changes.hasTransaction(id, startSeq);
    if (outcome.isTold) outcome.stands = !back;
  }
  const all = [...outcomes.values()];
  let isKnown = true;
  for (const outcome of all) {
    if (outcome.isTold || !hasGap) continue;
    const told = await toldByDocuments(parent, await collect(store, plan, outcome.piece));
    if (told === undefined) isKnown = false;
    else outcome.stands = told;
  }
  return { pieces: all.filter(({ stands }) => stands).map(({ piece }) => piece), isKnown };
}

/** Whether items were written, all of them or none in one transaction; undefined where documents contradict each other, or say nothing. */
async function toldByDocuments(parent: Side, items: readonly PlanItemRecord[]): Promise<boolean | undefined> {
  let [written, unwritten] = [0, 0];
  for (let start = 0; start < items.length; start += pageItems) {
    const page = items.slice(start, start + pageItems);
    const now = await readCurrent(
      parent,
      page.map((row) => ({ row, ns: row.ns })),
    );
    for (const item of page) {
      if (sameBytes(now.get(item), item.result)) written += 1;
      else if (sameBytes(now.get(item), item.expect)) unwritten += 1;
    }
  }
  return written > 0 === unwritten > 0 ? undefined : written > 0;
}

const pageItems = 500;
