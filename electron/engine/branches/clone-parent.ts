import { join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import type { BranchRecord } from '../home/records.ts';
import { dataFiles } from '../mongod/clone.ts';
import { freeBytes } from '../mongod/disk-space.ts';
import { emptyTrash } from './discard.ts';
import { cloneCold, type GateResult } from './fork-gate.ts';
import { branchFolder } from './folders.ts';
import type { Workspace } from './workspace.ts';

/**
 * Clones a branch's files into the folder of another: under the writer lock where its server runs, else as they lie.
 * @throws ForkyardError `open_transactions`, `no_space`, `branch_not_live`
 */
export async function cloneParent(
  workspace: Workspace,
  parent: BranchRecord,
  record: Pick<BranchRecord, '_id'>,
  endTransactions: boolean,
): Promise<GateResult> {
  const to = branchFolder(workspace.data, record._id).db;
  await makeRoom(workspace, branchFolder(workspace.data, parent._id).db);
  await workspace.disk.require('this fork', freshServerBytes);
  for (;;) {
    const running = await workspace.running(parent._id);
    if (running) return running.gate.clone(to, endTransactions);
    // Nobody starts the parent's server while its files are copied.
    const cold = await workspace.turns.take(parent._id, async () => {
      if (workspace.live.has(parent._id)) return undefined;
      if (!parent.pin) await requireCold(workspace, parent);
      const scratch = join(workspace.data, 'branches', `.${record._id}.probe`);
      return cloneCold(branchFolder(workspace.data, parent._id).db, to, scratch);
    });
    if (cold) return cold;
  }
}

/** @throws ForkyardError `branch_not_live` unless the branch's server is stopped and its files are whole */
async function requireCold(workspace: Workspace, { _id, name }: BranchRecord): Promise<void> {
  const state = (await workspace.home.branches.findOne({ _id }))?.state ?? 'gone';
  if (state === 'asleep' || state === 'expired') return;
  throw new ForkyardError('branch_not_live', `${name} is ${state} and cannot be forked now.`, { retry: true });
}

/** Where a full copy might not fit, the trash goes first. With plenty of space nobody counts. */
async function makeRoom(workspace: Workspace, files: string): Promise<void> {
  const free = await freeBytes(workspace.data);
  if (free > plentyBytes) return;
  const needed = (await dataFiles(files)).reduce((sum, file) => sum + file.bytes, 0);
  if (free < needed * 2) await emptyTrash(workspace);
}

const plentyBytes = 32e9;
/** What a server writes at its start, also where the blocks of its files are shared. */
const freshServerBytes = 16 * 1024 * 1024;
