import { ForkyardError } from '../../../shared/errors.ts';
import { compareSchema } from '../changes/schema.ts';
import { comparedPages, openComparison } from '../changes/diff.ts';
import { settleNow } from '../changes/side.ts';
import { Selection } from '../changes/selection.ts';
import { logEntry } from '../home/log-entry.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { endSandbox, inTrash, inTurn, purge, remove, takeFromTrash } from './discard.ts';
import type { LocalBranch } from './local-branch.ts';
import { changeAndLog } from './logged-change.ts';
import type { Workspace } from './workspace.ts';

const graceMs = 24 * 60 * 60_000;
/** Looked at again at least this often: a machine that slept has passed deadlines without a timer noticing. */
const longestPauseMs = 15_000;
/** And so soon after a look that failed. */
const failurePauseMs = 1_000;

export type ExpiryNotice = (branch: string, state: 'soon' | 'expired' | 'gone', at: Date) => void;

const warnMs = 10 * 60_000;

/** Ends sandboxes on time, after sleep and after a restart too; never silently with unreviewed work. */
export class ExpirySweep {
  private readonly workspace: Workspace;
  private readonly notice: ExpiryNotice;
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private stopped = false;
  private readonly warned = new Set<string>();

  constructor(workspace: Workspace, notice: ExpiryNotice) {
    this.workspace = workspace;
    this.notice = notice;
  }

  /** Looks now, and then whenever something is due. Call it after a deadline changed. */
  wake(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.sweeping = (this.sweeping ?? Promise.resolve())
      .then(() => this.sweep())
      .catch((error: unknown) => {
        this.workspace.log(`expiry: ${String(error)}`);
        // Home ended meanwhile: what is due stays due.
        this.lookIn(failurePauseMs);
      });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    if (this.stopped) return;
    const { branches } = this.workspace.home;
    const now = new Date();
    for (const record of await branches
      .find({ expiresAt: { $lte: now }, state: { $in: ['live', 'asleep', 'failed'] } })
      .toArray()) {
      await this.expire(record).catch((error: unknown) =>
        this.workspace.log(`expiry of ${record.name}: ${String(error)}`),
      );
    }
    for (const record of await branches.find({ goneAt: { $lte: now } }).toArray()) await this.remove(record);
    for (const record of await branches
      .find({ expiresAt: { $gt: now, $lte: new Date(now.getTime() + warnMs) }, state: 'live' })
      .toArray()) {
      if (this.warned.has(record._id)) continue;
      this.warned.add(record._id);
      this.notice(record.name, 'soon', record.expiresAt!);
    }
    await this.schedule();
  }

  private async schedule(): Promise<void> {
    const due = await this.workspace.home.branches
      .find(
        { $or: [{ expiresAt: { $exists: true } }, { goneAt: { $exists: true } }] },
        { projection: { expiresAt: 1, goneAt: 1, state: 1 } },
      )
      .toArray();
    const times = due.flatMap(({ expiresAt, goneAt }) => [expiresAt, goneAt].filter((time) => time !== undefined));
    const future = times.map((time) => time.getTime() - Date.now()).filter((ms) => ms > 0);
    this.lookIn(Math.min(longestPauseMs, ...future.map((ms) => ms + 1)));
  }

  private lookIn(ms: number): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    this.timer = setTimeout(() => this.wake(), ms);
    this.timer.unref();
  }

  private async expire(record: BranchRecord): Promise<void> {
    const { workspace } = this;
    const children = await workspace.children(record._id);
    if (children.length > 0) {
      const note = `Its time is up; it is held because ${children.map(({ name }) => name).join(', ')} came from it.`;
      if (record.note !== note) await workspace.update(record._id, { note });
      return;
    }
    await inTurn(workspace, record, async () => {
      const branch = workspace.live.get(record._id);
      await branch?.idle();
      const isUnreviewed = !branch || (await hasUnreviewedWork(workspace, branch));
      // It may have waited behind a job, and looking takes its time: what was done for the branch meanwhile counts.
      const now = await workspace.home.branches.findOne({ _id: record._id });
      if (!now?.active || !now.expiresAt || now.expiresAt > new Date()) return;
      if ((await workspace.children(now._id)).length > 0) return;
      if (isUnreviewed) {
        await this.grace(now);
        return;
      }
      await endSandbox(workspace, now, true);
      this.notice(now.name, 'gone', new Date());
    });
  }

  /** Its server stops; its files and its history stay for a while. */
  private async grace({ _id, name }: BranchRecord): Promise<void> {
    const { workspace } = this;
    await workspace.stopRunning(_id, 'stop');
    const goneAt = new Date(Date.now() + graceMs);
    await changeAndLog(workspace, _id, {
      set: { state: 'expired', goneAt },
      unset: ['expiresAt', 'note'],
      entry: logEntry({
        kind: 'expire',
        branch: name,
        branchId: _id,
        until: goneAt,
        text: `${name} expired with changes nobody reviewed; it can be brought back until ${goneAt.toISOString()}`,
      }),
    });
    this.notice(name, 'expired', goneAt);
  }

  private async remove({ _id, name }: BranchRecord): Promise<void> {
    const { workspace } = this;
    // What was forked from its files while it was expired is compared with it, and may be adopted into it.
    if ((await workspace.children(_id)).length > 0) return;
    await workspace.turns.take(_id, async () => {
      // It may have waited behind a job that brought it back.
      const due = await workspace.home.branches.findOne({ _id, goneAt: { $lte: new Date() } });
      if (due?.state === 'expired') {
        const text = `${name} was removed: its grace time had passed`;
        await remove(workspace, due, logEntry({ kind: 'gone', branch: name, branchId: _id, text }));
        this.notice(name, 'gone', new Date());
      } else if (due) await purge(workspace, due);
    });
  }
}

/** Whether anything of the branch differs from its parent and was not adopted. Unknown counts as yes. */
async function hasUnreviewedWork(workspace: Workspace, branch: LocalBranch): Promise<boolean> {
  try {
    const parent = await workspace.parentOf(branch);
    const { comparison, settled } = await openComparison(workspace.home, branch, parent);
    if (!settled) return true;
    if (compareSchema(comparison.base, comparison.parentCatalog, comparison.branchCatalog).length > 0) return true;
    for await (const page of comparedPages(comparison, new Selection({}, branch.record.name, parent.record.name))) {
      if (page.length > 0) return true;
    }
    return (await workspace.home.gaps.countDocuments({ branch: branch.record._id, settled: false })) > 0;
  } catch {
    return true;
  }
}

/** Takes a branch's deadline away; an expired one comes back. */
export async function keep(workspace: Workspace, name: string): Promise<BranchRecord> {
  const record = await workspace.record(name);
  requireSandbox(record);
  if (record.state === 'expired') await bringBack(workspace, record);
  return workspace.update(record._id, {}, ['expiresAt', 'note', 'goneAt']);
}

/** Gives a branch `ttlMs` more; an expired one comes back with that much, a kept one stays kept. The URI stays. */
export async function extend(workspace: Workspace, name: string, ttlMs: number): Promise<BranchRecord> {
  const record = await workspace.record(name);
  requireSandbox(record);
  if (record.state === 'expired') await bringBack(workspace, record, { expiresAt: new Date(Date.now() + ttlMs) });
  // A kept one has more time than any: it is not made to end.
  else if (record.expiresAt === undefined) return record;
  const from = Math.max(Date.now(), record.expiresAt?.getTime() ?? 0);
  return workspace.update(record._id, { expiresAt: new Date(from + ttlMs) }, ['note', 'goneAt']);
}

/** What a branch that is brought back gets to live. */
const secondLifeMs = 60 * 60_000;

/** Starts the server of a sleeping branch again; an expired or discarded one comes back for an hour. */
export async function wake(workspace: Workspace, name: string): Promise<BranchRecord> {
  const taken = await workspace.home.branches.findOne({ name, active: true });
  const discarded = taken ? undefined : await inTrash(workspace, name);
  if (discarded) return (await undiscard(workspace, discarded)).record;
  const record = await workspace.record(name);
  if (record.state === 'live' && (await workspace.running(record._id))) return record;
  if (record.state === 'expired') return extend(workspace, name, secondLifeMs);
  await bringBack(workspace, record);
  return workspace.record(name);
}

/** Brings an expired sandbox back for an hour. @returns undefined where it is back already */
export async function unexpire(workspace: Workspace, expired: BranchRecord): Promise<LogRecord | undefined> {
  return bringBack(workspace, expired, { expiresAt: new Date(Date.now() + secondLifeMs) });
}

/** Brings a discarded sandbox back for an hour. @throws ForkyardError `name_taken` */
export async function undiscard(
  workspace: Workspace,
  discarded: BranchRecord,
): Promise<{ record: BranchRecord; entry: LogRecord }> {
  const entry = await takeFromTrash(workspace, discarded, secondLifeMs);
  await bringBack(workspace, discarded);
  return { record: await workspace.record(discarded.name), entry };
}

/**
 * Stops a sandbox's server cleanly; its files, its port and its deadline stay. What was captured is complete: the fork of a
 * sleeping branch knows where it begins.
 * @throws ForkyardError `main_protected`, `branch_not_live`
 */
export async function sleep(workspace: Workspace, name: string): Promise<BranchRecord> {
  const record = await workspace.record(name);
  requireSandbox(record, 'main cannot be put to sleep: it holds your data.');
  if (record.state === 'asleep') return record;
  const branch = await workspace.branch(name);
  await branch.exclusively(async () => {
    await branch.idle();
    await settleNow(branch);
    await workspace.stopRunning(branch.record._id, 'stop');
    // Its server has ended: the catalog must come to say so.
    await workspace.patiently(() => workspace.update(branch.record._id, { state: 'asleep' }));
  });
  return workspace.record(name);
}

/** @returns the entry of the log for one that had expired: that comes with its being back, and takes the expiry back */
async function bringBack(
  workspace: Workspace,
  { _id, name }: BranchRecord,
  set: Partial<BranchRecord> = {},
): Promise<LogRecord | undefined> {
  return workspace.turns.take(_id, async () => {
    if (workspace.live.has(_id)) return undefined;
    const record = await workspace.record(name);
    await workspace.openBranch(record);
    const back = { state: 'live', ...set } as const;
    if (record.state !== 'expired') {
      // Its server runs: the catalog must come to say so.
      await workspace.patiently(() => workspace.update(_id, back, ['goneAt', 'note']));
      return undefined;
    }
    const text = `Brought ${name} back after its time was up`;
    const { entry } = await changeAndLog(workspace, _id, {
      set: back,
      unset: ['goneAt', 'note'],
      entry: logEntry({ kind: 'restore', branch: name, branchId: _id, text }),
      undone: { kind: 'expire', branchId: _id, undoneBy: { $exists: false } },
    });
    return entry;
  });
}

function requireSandbox(record: BranchRecord, refusal = 'main never expires.'): void {
  if (record.parent !== undefined) return;
  throw new ForkyardError('main_protected', refusal, { hint: 'Name a sandbox.' });
}
