import type { Branch, BranchRow } from '../../../shared/api.ts';
import { loadBaseCatalog } from '../changes/base-catalog.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import { compareSchema } from '../changes/schema.ts';
import { pausedText, settleNow } from '../changes/side.ts';
import { History } from '../home/history.ts';
import type { BranchRecord } from '../home/records.ts';
import { Behind } from './behind.ts';
import { mainId } from './main-branch.ts';
import type { Workspace } from './workspace.ts';
import type { LocalBranch } from './local-branch.ts';

interface Size {
  readonly documents: number;
  readonly sizeBytes: number;
  readonly databases: number;
}

/** How long counts of whole databases may be old, milliseconds: less than the list is told apart, so that the last is right. */
const sizeMs = 900;

/** Rows of the branch list. What costs more than a look is kept until the branch or its parent moves. */
export class BranchRows {
  private readonly workspace: Workspace;
  private readonly sizes = new Map<string, { at: number; size: Size }>();
  private readonly bases = new Map<string, Catalog>();
  private readonly schemaCounts = new Map<string, { at: string; count: number }>();
  private readonly behind: Behind;
  private readonly counts = new Map<string, { at: string; counts: NonNullable<BranchRow['counts']> }>();

  constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.behind = new Behind(workspace.home);
  }

  /** `settle` first waits until every history has passed this moment. */
  async list(all: boolean, settle: boolean): Promise<BranchRow[]> {
    const { home, live } = this.workspace;
    if (settle) await Promise.all([...live.values()].map((branch) => settleNow(branch).catch(() => false)));
    const records = await home.branches
      .find({ pin: { $exists: false }, ...(all ? {} : { active: true }) })
      .sort({ forkedAt: 1 })
      .toArray();
    const names = new Map(records.map(({ _id, name }) => [_id, name]));
    const rows = await Promise.all(records.map((record) => this.row(record, names)));
    return rows.sort((a, b) => Number(a.parent !== undefined) - Number(b.parent !== undefined));
  }

  /** Remembers what a whole comparison counted, until one side moves. */
  remember(branch: LocalBranch, parent: LocalBranch, counts: NonNullable<BranchRow['counts']>): void {
    this.counts.set(branch.record._id, { at: momentOf(branch, parent), counts });
  }

  private async row(record: BranchRecord, names: ReadonlyMap<string, string>): Promise<BranchRow> {
    const branch = this.workspace.live.get(record._id);
    const parent = record.parent === undefined ? undefined : this.workspace.live.get(record.parent);
    const history = branch?.history ?? new History(this.workspace.home, record._id);
    const [touched, schema, behind, size] = await Promise.all([
      record._id === mainId ? 0 : history.touched.count(),
      branch ? this.schemaChanges(branch) : 0,
      parent ? this.behind.count(record, history, parent) : undefined,
      branch ? this.size(branch).catch(() => undefined) : undefined,
    ]);
    const counted = this.counts.get(record._id);
    return {
      ...presentBranch(record, names),
      ahead: touched + schema,
      ...(behind === undefined ? {} : { behind }),
      ...(counted && branch && parent && counted.at === momentOf(branch, parent) ? { counts: counted.counts } : {}),
      ...(branch ? { lagMs: Math.round(branch.capture.lagMs) } : {}),
      ...(size ?? {}),
      seq: branch?.capture.seq ?? (await history.state())?.seq ?? 0,
      actors: record.accounts.map(({ actor }) => actor),
      ...(record.goneAt ? { goneAt: record.goneAt.toISOString() } : {}),
      ...this.note(record, branch),
    };
  }

  private note({ name, note, state }: BranchRecord, branch: LocalBranch | undefined): Pick<BranchRow, 'note'> {
    if (branch?.capture.paused) return { note: `${pausedText(name)}.` };
    if (!branch && state === 'live' && this.workspace.disk.isShort)
      return { note: `The disk is nearly full: the server of ${name} is started again when there is room.` };
    return note === undefined ? {} : { note };
  }

  private async schemaChanges(branch: LocalBranch): Promise<number> {
    const { _id, parent } = branch.record;
    if (parent === undefined) return 0;
    const at = String(branch.capture.seq);
    const known = this.schemaCounts.get(_id);
    if (known?.at === at) return known.count;
    let base = this.bases.get(_id);
    if (!base) this.bases.set(_id, (base = (await loadBaseCatalog(this.workspace.home, _id)).atFork));
    const count = compareSchema(base, base, await readCatalog(branch.client)).length;
    this.schemaCounts.set(_id, { at, count });
    return count;
  }

  private async size(branch: LocalBranch): Promise<Size> {
    const known = this.sizes.get(branch.record._id);
    const at = performance.now();
    if (known && at - known.at < sizeMs) return known.size;
    const { databases } = await branch.client.db('admin').admin().listDatabases();
    const own = databases.filter(({ name }) => !['admin', 'local', 'config'].includes(name));
    const stats = await Promise.all(
      own.map(({ name }) => branch.client.db(name).command({ dbStats: 1, freeStorage: 0 })),
    );
    const size = {
      documents: stats.reduce((sum, { objects }) => sum + Number(objects), 0),
      sizeBytes: stats.reduce((sum, { dataSize, indexSize }) => sum + Number(dataSize) + Number(indexSize), 0),
      databases: own.length,
    };
    // As old as its beginning: on a busy machine counting takes longer than the list waits for.
    this.sizes.set(branch.record._id, { at, size });
    return size;
  }
}

function momentOf(branch: LocalBranch, parent: LocalBranch): string {
  return `${branch.capture.seq}/${parent.capture.seq}`;
}

/** A branch as the API tells it. */
export function presentBranch(record: BranchRecord, names: ReadonlyMap<string, string>): Branch {
  const { forkPoint } = record;
  return {
    id: record._id,
    name: record.name,
    ...(record.parent === undefined ? {} : { parent: names.get(record.parent) ?? record.parent }),
    state: record.state,
    ...(record.port === undefined ? {} : { port: record.port }),
    access: record.access,
    ...(forkPoint
      ? {
          forkPoint: {
            clusterTime: { t: forkPoint.clusterTime.t, i: forkPoint.clusterTime.i },
            ...(forkPoint.seq === undefined ? {} : { seq: forkPoint.seq }),
          },
        }
      : {}),
    forkedAt: record.forkedAt.toISOString(),
    ...(record.expiresAt ? { expiresAt: record.expiresAt.toISOString() } : {}),
    ...(record.disk ? { disk: record.disk } : {}),
  };
}
