import { fromBase64, documentValue, toBase64 } from '../../../shared/bson/value.ts';
import { compareDocument } from '../../../shared/changes/compare.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { applyPlan } from '../adopt/apply.ts';
import { mongoshText } from '../adopt/mongosh.ts';
import { createPlan } from '../adopt/plan.ts';
import { createUndoPlan, undoablePlan } from '../adopt/undo.ts';
import { whileMoving } from '../adopt/while-moving.ts';
import { lineageOf } from '../branches/lineage.ts';
import type { LocalBranch } from '../branches/local-branch.ts';
import { settleAfterRestart } from '../branches/cut-off.ts';
import { undoOnBranch } from '../branches/ways-back.ts';
import { diffAgainst } from '../changes/against.ts';
import { bucketsNamespace, shownNamespace, storeOf, uuidNamed } from '../changes/catalog.ts';
import { computeDiff, openComparison } from '../changes/diff.ts';
import { measurementDelta } from '../changes/measurements.ts';
import type { SelectionInput } from '../changes/selection.ts';
import { settleNow } from '../changes/side.ts';
import { readSides, readUntouched, splitNamespace, uuidText } from '../changes/touched.ts';
import { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';
import { PlanStore, type PlanItemRecord, type PlanRecord } from '../home/plans.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import {
  presentChange,
  presentDiff,
  presentDocument,
  presentLog,
  presentPlan,
  presentSides,
  presentWayBack,
} from './present.ts';
import type { CallContext } from './contract.ts';
import type { Context, Methods } from './service.ts';

const pageDefault = 1_000;
/** How long a diff waits for open gaps to be settled before it says they are open. */
const gapPatienceMs = 2_000;

export const changeMethods: Methods<
  | 'changes.page'
  | 'changes.ofDocument'
  | 'diff.get'
  | 'diff.document'
  | 'plan.create'
  | 'plan.items'
  | 'plan.apply'
  | 'plan.adopt'
  | 'log.list'
  | 'log.undoPlan'
  | 'log.undo'
> = {
  async 'changes.page'({ workspace, waiters }, input, { signal }) {
    const record = await workspace.record(input.branch);
    const branch = workspace.live.get(record._id);
    const history = branch?.history ?? new History(workspace.home, record._id);
    const complete = input.settle && branch ? await settleNow(branch) : true;
    const limit = input.limit ?? pageDefault;
    const query = { limit, ...(input.after === undefined ? {} : { after: input.after }) };
    const read = () =>
      input.before === undefined
        ? history.changes.page(query)
        : history.changes.page({ ...query, before: input.before, fromEnd: input.after === undefined });
    let changes = await read();
    if (changes.length === 0 && input.waitMs && branch) {
      // Asked again only after registering, so that a change in between is not waited for.
      const woken = waiters.wait(record._id, input.waitMs, signal);
      if (branch.capture.seq > (input.after ?? 0)) changes = await read();
      if (changes.length === 0) {
        await woken;
        changes = await read();
      }
    }
    const last = branch?.capture.seq ?? (await history.state())?.seq ?? 0;
    return { changes: changes.map(presentChange), last, complete };
  },

  async 'changes.ofDocument'({ workspace }, { branch: name, ns, id, limit = 200 }) {
    const branch = await workspace.branch(name);
    await settleNow(branch);
    const uuid = await uuidOf(branch, ns);
    const changes = uuid ? await branch.history.ofDocument(uuid, fromBase64(id), limit) : [];
    return { changes: changes.map(presentChange) };
  },

  async 'diff.get'({ workspace, rows, gaps }, input, { signal }) {
    const branch = await workspace.branch(input.branch);
    const query = {
      only: input.only,
      limit: input.limit ?? pageDefault,
      after: input.after,
      conflictsOnly: input.conflictsOnly,
      parentFields: input.parentFields,
      strict: input.strict,
      listing: input.listing,
      signal,
    };
    const other = input.against === undefined ? undefined : await workspace.branch(input.against);
    if (other && other.record._id !== branch.record.parent) {
      const lineage = await lineageOf(workspace, branch, other);
      await Promise.all([branch, other].map((side) => settleNow(side)));
      await Promise.all([branch, other].map((side) => gaps.settleSoon(side, gapPatienceMs)));
      const diff = await diffAgainst(workspace.home, { branch, other, lineage }, query);
      return presentDiff(branch.record.name, other.record.name, diff, input.summary !== true);
    }
    const parent = await workspace.parentOf(branch);
    await settleNow(branch);
    await gaps.settleSoon(branch, gapPatienceMs);
    const diff = await computeDiff(workspace.home, branch, parent, query);
    if (!input.only && !input.strict && !input.listing) {
      const counts = { added: 0, modified: 0, removed: 0, conflicts: 0, schema: diff.schema.length };
      for (const each of diff.summary.values()) {
        counts.added += each.added;
        counts.modified += each.modified;
        counts.removed += each.removed;
        counts.conflicts += each.conflicts;
      }
      rows.remember(branch, parent, counts);
    }
    return presentDiff(branch.record.name, parent.record.name, diff, input.summary !== true);
  },

  async 'diff.document'({ workspace }, { branch: name, ns, id, strict }) {
    const branch = await workspace.branch(name);
    const parent = await workspace.parentOf(branch);
    const { comparison } = await openComparison(workspace.home, branch, parent);
    const key = fromBase64(id);
    const collection = comparison.branchCatalog.byNamespace.get(ns);
    const uuid = collection && storeOf(collection);
    const row =
      uuid === undefined ? undefined : await branch.history.touched.row(touchedId(Buffer.from(uuid, 'hex'), key));
    const [sides] = row ? await readSides(comparison, [row]) : [];
    if (!row || !sides)
      return { ...presentSides(await readUntouched(comparison, ns, key)), writes: { count: 0, actors: [] } };
    const writes = await branch.history.ofDocument(row.uuid, row.key, 1_000);
    const delta = compareDocument(sides, { strict, whole: sides.isBucket });
    const measurements = sides.isBucket ? measurementDelta(sides) : undefined;
    const lastAt = writes.at(-1)?.wall.toISOString();
    return {
      ...(delta ? { change: presentDocument({ ns, key: row.key, ...delta, measurements }) } : {}),
      ...presentSides(sides),
      writes: {
        count: writes.length,
        ...(lastAt === undefined ? {} : { lastAt }),
        actors: [
          ...new Set(writes.flatMap(({ actor, actors }) => (actor === undefined ? [...(actors ?? [])] : [actor]))),
        ],
      },
    };
  },

  async 'plan.create'(context, { branch, ...selection }) {
    const plan = await makePlan(context, branch, selection);
    return { ...presentPlan(plan), parent: plan.parentName };
  },

  async 'plan.items'({ workspace }, { plan: id, after = -1, limit = 200 }) {
    const store = new PlanStore(workspace.home);
    const plan = await requirePlan(store, id);
    const items: PlanItemRecord[] = [];
    for await (const batch of store.items(plan, after + 1)) {
      // One that stands aside in between is there twice.
      items.push(...batch.filter((item) => item.writes && item.part !== 'leave'));
      if (items.length >= limit) break;
    }
    const page = items.slice(0, limit);
    const schema = after < 0 ? plan.schema : [];
    return {
      items: [
        ...schema.map((step) => ({ ns: step.ns, action: step.text })),
        ...page.map((item) => ({
          ns: shownNamespace(item.ns),
          id: toBase64(item.key),
          action: item.result ? (item.expect ? 'replace' : 'insert') : 'delete',
          ...(item.expect ? { expect: toBase64(documentValue(item.expect)) } : {}),
          ...(item.result ? { result: toBase64(documentValue(item.result)) } : {}),
        })),
      ],
      mongosh: mongoshText(schema, page),
    };
  },

  async 'plan.apply'(context, { plan: id, job }, call) {
    const store = new PlanStore(context.workspace.home);
    return applyStored(context, await requirePlan(store, id), call, job);
  },

  async 'plan.adopt'(context, { branch: name, ...selection }, call) {
    const branch = await context.workspace.branch(name);
    // Its plan is part of it: a branch whose time is up meanwhile ends behind both.
    return branch.duringJob(() =>
      whileMoving(async () => {
        const plan = await makePlan(context, name, selection);
        if (plan.conflicts > 0) throw mustBeDecided(plan);
        return applyStored(context, plan, call);
      }),
    );
  },

  async 'log.list'({ workspace }, { branch }) {
    if (branch !== undefined) {
      const known = await workspace.home.log.findOne({ branch });
      if (!known) await workspace.record(branch);
    }
    const entries = await workspace.home.log
      .find(branch === undefined ? {} : { branch })
      .sort({ time: 1, _id: 1 })
      .toArray();
    return entries.map(presentLog);
  },

  async 'log.undoPlan'(context, { entry }) {
    return presentWayBack(await planUndo(context, entry));
  },

  async 'log.undo'(context, { entry }, call) {
    const back = await undoOnBranch(context.workspace, entry);
    if (back) return { applied: 1, entry: back._id, branch: back.branch };
    return whileMoving(async () => applyStored(context, await planUndo(context, entry), call));
  },
};

async function planUndo(context: Context, entry: string): Promise<PlanRecord> {
  const { home } = context.workspace;
  const plan = await undoablePlan(home, entry);
  return createUndoPlan(home, await parentOf(context, plan), await historyOf(context, plan), { entry, plan });
}

function mustBeDecided(plan: PlanRecord): ForkyardError {
  const { branchName: branch, parentName: parent, conflicts, undecided = [] } = plan;
  const count = conflicts === 1 ? '1 change' : `${conflicts.toLocaleString('en')} changes`;
  const [shown, more] = [undecided.slice(0, 3), conflicts - Math.min(undecided.length, 3)];
  const named = [...shown.map(({ text }) => text), ...(shown.length > 0 && more > 0 ? [`And ${more} more.`] : [])];
  return new ForkyardError(
    'conflicts',
    [`${count} of ${branch} must be decided first, nothing was adopted.`, ...named].join(' '),
    {
      hint: `Decide with --take NS:ID=${branch} or =${parent}, or leave them out with --only. "forkyard diff ${branch}" shows them.`,
      details: { conflicts, plan: plan._id, undecided: undecided.map((each) => ({ ...each })) },
    },
  );
}

async function makePlan({ workspace, gaps }: Context, name: string, selection: SelectionInput): Promise<PlanRecord> {
  const branch = await workspace.branch(name);
  await settleNow(branch);
  await gaps.settleSoon(branch, gapPatienceMs);
  return createPlan(workspace.home, branch, await workspace.parentOf(branch), selection);
}

async function requirePlan(store: PlanStore, id: string): Promise<PlanRecord> {
  const plan = await store.find(id);
  if (plan) return plan;
  throw new ForkyardError('unknown_plan', `There is no plan ${id}.`, { hint: 'Make one with "forkyard plan BRANCH".' });
}

/** The branch that a plan is applied to; waited for while it is started again. */
async function parentOf({ workspace }: Context, plan: PlanRecord): Promise<LocalBranch> {
  const parent = await workspace.running(plan.parentId);
  if (parent) return parent;
  throw new ForkyardError('branch_not_live', `${plan.parentName} does not run, so nothing can be applied to it.`, {
    hint: `Wake it with "forkyard wake ${plan.parentName}".`,
  });
}

/** The adopted branch's history, while there is one. */
async function historyOf({ workspace }: Context, plan: PlanRecord): Promise<History | undefined> {
  const branch = await workspace.home.branches.findOne({ _id: plan.branchId });
  return branch ? new History(workspace.home, plan.branchId) : undefined;
}

/** Applies a stored plan. */
export async function applyStored(context: Context, plan: PlanRecord, { signal }: CallContext, job?: string) {
  const { workspace, emit } = context;
  const parent = await parentOf(context, plan);
  const leftOut = plan.leftOut ? { leftOut: [...plan.leftOut] } : {};
  if (plan.items === 0 && plan.conflicts === 0 && !(await hasItems(workspace, plan))) return { applied: 0, ...leftOut };
  const history = await historyOf(context, plan);
  const onProgress = (done: number, total: number) => {
    if (job !== undefined) emit({ type: 'progress', job, text: `${done} of ${total} changes`, done, total });
  };
  const work = () =>
    parent.exclusively(() =>
      parent.guarded(() =>
        applyPlan({ home: workspace.home, parent, history, signal, disk: workspace.disk, onProgress }, plan),
      ),
    );
  // The branch does not end (its time may be up) while its plan is applied.
  const branch = workspace.live.get(plan.branchId);
  const { applied, entry } = await (branch && branch !== parent ? branch.duringJob(work) : work()).catch(
    async (error: unknown) => {
      if (!isUnreachable(error)) throw error;
      return { applied: plan.items, entry: await settleAfterRestart(workspace, plan._id, error) };
    },
  );
  const record = entry === undefined ? null : await workspace.home.log.findOne({ _id: entry });
  if (record) workspace.options.onLog(record);
  workspace.options.onBranches();
  return { applied, ...(entry === undefined ? {} : { entry }), ...leftOut };
}

/** A plan without a write may still hold decisions: conflicts decided for the parent. */
async function hasItems(workspace: Context['workspace'], plan: PlanRecord): Promise<boolean> {
  for await (const batch of new PlanStore(workspace.home).items(plan, 0, 1)) if (batch.length > 0) return true;
  return false;
}

/** A collection's UUID, which is what histories know it by. */
export async function uuidOf(branch: LocalBranch, ns: string): Promise<Uint8Array | undefined> {
  const named = (at: string) => uuidNamed(branch.client, ...splitNamespace(at));
  // A time-series collection has none of its own.
  const uuid = (await named(ns)) ?? (await named(bucketsNamespace(ns)));
  return uuid && Buffer.from(uuidText(uuid), 'hex');
}
