import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

/** A server that keeps ending by itself is left alone after so many starts within a minute. */
const restartsPerMinute = 3;

/** Starts servers again that ended by themselves: their files recover. */
export class Restarts {
  private readonly workspace: Workspace;
  private readonly recent = new Map<string, number[]>();
  private readonly running = new Map<string, Promise<void>>();

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
    await branch.release().catch(() => undefined);
    // One that a full disk ended would end again; nobody has to wait for that.
    await this.workspace.room();
    const restart = this.restart(branch).catch((error: unknown) => this.workspace.log(`restart: ${String(error)}`));
    await this.hold(branch.record._id, restart);
    this.workspace.options.onBranches();
  }

  private async restart(branch: LocalBranch): Promise<void> {
    const { workspace } = this;
    const { _id, name } = branch.record;
    const now = Date.now();
    const recent = [...(this.recent.get(_id) ?? []), now].filter((time) => now - time < 60_000);
    this.recent.set(_id, recent);
    workspace.log(`the server of ${name} ended; starting it again`);
    if (recent.length > restartsPerMinute) {
      await workspace.failed(branch.record, new Error('its server ended several times within a minute'));
      return;
    }
    // Where home ended too it is waited for: a branch whose history cannot be read is not broken.
    await workspace.patiently(() => workspace.home.client.db('admin').command({ ping: 1 }));
    await workspace.openBranch(branch.record).catch((error: unknown) => workspace.failed(branch.record, error));
  }
}
