import { settleNow, type Side } from '../changes/side.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, reverse, type PlanItemRecord, type PlanRecord } from '../home/plans.ts';
import { finishPlan } from './apply.ts';
import { SchemaRun } from './schema-apply.ts';
import { asItWas, writeItems } from './write.ts';

export interface Recovered {
  readonly plan: string;
  readonly outcome: 'applied' | 'not applied' | 'partly applied';
}

/**
 * Settles a plan whose apply was cut off with the engine. The parent's history holds each transaction exactly once, so
 * it says which were committed, whatever the documents became since: all of them = the adoption is finished; none = it
 * never was; some = they are taken back, guarded.
 */
export async function recoverPlan(
  home: Home,
  plan: PlanRecord,
  parent: Side,
  history: History | undefined,
): Promise<Recovered> {
  const store = new PlanStore(home);
  await settleNow(parent, 30_000);
  const committed = [];
  for (const transaction of plan.transactions ?? []) {
    if (await parent.history.hasTransaction(transaction.id, plan.startSeq ?? 0)) committed.push(transaction);
  }
  const writes = await countWrites(store, plan);
  const covered = new Set<number>();
  for (const { from, to } of committed) {
    for await (const batch of store.items(plan, from, to))
      for (const item of batch) if (item.writes) covered.add(item.index);
  }
  const schema = new SchemaRun(home, parent, plan);
  const at = plan.schemaAt ?? 0;
  // Without a document to write, the step that was begun tells how far it was.
  const written = writes === covered.size && (writes > 0 || (at > 0 && at >= (plan.documentsAt ?? plan.schema.length)));
  const whole =
    written &&
    (await schema.forward().then(
      () => true,
      () => false,
    ));
  if (whole) {
    await finishPlan({ home, history }, store, plan);
    await schema.end();
    return { plan: plan._id, outcome: 'applied' };
  }
  let outcome: Recovered['outcome'] = 'not applied';
  for (const { from, to } of [...committed].reverse()) {
    if (!(await takeBackRange(store, plan, parent, from, to))) outcome = 'partly applied';
  }
  await schema.back().catch(() => (outcome = 'partly applied'));
  const state = outcome === 'not applied' ? 'ready' : 'partly';
  await store.plans.updateOne({ _id: plan._id }, { $set: { state } });
  return { plan: plan._id, outcome };
}

/** Drops what a plan that went through had set aside, where the engine died before it did. */
export async function dropAsides(home: Home, parents: ReadonlyMap<string, Side>): Promise<void> {
  const { plans } = new PlanStore(home);
  for (const plan of await plans.find({ asides: true, state: 'applied' }).toArray()) {
    const parent = parents.get(plan.parentId);
    if (parent) await new SchemaRun(home, parent, plan).end();
  }
}

async function countWrites(store: PlanStore, plan: PlanRecord): Promise<number> {
  let writes = 0;
  for await (const batch of store.items(plan)) writes += batch.filter((item) => item.writes).length;
  return writes;
}

async function takeBackRange(
  store: PlanStore,
  plan: PlanRecord,
  parent: Side,
  from: number,
  to: number,
): Promise<boolean> {
  const items: PlanItemRecord[] = [];
  for await (const batch of store.items(plan, from, to))
    items.push(...batch.filter((item) => item.writes).map(reverse));
  const session = parent.client.startSession();
  try {
    session.startTransaction({ writeConcern: { w: 'majority', j: true } });
    await writeItems(parent.client, session, items, asItWas);
    await session.commitTransaction();
    return true;
  } catch {
    await session.abortTransaction().catch(() => undefined);
    return false;
  } finally {
    await session.endSession();
  }
}
