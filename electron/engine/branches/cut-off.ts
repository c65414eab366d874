import { ForkyardError } from '../../../shared/errors.ts';
import { dropAsides, recoverPlan, type Recovered } from '../adopt/recover.ts';
import { History } from '../home/history.ts';
import { PlanStore, type PlanRecord } from '../home/plans.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

const patienceMs = 30_000;
const pauseMs = 100;
const longestPauseMs = 2_000;

type Outcome = Recovered['outcome'];

/** Settles every plan whose apply was cut off with the engine; what cannot be settled now is so when its server runs. */
export async function settleLeft(workspace: Workspace): Promise<void> {
  const store = new PlanStore(workspace.home);
  await dropAsides(workspace.home, workspace.live).catch(report(workspace));
  for (const plan of await store.plans.find({ state: 'applying' }).toArray()) {
    const settled = await settle(workspace, plan._id).catch(report(workspace));
    if (!settled) void untilSettled(workspace, plan._id).catch(report(workspace));
  }
}

/**
 * A server ended while a plan was applied, its parent's or home: waits until both run again, then settles the plan.
 * @returns the log's entry, where all of it was applied
 * @throws ForkyardError `write_refused` where nothing of it was; `mongod_failed` where that is not known after half a minute:
 * it is settled as soon as the servers run, and the log says how
 */
export async function settleAfterRestart(
  workspace: Workspace,
  planId: string,
  cause: unknown,
): Promise<string | undefined> {
  const settling = untilSettled(workspace, planId);
  settling.catch(report(workspace));
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, patienceMs, undefined)));
  const settled = await Promise.race([settling, patience]).finally(() => clearTimeout(timer));
  if (settled?.outcome === 'applied') return settled.plan.entry;
  throw settled ? refused(settled.plan, settled.outcome, cause) : unknown(cause);
}

interface Settled {
  readonly plan: PlanRecord;
  readonly outcome: Outcome;
}

/** Tries until it is settled, or the workspace is closed, or the branch that it was applied to is gone. */
function untilSettled(workspace: Workspace, planId: string): Promise<Settled | undefined> {
  return workspace.whileOpen(async (signal) => {
    for (let pause = pauseMs; !signal.aborted; pause = Math.min(pause * 1.2, longestPauseMs)) {
      try {
        const settled = await settle(workspace, planId);
        if (settled) return settled;
        const plan = await new PlanStore(workspace.home).find(planId);
        if (!plan || !(await workspace.home.branches.findOne({ _id: plan.parentId }))) return undefined;
      } catch (error) {
        const waits = isUnreachable(error) || (error instanceof ForkyardError && error.retry);
        if (!waits) throw error;
      }
      await sleep(pause, signal);
    }
    return undefined;
  });
}

/** @returns undefined where the branch that it was applied to does not run */
async function settle(workspace: Workspace, planId: string): Promise<Settled | undefined> {
  const store = new PlanStore(workspace.home);
  const found = await store.find(planId);
  const parent = found && (await workspace.running(found.parentId));
  if (!parent) return undefined;
  return parent.exclusively(async () => {
    const plan = await store.find(planId);
    if (!plan) return undefined;
    if (plan.state === 'applied') await dropAsides(workspace.home, workspace.live);
    if (plan.state !== 'applying') return { plan, outcome: outcomeOf(plan) };
    const outcome = await settleCutOff(workspace, parent, plan);
    return { plan: (await store.find(planId)) ?? plan, outcome };
  });
}

/** It is whole or not at all, and the log says which. */
async function settleCutOff(workspace: Workspace, parent: LocalBranch, plan: PlanRecord): Promise<Outcome> {
  const branch = await workspace.home.branches.findOne({ _id: plan.branchId });
  const history = branch ? new History(workspace.home, plan.branchId) : undefined;
  const { outcome, said } = await parent.guarded(() => recoverPlan(workspace.home, plan, parent, history));
  workspace.log(`${plan._id} was cut off: ${outcome}`);
  if (said) workspace.options.onLog(said);
  return outcome;
}

function outcomeOf({ state }: PlanRecord): Outcome {
  return state === 'applied' ? 'applied' : state === 'partly' ? 'partly applied' : 'not applied';
}

function refused(plan: PlanRecord, outcome: Exclude<Outcome, 'applied'>, cause: unknown): ForkyardError {
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

function unknown(cause: unknown): ForkyardError {
  return new ForkyardError(
    'mongod_failed',
    'A database server ended while changes were applied, and does not run again yet: whether they were is not known.',
    { hint: 'Once it runs they are there whole or not at all; "forkyard log" says which.', cause },
  );
}

function report(workspace: Workspace) {
  return (error: unknown): undefined => {
    workspace.log(`what was cut off is not settled yet: ${String(error)}`);
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
