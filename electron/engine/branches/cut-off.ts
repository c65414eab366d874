import { ForkyardError } from '../../../shared/errors.ts';
import { recoverPlan, type Recovered } from '../adopt/recover.ts';
import { History } from '../home/history.ts';
import { PlanStore, type PlanRecord } from '../home/plans.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

const patienceMs = 30_000;
const pauseMs = 100;

/** Settles a plan whose apply was cut off: it is whole or not at all, and the log says which. */
export async function settleCutOff(
  workspace: Workspace,
  parent: LocalBranch,
  plan: PlanRecord,
): Promise<Recovered['outcome']> {
  const branch = await workspace.home.branches.findOne({ _id: plan.branchId });
  const history = branch ? new History(workspace.home, plan.branchId) : undefined;
  const { outcome } = await parent.guarded(() => recoverPlan(workspace.home, plan, parent, history));
  workspace.log(`${plan._id} was cut off: ${outcome}`);
  if (outcome === 'applied') return outcome;
  const became = outcome === 'not applied' ? 'nothing of it was applied' : 'could only be taken back in part';
  await workspace.logEntry({
    kind: 'recover',
    branch: plan.branchName,
    branchId: plan.branchId,
    text: `An adoption from ${plan.branchName} into ${plan.parentName} was cut off and ${became}`,
  });
  return outcome;
}

/**
 * A server ended while a plan was applied, its parent's or home: waits until both run again, then settles the plan.
 * @returns the log's entry, where all of it was applied
 * @throws ForkyardError `write_refused` where nothing of it was; what cannot be settled by now is so at the next start
 */
export async function settleAfterRestart(
  workspace: Workspace,
  planId: string,
  cause: unknown,
): Promise<string | undefined> {
  const store = new PlanStore(workspace.home);
  const deadline = performance.now() + patienceMs;
  let problem = cause;
  for (; performance.now() < deadline; await new Promise((resolve) => setTimeout(resolve, pauseMs))) {
    try {
      const plan = await store.find(planId);
      const parent = plan && (await workspace.running(plan.parentId));
      if (!parent) continue;
      if (plan.state === 'applied') return plan.entry;
      const outcome = await parent.exclusively(() => settleCutOff(workspace, parent, plan));
      if (outcome === 'applied') return (await store.find(planId))?.entry;
      throw refused(plan, outcome, cause);
    } catch (error) {
      const waits = isUnreachable(error) || (error instanceof ForkyardError && error.code === 'branch_not_live');
      if (!waits) throw error;
      problem = error;
    }
  }
  throw problem;
}

function refused(plan: PlanRecord, outcome: Exclude<Recovered['outcome'], 'applied'>, cause: unknown): ForkyardError {
  const what = `A database server ended while changes of ${plan.branchName} were applied to ${plan.parentName}`;
  if (outcome === 'not applied')
    return new ForkyardError('write_refused', `${what}; nothing of it was applied.`, {
      hint: 'It runs again: apply the plan once more.',
      retry: true,
      cause,
    });
  return new ForkyardError('write_refused', `${what}; they could only be taken back in part.`, {
    hint: 'The log of the branch tells which documents were written; compare again.',
    cause,
  });
}
