import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import { History } from '../home/history.ts';
import { logEntry } from '../home/log-entry.ts';
import { PlanStore } from '../home/plans.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { branchFolder, trashFolder } from './folders.ts';
import { changeAndLog } from './logged-change.ts';
import type { Workspace } from './workspace.ts';

const trashMs = 60 * 60_000;
/** A removal takes much less. */
const removalMs = 60_000;

/**
 * Ends a sandbox: its server stops and its URI refuses at once, its name is free; the files stay in the trash for an
 * hour (with `now` not at all). Refused before anything happens for main and for a branch that others came from.
 */
export async function discard(
  workspace: Workspace,
  name: string,
  now: boolean,
): Promise<{ record: BranchRecord; trashedUntil: Date | undefined }> {
  const record = await workspace.record(name);
  const ended = await inTurn(workspace, record, () => endSandbox(workspace, record, now));
  return { record: ended, trashedUntil: ended.goneAt };
}

/** When no other job runs on the branch, whether or not its server does. @throws ForkyardError `branch_not_live` */
export function inTurn<T>(workspace: Workspace, { _id }: BranchRecord, work: () => Promise<T>): Promise<T> {
  const branch = workspace.live.get(_id);
  return branch ? branch.exclusively(work) : workspace.turns.take(_id, work);
}

/**
 * Ends a sandbox, see {@link discard}; called in its turn.
 * @returns the record as it is now; without `goneAt` where nothing is left of it
 */
export async function endSandbox(workspace: Workspace, record: BranchRecord, now: boolean): Promise<BranchRecord> {
  await requireDiscardable(workspace, record);
  const branch = workspace.live.get(record._id);
  await branch?.idle();
  const changes = await (branch?.history ?? new History(workspace.home, record._id)).touched.count();
  const goneAt = new Date(Date.now() + (now ? removalMs : trashMs));
  // Marked and said first: should the engine be killed on the way, the next one goes on ending it instead of starting it.
  const { record: marked } = await changeAndLog(workspace, record._id, {
    set: { state: 'trashed', active: false, goneAt },
    unset: ['expiresAt'],
    entry: logEntry({
      kind: 'discard',
      branch: record.name,
      branchId: record._id,
      items: changes,
      ...(now ? {} : { until: goneAt }),
      text: `Discarded ${record.name} with ${changes === 1 ? '1 changed document' : `${changes.toLocaleString('en')} changed documents`}`,
    }),
  });
  await workspace.stopRunning(record._id, 'kill');
  if (now) return workspace.patiently(() => purge(workspace, marked));
  await moveToTrash(workspace, marked);
  return marked;
}

async function requireDiscardable(workspace: Workspace, record: BranchRecord): Promise<void> {
  const now = await workspace.home.branches.findOne({ _id: record._id });
  if (now?.name !== record.name) {
    throw new ForkyardError('branch_not_live', `${record.name} was just reset.`, { retry: true });
  }
  if (record.parent === undefined) {
    throw new ForkyardError('main_protected', 'main cannot be discarded: it holds your data.', {
      hint: 'Discard a sandbox instead; "forkyard branches" lists them.',
    });
  }
  if (record.state === 'starting') {
    throw new ForkyardError('branch_not_live', `${record.name} is just being made.`, {
      hint: 'Discard it when it is there.',
      retry: true,
    });
  }
  const children = await workspace.children(record._id);
  if (children.length === 0) return;
  const names = children.map((child) => child.name).join(', ');
  throw new ForkyardError(
    'has_children',
    `${record.name} cannot be discarded while ${names} ${children.length === 1 ? 'depends' : 'depend'} on it.`,
    {
      hint: `Discard ${names} first.`,
      details: { children: children.map((child) => child.name) },
    },
  );
}

async function moveToTrash(workspace: Workspace, { _id }: BranchRecord): Promise<void> {
  const to = trashFolder(workspace.data, _id);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(branchFolder(workspace.data, _id).root, to).catch(missing);
}

/** The sandbox that lies in the trash under this name, the one discarded last. */
export async function inTrash(workspace: Workspace, name: string): Promise<BranchRecord | undefined> {
  const [record] = await workspace.home.branches
    .find({ name, state: 'trashed', goneAt: { $gt: new Date() } })
    .sort({ goneAt: -1 })
    .limit(1)
    .toArray();
  return record;
}

/**
 * Takes a discarded sandbox out of the trash: the same files, credentials and history, and `lifeMs` to live. Its server is not
 * started here.
 * @throws ForkyardError `name_taken` where the name is another's by now
 */
export async function takeFromTrash(
  workspace: Workspace,
  { _id, name }: BranchRecord,
  lifeMs: number,
): Promise<LogRecord> {
  return workspace.turns.take(_id, async () => {
    if (await workspace.home.branches.findOne({ name, active: true })) {
      throw new ForkyardError(
        'name_taken',
        `${name} cannot be brought back: there is another branch of that name by now.`,
        {
          hint: `Discard that one first with "forkyard discard ${name}".`,
        },
      );
    }
    await rename(trashFolder(workspace.data, _id), branchFolder(workspace.data, _id).root).catch(missing);
    const expiresAt = new Date(Date.now() + lifeMs);
    const { entry } = await changeAndLog(workspace, _id, {
      where: { state: 'trashed' },
      set: { state: 'asleep', active: true, expiresAt },
      unset: ['goneAt'],
      entry: logEntry({ kind: 'restore', branch: name, branchId: _id, text: `Brought ${name} back from the trash` }),
      undone: { kind: 'discard', branchId: _id, undoneBy: { $exists: false } },
    });
    return entry;
  });
}

/** An engine that was killed may not have moved the files, or have moved them back already; or the disk needed their room. */
function missing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Removes what lies in the trash, before its time: the disk is needed. */
export async function emptyTrash(workspace: Workspace): Promise<void> {
  const now = new Date();
  const trashed = await workspace.home.branches.find({ state: 'trashed', goneAt: { $gt: now } }).toArray();
  for (const record of trashed) {
    const { _id, name } = record;
    const text = `${name} was removed from the trash to make room`;
    await remove(workspace, record, logEntry({ kind: 'gone', branch: name, branchId: _id, text })).catch(
      (error: unknown) => {
        // Brought back meanwhile, or removed by another who needs room.
        if (!(error instanceof ForkyardError && error.code === 'unknown_branch')) throw error;
      },
    );
  }
}

/**
 * Removes what was kept: an ended branch, or a pin. It is marked and said first: cut off behind that, the next engine goes on
 * removing it.
 * @throws ForkyardError `unknown_branch` where it is not as it was found any more
 */
export async function remove(workspace: Workspace, found: BranchRecord, entry: LogRecord): Promise<void> {
  const { _id, state, goneAt } = found;
  const { record } = await changeAndLog(workspace, _id, {
    where: { state, ...(goneAt ? { goneAt } : {}) },
    set: { state: 'trashed', active: false, goneAt: new Date() },
    unset: ['note'],
    entry,
  });
  await workspace.patiently(() => purge(workspace, record));
}

/** Removes everything but the log's summary. */
export async function purge(workspace: Workspace, record: BranchRecord): Promise<BranchRecord> {
  await rm(branchFolder(workspace.data, record._id).root, { recursive: true, force: true });
  await rm(trashFolder(workspace.data, record._id), { recursive: true, force: true });
  await new History(workspace.home, record._id).drop();
  const store = new PlanStore(workspace.home);
  // Plans that were applied stay: their undo needs the bytes.
  const unused = await store.plans
    .find({ branchId: record._id, state: { $ne: 'applied' } }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of unused) await store.drop(_id);
  await workspace.home.branches.deleteOne({ _id: record._id });
  workspace.options.onBranches();
  const { goneAt: _goneAt, ...rest } = record;
  return { ...rest, state: 'trashed', active: false };
}
