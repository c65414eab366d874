import { randomBytes } from 'node:crypto';
import { MongoServerError, type MongoClient } from 'mongodb';
import type { AccessLevel } from '../../../shared/api.ts';
import { branchName } from '../../../shared/branch-name.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { History } from '../home/history.ts';
import { logEntry } from '../home/log-entry.ts';
import type { BranchRecord } from '../home/records.ts';
import {
  connectionString,
  createAccount,
  dropInheritedAccounts,
  newAccount,
  type Account,
} from '../mongod/accounts.ts';
import { lastInheritedTime } from '../mongod/fork-time.ts';
import { lastWriteTime } from '../mongod/replica.ts';
import type { OpenTransaction } from '../mongod/transactions.ts';
import type { Server } from '../mongod/server.ts';
import { requireActorName } from './actor-name.ts';
import { cloneParent } from './clone-parent.ts';
import type { GateResult } from './fork-gate.ts';
import { startBranchServer, type LocalBranch } from './local-branch.ts';
import { changeAndLog } from './logged-change.ts';
import { mainName } from './main-branch.ts';
import { unmake, whileItRuns, type Making } from './making.ts';
import { Steps } from './steps.ts';
import type { Workspace } from './workspace.ts';

export interface ForkRequest {
  readonly name: string;
  readonly from: string;
  /** Null keeps it. */
  readonly ttlMs: number | null;
  readonly access: AccessLevel;
  readonly actor: string;
  readonly empty: boolean;
  readonly ttlIndexes: boolean;
  readonly endTransactions: boolean;
  /** It is put back to a moment next: cut off before that is done, nothing of it stays. */
  readonly restoring?: true;
}

export interface ForkResult {
  readonly branch: LocalBranch;
  readonly uri: string;
  readonly ended: readonly OpenTransaction[];
  readonly timings: { lock_ms: number; copy_ms: number; boot_ms: number; capture_ready_ms: number; total_ms: number };
}

export function requireName(name: string): void {
  if (branchName.test(name)) return;
  throw new ForkyardError('name_invalid', `${JSON.stringify(name)} cannot be a branch's name.`, {
    hint: 'Use up to 63 letters, digits, dots, dashes and underscores, beginning with a letter or digit.',
  });
}

/**
 * Makes a sandbox: clones the parent's files under a writer lock, starts a server of its own on them, gives it its own
 * users, and answers when its capture is live, so that no write through the URI can be missed.
 * A failure leaves no files, no process and no row in the catalog.
 */
export async function fork(workspace: Workspace, request: ForkRequest): Promise<ForkResult> {
  requireName(request.name);
  requireActorName(request.actor);
  return workspace.whileOpen((signal) => make(workspace, request, signal));
}

async function make(workspace: Workspace, request: ForkRequest, signal: AbortSignal): Promise<ForkResult> {
  const started = performance.now();
  const parentRecord = await workspace.origin(request.from);
  const record = await reserve(workspace, request, parentRecord);
  const making: Making = { work: [] };
  const steps = new Steps(`forking ${record.name} from ${parentRecord.name}`, workspace.log);
  try {
    steps.begin('cloning the files');
    const history = new History(workspace.home, record._id);
    // Home's part goes on while files are cloned and the server boots.
    const prepared = history.create();
    making.work.push(prepared.catch(() => undefined));
    const cloned = request.empty
      ? undefined
      : await cloneParent(workspace, parentRecord, record, request.endTransactions);
    steps.begin('starting the server');
    const bootFrom = performance.now();
    const { server, client } = await startBranchServer(workspace, record, request.empty, signal);
    Object.assign(making, { server, client });
    const bootMs = performance.now() - bootFrom;
    steps.begin('making accounts and capture');
    const pinned = parentRecord.pin && parentRecord.forkPoint;
    const opening = openClone(workspace, making, {
      request,
      from: parentRecord.name,
      record,
      server,
      client,
      cloned,
      prepared,
      pinned,
    });
    making.work.push(opening.catch(() => undefined));
    const { branch, account, readyAt } = await whileItRuns(server, signal, opening);
    void noteForkSequence(workspace, branch.record, request.empty ? undefined : workspace.live.get(record.parent!));
    return {
      branch,
      uri: connectionString(server.port, account),
      ended: cloned?.ended ?? [],
      timings: {
        lock_ms: round(cloned?.lockMs ?? 0),
        copy_ms: round(cloned?.copyMs ?? 0),
        boot_ms: round(bootMs),
        capture_ready_ms: round(readyAt - started),
        total_ms: round(performance.now() - started),
      },
    };
  } catch (error) {
    steps.begin('taking away what was made');
    throw await unmake(workspace, record._id, making, error);
  } finally {
    steps.end();
  }
}

interface Clone {
  readonly request: ForkRequest;
  /** What it was forked from, a branch or a pin. */
  readonly from: string;
  readonly record: BranchRecord;
  readonly server: Server;
  readonly client: MongoClient;
  readonly cloned: GateResult | undefined;
  readonly prepared: Promise<void>;
  /** Where the pin that was forked left its branch. */
  readonly pinned: BranchRecord['forkPoint'];
}

/** Gives a clone whose server runs its own users and its capture, and tells the catalog and the log that it is there. */
async function openClone(
  workspace: Workspace,
  making: Making,
  { request, from, record, server, client, cloned, prepared, pinned }: Clone,
): Promise<{ branch: LocalBranch; account: Account; readyAt: number }> {
  const inherited = cloned && lastInheritedTime(client);
  const account = newAccount(request.actor, request.access);
  const { port } = server;
  // Side by side: what the engine sets up is in `admin` alone, which capture leaves out.
  const steps = [
    inherited ?? lastWriteTime(client),
    prepared.then(() => workspace.attach({ ...record, accounts: [account], port }, server, client, true)),
    dropInheritedAccounts(client, workspace.credentials.user).then(() => createAccount(client, account)),
  ] as const;
  // A failure is told only when all have ended: nothing is made any more while the rest is taken away.
  await Promise.allSettled(steps);
  const [clusterTime, branch] = await Promise.all(steps);
  const readyAt = performance.now();
  const disk = cloned?.disk ?? 'copied';
  const { _id, name } = record;
  const text = `Forked ${name} from ${from}${request.empty ? ', empty' : ''}`;
  const entry = logEntry({ kind: 'fork', branch: name, branchId: _id, text });
  making.entry = entry;
  // The last thing: from here on a server that ends is started again.
  await changeAndLog(workspace, _id, {
    set: { state: 'live', accounts: [account], port, disk, forkPoint: pinned ?? { clusterTime } },
    unset: [],
    entry,
  });
  return { branch, account, readyAt };
}

async function nameTaken(workspace: Workspace, name: string): Promise<ForkyardError> {
  const other = await workspace.home.branches.findOne({ name, active: true });
  const [what, remove] = other?.pin
    ? ['pin', 'remove it first with "forkyard unpin']
    : ['branch', 'discard it first with "forkyard discard'];
  return new ForkyardError('name_taken', `There is a ${what} "${name}" already.`, {
    hint: name === mainName ? 'Choose another name.' : `Choose another name, or ${remove} ${name}".`,
  });
}

async function reserve(workspace: Workspace, request: ForkRequest, parent: BranchRecord): Promise<BranchRecord> {
  const record: BranchRecord = {
    _id: randomBytes(6).toString('hex'),
    name: request.name,
    // The fork of a pin is compared with the branch that the pin is of: it left that when the pin was made.
    parent: parent.pin ? parent.parent! : parent._id,
    state: 'starting',
    access: request.access,
    accounts: [],
    forkedAt: new Date(),
    ...(request.ttlMs === null ? {} : { expiresAt: new Date(Date.now() + request.ttlMs) }),
    ttlIndexes: request.ttlIndexes,
    ...(request.empty ? { empty: true as const } : {}),
    ...(request.restoring ? { restoring: true as const } : {}),
    active: true,
  };
  try {
    await workspace.home.branches.insertOne(record);
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11000) {
      throw await nameTaken(workspace, request.name);
    }
    throw error;
  }
  workspace.options.onBranches();
  return record;
}

/** The parent's sequence at the fork is known once its capture has passed that time; a fork never waits for it. */
export async function noteForkSequence(
  workspace: Workspace,
  { forkPoint, _id }: BranchRecord,
  parent: LocalBranch | undefined,
): Promise<void> {
  if (!parent || !forkPoint || forkPoint.seq !== undefined) return;
  if (!(await parent.capture.settle(forkPoint.clusterTime, 10 * 60_000))) return;
  const seq = await parent.history.changes.seqAt(forkPoint.clusterTime, parent.capture.seq);
  await workspace.update(_id, { forkPoint: { ...forkPoint, seq } }).catch(() => undefined);
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
