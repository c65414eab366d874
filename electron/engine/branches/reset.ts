import { randomBytes } from 'node:crypto';
import { ForkyardError } from '../../../shared/errors.ts';
import { History } from '../home/history.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { dropInheritedAccounts } from '../mongod/accounts.ts';
import { lastInheritedTime } from '../mongod/fork-time.ts';
import { lastWriteTime } from '../mongod/replica.ts';
import { cloneParent } from './clone-parent.ts';
import { noteForkSequence } from './fork.ts';
import type { GateResult } from './fork-gate.ts';
import { startBranchServer, type LocalBranch } from './local-branch.ts';
import { unmake, whileItRuns, type Making } from './making.ts';
import { switchBranches, type Arrival, type Switched } from './switch.ts';
import type { Workspace } from './workspace.ts';

/**
 * Gives a sandbox its parent's present state (an empty one becomes empty again) under the same name, port and credentials.
 * What it was stays as a sleeping backup branch, with its history, for a day.
 * @throws ForkyardError `main_protected`, `branch_not_live`, `open_transactions`, `no_space`, `mongod_failed`
 */
export async function reset(workspace: Workspace, name: string): Promise<Switched> {
  const old = await workspace.record(name);
  const parent = await resettable(workspace, old);
  return workspace.whileOpen((signal) => make(workspace, old, parent, signal));
}

async function resettable(
  workspace: Workspace,
  { name, parent: parentId, state }: BranchRecord,
): Promise<BranchRecord> {
  if (parentId === undefined) {
    throw new ForkyardError('main_protected', 'main cannot be reset: it came from no other branch.', {
      hint: 'Name a sandbox.',
    });
  }
  if (state !== 'live' && state !== 'asleep') {
    throw new ForkyardError('branch_not_live', `${name} is ${state} and cannot be reset now.`, {
      hint: state === 'expired' ? `Bring it back with "forkyard wake ${name}" first.` : `See "forkyard branches".`,
    });
  }
  const parent = await workspace.home.branches.findOne({ _id: parentId });
  if (parent) return parent;
  throw new ForkyardError('branch_not_live', `${name} cannot be reset: the branch it came from is gone.`, {
    hint: `Discard it with "forkyard discard ${name}" and fork another branch.`,
  });
}

async function make(
  workspace: Workspace,
  old: BranchRecord,
  parent: BranchRecord,
  signal: AbortSignal,
): Promise<Switched> {
  const fresh: BranchRecord = {
    _id: randomBytes(6).toString('hex'),
    name: old.name,
    parent: parent._id,
    state: 'starting',
    access: old.access,
    accounts: old.accounts,
    forkedAt: new Date(),
    ttlIndexes: old.ttlIndexes,
    ...(old.empty ? { empty: old.empty } : {}),
    active: false,
  };
  await workspace.home.branches.insertOne(fresh);
  const making: Making = { work: [] };
  try {
    const prepared = new History(workspace.home, fresh._id).create();
    making.work.push(prepared.catch(() => undefined));
    const cloned = old.empty ? undefined : await cloneParent(workspace, parent, fresh, false);
    await prepared;
    const switched = await switchBranches(workspace, {
      out: old,
      into: fresh._id,
      backup: await freeName(workspace, old.name, 'reset'),
      start: (port) => open(workspace, { ...fresh, ...(port === undefined ? {} : { port }) }, cloned, making, signal),
      kind: 'reset',
      text: `Reset ${old.name} to what ${parent.name} is now`,
    });
    const branch = workspace.live.get(fresh._id);
    if (branch) void noteForkSequence(workspace, branch.record, old.empty ? undefined : workspace.live.get(parent._id));
    return switched;
  } catch (error) {
    const made = await workspace.patiently(() => workspace.home.branches.findOne({ _id: fresh._id }));
    throw made?.state === 'starting' ? await unmake(workspace, fresh._id, making, error) : error;
  }
}

/** Starts the clone on the old one's port, without users so far: nobody gets in before it has the name. */
async function open(
  workspace: Workspace,
  record: BranchRecord,
  cloned: GateResult | undefined,
  making: Making,
  signal: AbortSignal,
): Promise<Arrival> {
  const { server, client } = await startBranchServer(workspace, record, cloned === undefined, signal);
  Object.assign(making, { server, client });
  const opening = (async (): Promise<Arrival> => {
    const clusterTime = await (cloned ? lastInheritedTime(client) : lastWriteTime(client));
    await dropInheritedAccounts(client, workspace.credentials.user);
    const branch = await workspace.attach({ ...record, port: server.port }, server, client, true);
    return { branch, set: { disk: cloned?.disk ?? 'copied', forkPoint: { clusterTime } } };
  })();
  making.work.push(opening.catch(() => undefined));
  return whileItRuns(server, signal, opening);
}

/**
 * Takes a reset (or the undo of one) back: the backup gets its name, port and credentials back, and the other one becomes
 * the backup.
 * @throws ForkyardError `undo_refused` where one of the two is gone or the name is another's
 */
export async function switchBack(workspace: Workspace, entry: LogRecord): Promise<Switched> {
  const { now, before } = entry.swap!;
  const [out, into] = await Promise.all([now, before].map((_id) => workspace.home.branches.findOne({ _id })));
  if (!into || into.state === 'trashed' || into.state === 'failed') {
    throw new ForkyardError('undo_refused', `What ${entry.branch} was before is gone, so this cannot be taken back.`, {
      hint: 'A backup is kept for a day, unless it is discarded earlier.',
    });
  }
  if (out?.name !== entry.branch || !out.active) {
    throw new ForkyardError('undo_refused', `${entry.branch} was discarded or reset again since.`, {
      hint: `Its state of before is in ${into.name}: fork or wake that.`,
    });
  }
  return workspace.whileOpen(async (signal) =>
    switchBranches(workspace, {
      out,
      into: into._id,
      backup: await freeName(workspace, out.name, 'undo'),
      start: async (port) => ({ branch: await startAgain(workspace, into, port, signal), set: {} }),
      kind: 'undo',
      text: `Gave ${entry.branch} back what it was in ${into.name}`,
      undoes: entry._id,
    }),
  );
}

function startAgain(
  workspace: Workspace,
  record: BranchRecord,
  port: number | undefined,
  signal: AbortSignal,
): Promise<LocalBranch> {
  return workspace.turns.take(record._id, async () => {
    const running = workspace.live.get(record._id);
    if (running) await workspace.stopBranch(running, 'stop');
    const wanted = { ...record, state: 'starting' as const, ...(port === undefined ? {} : { port }) };
    const { server, client } = await startBranchServer(workspace, wanted, false, signal);
    return workspace.attach({ ...wanted, port: server.port }, server, client);
  });
}

/** A name for the one that steps back, by day and minute. Names end at 63 characters. */
async function freeName(workspace: Workspace, name: string, before: string): Promise<string> {
  const minute = new Date().toISOString().slice(0, 16).replace(/[-:]/g, '').replace('T', '-');
  for (let count = 1; ; count += 1) {
    const ending = `-before-${before}-${minute}${count === 1 ? '' : `-${count}`}`;
    const wanted = name.slice(0, 63 - ending.length) + ending;
    if (!(await workspace.home.branches.findOne({ name: wanted, active: true }))) return wanted;
  }
}
