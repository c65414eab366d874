import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

/** A server that keeps ending by itself is left alone after so many starts within a minute. */
const restartsPerMinute = 3;

/** Starts servers again that ended by themselves: their files recover. */
export class Restarts {
  private readonly workspace: Workspace;
  private readonly recent = new Map<string, number[]>();
  private readonly running = new Map<string, Promise<void>>();
  /** Of these, the ones whose server ended by itself. */
  private readonly ended = new Map<string, Promise<void>>();

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  /** Resolves when the branch is not being started again, or no longer. */
  async settled(branchId: string): Promise<void> {
    await this.running.get(branchId);
  }

  /** Work that a branch's users wait for, as they do for a restart. */
  async hold<T>(branchId: string, work: Promise<T>): Promise<T> {
    const held = work.then(
      () => undefined,
      () => undefined,
    );
    this.running.set(branchId, held);
    try {
      return await work;
    } finally {
      if (this.running.get(branchId) === held) this.running.delete(branchId);
    }
  }

  /** The server of this branch ended and nobody had stopped it. */
  async begin(branch: LocalBranch): Promise<void> {
    const { _id } = branch.record;
    let onWait = (): void => undefined;
    const waits = new Promise<void>((resolve) => (onWait = resolve));
    const room = branch
      .release()
      .catch(() => undefined)
      .then(() => this.workspace.room(onWait));
    const restart = room
      .then(() => this.restart(branch))
      .catch((error: unknown) => this.workspace.log(`restart: ${String(error)}`))
      .finally(() => this.ended.delete(_id));
    // Waited for from here on, while the old client is still being closed too; but one that a full disk ended would end again:
    // nobody has to wait until there is room.
    const first = Promise.race([restart, waits]);
    this.ended.set(_id, first);
    void this.hold(_id, first);
    await room;
    this.ended.set(_id, restart);
    await this.hold(_id, restart);
    this.workspace.options.onBranches();
  }

  /** Resolves when no server of this branch, having ended by itself, is being started again. Never waits for a turn. */
  async over(branchId: string): Promise<void> {
    await this.ended.get(branchId);
  }

  private async restart(branch: LocalBranch): Promise<void> {
    const { workspace } = this;
    const { _id, name } = branch.record;
    workspace.log(`the server of ${name} ended; starting it again`);
    for (let attempt = 1, problem = new Error('its server ended several times within a minute'); ; attempt += 1) {
      // Where home ended too it is waited for: a branch whose history cannot be read is not broken.
      const record = await workspace.patiently(() => workspace.home.branches.findOne({ _id }));
      // Discarded meanwhile, or reset: what is left of it stays stopped.
      if (record?.state !== 'live') return;
      if (this.startsWithinMinute(_id) > restartsPerMinute || attempt > restartsPerMinute)
        return workspace.failed(record, problem);
      try {
        await workspace.openBranch(record);
        return;
      } catch (error) {
        // Its server may have been ended once more, or home's.
        problem = error instanceof Error ? error : new Error(String(error));
        workspace.log(`the server of ${name} did not come up: ${problem.message}`);
      }
    }
  }

  /** This one counts. */
  private startsWithinMinute(branchId: string): number {
    const now = Date.now();
    const recent = [...(this.recent.get(branchId) ?? []), now].filter((time) => now - time < 60_000);
    this.recent.set(branchId, recent);
    return recent.length;
  }
}
