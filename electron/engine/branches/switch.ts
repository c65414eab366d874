import type { ClientSession } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { logEntry } from '../home/log-entry.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

/** How long the branch that gave its name away is kept. */
const backupMs = 24 * 60 * 60_000;

export interface Switch {
  /** The branch that has the name and the port now. */
  readonly out: BranchRecord;
  /** The one that gets them; by id, since its record may not be active so far. */
  readonly into: string;
  /** What the one that steps back is called from now on. */
  readonly backup: string;
  /** Starts the server of the one that comes, on this port, and resolves when its capture is live. */
  readonly start: (port: number | undefined) => Promise<Arrival>;
  readonly kind: 'reset' | 'undo';
  readonly text: string;
  /** The entry that this takes back. */
  readonly undoes?: string;
}

export interface Arrival {
  readonly branch: LocalBranch;
  /** What else changes in its record. */
  readonly set: Partial<BranchRecord>;
}

export interface Switched {
  readonly record: BranchRecord;
  readonly backup: BranchRecord;
  readonly entry: LogRecord;
}

/**
 * Lets a name, its port and its credentials go from one branch to another; the first stays as a sleeping backup with its
 * files and its history. Whoever is connected is cut off and finds the other branch under the same URI. In the catalog it
 * is one transaction: an engine that is killed on the way leaves the old branch or the new one.
 */
export function switchBranches(workspace: Workspace, change: Switch): Promise<Switched> {
  const { out } = change;
  const work = workspace.turns.take(out._id, () => run(workspace, change));
  return workspace.restarts.hold(out._id, work);
}

async function run(workspace: Workspace, change: Switch): Promise<Switched> {
  const out = await stillNamed(workspace, change.out);
  await workspace.restarts.over(out._id);
  const branch = workspace.live.get(out._id);
  await branch?.idle();
  await workspace.stopRunning(out._id, 'stop');
  let started: LocalBranch | undefined;
  try {
    const arrival = await change.start(out.port);
    started = arrival.branch;
    const switched = await commit(workspace, { ...change, out }, arrival);
    started.record = switched.record;
    workspace.watch(started);
    workspace.options.onLog(switched.entry);
    await letIn(workspace, started);
    return { ...switched, record: started.record };
  } catch (error) {
    const now = await workspace.patiently(() => workspace.home.branches.findOne({ _id: out._id }));
    // Once the catalog has the new one, that is what there is.
    if (branch && now?.name === out.name) {
      if (started) await workspace.stopBranch(started, 'kill').catch(() => undefined);
      await workspace.openBranch(out).catch((problem: unknown) => workspace.failed(out, problem));
    }
    throw error;
  }
}

/** The name is the new one's by now: should its server end here, its restart lets its users in. */
async function letIn(workspace: Workspace, started: LocalBranch): Promise<void> {
  try {
    await workspace.makeDueAccounts(started);
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    workspace.log(`the accounts of ${started.record.name}: ${String(error)}`);
  }
}

async function stillNamed(workspace: Workspace, { _id, name }: BranchRecord): Promise<BranchRecord> {
  const record = await workspace.home.branches.findOne({ _id, name, active: true });
  if (record) return record;
  throw new ForkyardError('branch_not_live', `${name} was just ended or reset.`, { retry: true });
}

async function commit(workspace: Workspace, change: Switch, { branch, set: own }: Arrival): Promise<Switched> {
  const { home } = workspace;
  const { out, into, kind } = change;
  const { port } = branch.server;
  const entry = logEntry({
    kind,
    branch: out.name,
    branchId: into,
    text: change.text,
    swap: { now: into, before: out._id },
  });
  const steps = async (session: ClientSession) => {
    await home.branches.updateOne(
      { _id: out._id },
      {
        $set: { name: change.backup, state: 'asleep', expiresAt: new Date(Date.now() + backupMs) },
        $unset: { port: 1, note: 1 },
      } as never,
      { session },
    );
    const set: Partial<BranchRecord> = {
      ...own,
      name: out.name,
      state: 'live',
      active: true,
      port,
      accounts: out.accounts,
      access: out.access,
      accountsDue: true,
      ...(out.expiresAt ? { expiresAt: out.expiresAt } : {}),
    };
    const unset = { goneAt: 1, note: 1, ...(out.expiresAt ? {} : { expiresAt: 1 }) };
    await home.branches.updateOne({ _id: into }, { $set: set, $unset: unset } as never, { session });
    await home.log.insertOne(entry, { session });
    if (change.undoes !== undefined) {
      await home.log.updateOne({ _id: change.undoes }, { $set: { undoneBy: entry._id } }, { session });
    }
  };
  await home.client.withSession((session) =>
    session.withTransaction(() => steps(session), { writeConcern: { w: 1, j: true } }),
  );
  const read = (_id: string) => workspace.patiently(() => home.branches.findOne({ _id }));
  const [record, backup] = await Promise.all([into, out._id].map(read));
  return { record: record!, backup: backup!, entry };
}
