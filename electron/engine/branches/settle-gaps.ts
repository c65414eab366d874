import { settleByComparison } from '../changes/verify.ts';
import type { GapRecord } from '../home/records.ts';
import type { LocalBranch } from './local-branch.ts';
import { mainId, type Workspace } from './workspace.ts';

/** Gaps that an exact comparison can settle. */
const settleable: readonly GapRecord['kind'][] = ['log', 'images', 'folded'];
const lookEveryMs = 2_000;

export interface GapSettling {
  /** Settles what is open for this branch, or gives up waiting after `ms`. */
  settleSoon(branch: LocalBranch, ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** Settles gaps in the background, one branch at a time, by comparing exactly. */
export function settleGaps(workspace: Workspace, onSettled: () => void): GapSettling {
  const running = new Map<string, Promise<void>>();
  let stopped = false;

  const settle = (branch: LocalBranch): Promise<void> => {
    const { _id } = branch.record;
    let job = running.get(_id);
    if (!job) {
      job = settleBranch(workspace, branch)
        .then((any) => {
          if (any) onSettled();
        })
        .catch((error: unknown) => workspace.log(`comparison of ${branch.record.name}: ${String(error)}`))
        .finally(() => running.delete(_id));
      running.set(_id, job);
    }
    return job;
  };

  /** What runs already may have looked before the last gap was marked: it is waited for, and then looked again. */
  const settleFromNow = async (branch: LocalBranch): Promise<void> => {
    await running.get(branch.record._id);
    await settle(branch);
  };

  const timer = setInterval(() => {
    if (stopped) return;
    for (const branch of workspace.live.values()) void settle(branch);
  }, lookEveryMs);
  timer.unref();

  return {
    async settleSoon(branch, ms) {
      await Promise.race([settleFromNow(branch), new Promise((resolve) => setTimeout(resolve, ms).unref())]);
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}

async function settleBranch(workspace: Workspace, branch: LocalBranch): Promise<boolean> {
  const { gaps } = workspace.home;
  const open = await gaps.find({ branch: branch.record._id, settled: false, kind: { $in: [...settleable] } }).toArray();
  if (open.length === 0) return false;
  // Nothing is compared with main's past: a gap there is told, and children are compared with what it is now.
  if (branch.record._id !== mainId) {
    const parent = await workspace.parentOf(branch);
    const everything = open.some(({ ns }) => ns === undefined);
    const namespaces = everything ? [undefined] : [...new Set(open.map(({ ns }) => ns))];
    for (const ns of namespaces) await settleByComparison(workspace.home, branch, parent, ns);
  }
  await gaps.updateMany({ _id: { $in: open.map(({ _id }) => _id) } }, { $set: { settled: true, to: new Date() } });
  return true;
}
