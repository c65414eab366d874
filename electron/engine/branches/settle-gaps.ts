import { ForkyardError } from '../../../shared/errors.ts';
import { verify, type Verification, type VerifyOptions } from '../changes/verify.ts';
import type { GapRecord } from '../home/records.ts';
import type { LocalBranch } from './local-branch.ts';
import { mainId } from './main-branch.ts';
import { Turns } from './turns.ts';
import type { Workspace } from './workspace.ts';

/** Gaps that an exact comparison can settle. */
const settleable: readonly GapRecord['kind'][] = ['log', 'images', 'folded'];
const lookEveryMs = 2_000;

export interface GapSettling {
  /** Settles what is open for this branch, or gives up waiting after `ms`. */
  settleSoon(branch: LocalBranch, ms: number): Promise<void>;
  /** Compares the whole branch exactly, which settles every gap of it. */
  verify(branch: LocalBranch, options: Omit<VerifyOptions, 'inTurn' | 'ns'>): Promise<Verification>;
  stop(): Promise<void>;
}

/** Settles gaps in the background, one branch at a time, by comparing exactly. */
export function settleGaps(workspace: Workspace, onSettled: () => void): GapSettling {
  const running = new Map<string, Promise<void>>();
  const turns = new Turns();
  const notes = new Turns();
  const ended = new AbortController();
  const inTurn: VerifyOptions['inTurn'] = (branchId, work) => notes.take(branchId, work);

  const settle = (branch: LocalBranch): Promise<void> => {
    const { _id } = branch.record;
    let job = running.get(_id);
    if (!job) {
      job = turns
        .take(_id, () => settleBranch(workspace, branch, { limit: 0, signal: ended.signal, inTurn }))
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
    for (const branch of workspace.live.values()) void settle(branch);
  }, lookEveryMs);
  timer.unref();

  return {
    async settleSoon(branch, ms) {
      await Promise.race([settleFromNow(branch), new Promise((resolve) => setTimeout(resolve, ms).unref())]);
    },
    async verify(branch, options) {
      const parent = branch.record._id === mainId ? undefined : await workspace.parentOf(branch);
      const signal = AbortSignal.any([options.signal, ended.signal]);
      const result = await turns.take(branch.record._id, async () => {
        const open = await openGaps(workspace, branch);
        const verification = await verify(workspace.home, branch, parent, { ...options, signal, inTurn });
        if (verification.unverified.length === 0) await markSettled(workspace, open);
        return verification;
      });
      onSettled();
      return result;
    },
    async stop() {
      ended.abort(new ForkyardError('engine_stopped', 'The engine was stopped.', { retry: true }));
      clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}

async function settleBranch(workspace: Workspace, branch: LocalBranch, options: VerifyOptions): Promise<boolean> {
  const open = await openGaps(workspace, branch);
  if (open.length === 0) return false;
  const isMain = branch.record._id === mainId;
  const parent = isMain ? undefined : await workspace.running(branch.record.parent!);
  // A parent that sleeps cannot be compared with: the gap stays open until it is back.
  if (!isMain && !parent) return false;
  const everything = open.some(({ ns }) => ns === undefined);
  const namespaces = everything ? [undefined] : [...new Set(open.map(({ ns }) => ns))];
  let anySettled = false;
  for (const ns of namespaces) {
    const { isUnsettled } = await verify(workspace.home, branch, parent, { ...options, ns });
    // What did not stand still is looked at again.
    if (isUnsettled) continue;
    anySettled = true;
    await markSettled(workspace, everything ? open : open.filter((gap) => gap.ns === ns));
  }
  return anySettled;
}

async function openGaps({ home }: Workspace, branch: LocalBranch): Promise<GapRecord[]> {
  return home.gaps.find({ branch: branch.record._id, settled: false, kind: { $in: [...settleable] } }).toArray();
}

async function markSettled({ home }: Workspace, gaps: readonly GapRecord[]): Promise<void> {
  await home.gaps.updateMany({ _id: { $in: gaps.map(({ _id }) => _id) } }, { $set: { settled: true, to: new Date() } });
}
