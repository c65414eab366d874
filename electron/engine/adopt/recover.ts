import type { Side } from '../changes/side.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { logEntry } from '../home/log-entry.ts';
import { PlanStore, type PlanRecord } from '../home/plans.ts';
import type { LogRecord } from '../home/records.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import { finishPlan } from './apply.ts';
import { collect, sessionId, takeBackPiece } from './pieces.ts';
import { SchemaRun } from './schema-apply.ts';
import { namespacesOf } from './schema-steps.ts';
import { standingPieces } from './standing-pieces.ts';

export interface Recovered {
  readonly plan: string;
  readonly outcome: 'applied' | 'not applied' | 'partly applied';
  /** What the log says of it; undefined where it says the plan itself. */
  readonly said: LogRecord | undefined;
}

/**
 * Settles a plan whose apply was cut off with the engine or a server: all of it stands = the adoption is finished; nothing =
 * it never was; some = that is taken back, guarded, and so is what nobody can tell of any more. Cut off itself it can be done
 * again: what it takes back is noted too.
 * @throws ForkyardError `branch_failed` where the parent's history is not up to date; what a server that goes away throws
 */
export async function recoverPlan(
  home: Home,
  plan: PlanRecord,
  parent: Side,
  history: History | undefined,
): Promise<Recovered> {
  const store = new PlanStore(home);
  const { pieces: standing, isKnown } = await standingPieces(store, plan, parent);
  const writes = await countWrites(store, plan);
  let covered = 0;
  for (const piece of standing) covered += (await collect(store, plan, piece)).length;
  const schema = new SchemaRun(home, parent, plan);
  const at = plan.schemaAt ?? 0;
  // Without a document to write, the step that was begun tells how far it was.
  const written = writes === covered && (writes > 0 || (at > 0 && at >= (plan.documentsAt ?? plan.schema.length)));
  const session = parent.client.startSession();
  const endWork = parent.capture.beginWork({ session: sessionId(session), namespaces: namespacesOf(plan) });
  try {
    if (isKnown && written && (await succeeds(() => schema.forward()))) {
      await finishPlan({ home, history }, store, plan);
      await schema.end();
      return { plan: plan._id, outcome: 'applied', said: undefined };
    }
    let isWhole = isKnown;
    for (const piece of standing.reverse()) {
      if (!(await succeeds(() => takeBackPiece({ parent, store, plan, session }, piece)))) isWhole = false;
    }
    if (!(await succeeds(() => schema.back()))) isWhole = false;
    const said = await conclude(home, store, plan, isWhole);
    return { plan: plan._id, outcome: isWhole ? 'not applied' : 'partly applied', said };
  } finally {
    endWork();
    await session.endSession();
  }
}

/** That it was taken back is noted and said in one: cut off again, it is settled again or has been said. */
async function conclude(home: Home, store: PlanStore, plan: PlanRecord, isWhole: boolean): Promise<LogRecord> {
  const became = isWhole ? 'nothing of it was applied' : 'it could only be taken back in part';
  const record = logEntry({
    kind: 'recover',
    branch: plan.branchName,
    branchId: plan.branchId,
    text: `${whatItWas(plan)} was cut off and ${became}`,
  });
  const session = home.client.startSession();
  try {
    session.startTransaction({ writeConcern: { w: 'majority', j: true } });
    await home.log.insertOne(record, { session });
    const state = isWhole ? 'ready' : 'partly';
    await store.plans.updateOne({ _id: plan._id }, { $set: { state } }, { session });
    await session.commitTransaction();
  } finally {
    await session.endSession();
  }
  return record;
}

function whatItWas({ kind, undoes, branchName, parentName }: PlanRecord): string {
  switch (kind) {
    case 'adopt':
      return `An adoption from ${branchName} into ${parentName}`;
    case 'undo':
      return `The undo of ${undoes ?? 'an adoption'} in ${parentName}`;
    case 'restore':
      return `A restore of ${parentName}`;
    case 'undo-changes':
      return `An undo of changes in ${parentName}`;
  }
}

/** Whether the work could be done. @throws where a server went away, so that nobody knows */
async function succeeds(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return false;
  }
}

/** Drops what plans that went through had set aside, where the engine or a server died before that was done. */
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
