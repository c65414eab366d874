import type { Moment, Output } from '../../../shared/api.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentValue, fromBase64, toBase64 } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { schemaBack } from '../adopt/back-plan.ts';
import { createRestorePlan, Restoration } from '../adopt/restore.ts';
import { describe } from '../adopt/schema-plan.ts';
import { chooseChanges, planUndoChanges, type ChangesToUndo, type ChosenChanges } from '../adopt/undo-changes.ts';
import { discard } from '../branches/discard.ts';
import { fork } from '../branches/fork.ts';
import type { LocalBranch } from '../branches/local-branch.ts';
import { presentBranch } from '../branches/rows.ts';
import { momentOf, type MomentAt } from '../changes/moment.ts';
import { Rewind } from '../changes/rewind.ts';
import { compareSchema } from '../changes/schema.ts';
import { notUpToDate, settleNow } from '../changes/side.ts';
import { readByKey } from '../changes/touched.ts';
import { track } from '../home/past.ts';
import { applyStored } from './change-methods.ts';
import { presentDocument, presentWayBack } from './present.ts';
import type { Context, Methods } from './service.ts';

const defaultTtlMs = 60 * 60_000;
const pageDefault = 200;

export const backMethods: Methods<
  'changes.track' | 'restore.preview' | 'restore.document' | 'restore.plan' | 'restore.branch' | 'changes.undo'
> = {
  async 'changes.track'({ workspace }, { branch: name, from, stretches }) {
    const record = await workspace.record(name);
    const to = new Date();
    const begin = from === undefined ? record.forkedAt : new Date(from);
    const bars = await track(workspace.home, record._id, { from: begin, to, stretches });
    const last = workspace.live.get(record._id)?.capture.seq ?? bars.at(-1)?.seq ?? 0;
    return { from: begin.toISOString(), to: to.toISOString(), last, bars };
  },

  async 'restore.preview'(context, { branch: name, to, ns, after, limit = pageDefault }) {
    const { restoration, rewind } = await openRestoration(context, name, to);
    const summary = new Map<string, { added: number; modified: number; removed: number }>();
    const documents: Output<'restore.preview'>['documents'] = [];
    const from = after === undefined ? 0 : Number.parseInt(after, 10);
    let position = 0;
    for await (const page of restoration.documents(ns)) {
      for (const document of page) {
        const kind = document.then === undefined ? 'added' : document.now === undefined ? 'removed' : 'modified';
        const counts = summary.get(document.ns) ?? { added: 0, modified: 0, removed: 0 };
        counts[kind] += 1;
        summary.set(document.ns, counts);
        if (position >= from && documents.length < limit)
          documents.push({ ns: document.ns, id: toBase64(document.key), kind });
        position += 1;
      }
    }
    const back = schemaBack({ side: rewind.side, base: rewind.now, now: rewind.now, then: restoration.then });
    const leftOut = [...restoration.leftOut, ...back.left].map(({ detail }) => detail);
    const since = compareSchema(restoration.then, restoration.then, rewind.now);
    return {
      at: presentMoment(rewind.at),
      summary: [...summary].map(([of, counts]) => ({ ns: of, ...counts })).sort((a, b) => (a.ns < b.ns ? -1 : 1)),
      schema: since.map((delta) => ({ ns: delta.ns, text: describe(delta) })),
      documents,
      ...(from + documents.length < position && documents.length > 0 ? { next: String(from + documents.length) } : {}),
      ...(leftOut.length === 0 ? {} : { leftOut }),
    };
  },

  async 'restore.document'(context, { branch: name, ns, id, to }) {
    const { branch, rewind } = await openRestoration(context, name, to);
    const key = fromBase64(id);
    const changed = await rewind.document(ns, key);
    const now = changed ? changed.now : (await readByKey(branch, ns, [key])).get(keyText(key));
    const then = changed ? changed.then : now;
    return {
      at: presentMoment(rewind.at),
      ...(then ? { then: toBase64(documentValue(then)) } : {}),
      ...(now ? { now: toBase64(documentValue(now)) } : {}),
    };
  },

  async 'restore.plan'(context, { branch: name, to }) {
    const { restoration, rewind } = await openRestoration(context, name, to);
    return { ...presentWayBack(await createRestorePlan(restoration)), at: presentMoment(rewind.at) };
  },

  async 'restore.branch'(context, { branch: name, to, as, partial = false, ttlMs = defaultTtlMs }, call) {
    const { workspace } = context;
    // Asked first of the branch itself, so that nothing is made where it cannot be done.
    const { branch, rewind } = await openRestoration(context, name, to);
    const { at } = rewind;
    const access = branch.record.access;
    const actor = branch.record.accounts[0]?.actor ?? 'agent';
    const forked = await fork(workspace, {
      name: as,
      from: name,
      ttlMs,
      access,
      actor,
      empty: false,
      ttlIndexes: branch.record.ttlIndexes,
      endTransactions: false,
      restoring: true,
    });
    try {
      const upTo = await forkSequence(branch, forked.branch);
      const fresh = await Rewind.open(workspace.home, branch, forked.branch, at, Math.max(upTo, at.seq));
      const plan = await createRestorePlan(await Restoration.open(fresh, await parentOf(context, branch)));
      if (!partial && plan.leftOut) throw incomplete(name, plan.leftOut);
      const applied = await applyStored(context, plan, call);
      await workspace.update(forked.branch.record._id, {}, ['restoring']);
      const records = await workspace.home.branches.find({ _id: { $in: [branch.record._id] } }).toArray();
      return {
        ...applied,
        branch: presentBranch(forked.branch.record, new Map(records.map((each) => [each._id, each.name]))),
        uri: forked.uri,
        at: presentMoment(at),
      };
    } catch (error) {
      await discard(workspace, as, true);
      throw error;
    }
  },

  async 'changes.undo'(context, { branch: name, what }) {
    const { workspace, gaps } = context;
    const branch = await workspace.branch(name);
    await settle(branch, gaps);
    const upTo = branch.capture.seq;
    const changes = await chooseChanges(workspace.home, branch, what, upTo);
    if (changes.count === 0) throw nothingChosen(name, what, changes.unsure);
    const parent = await parentOf(context, branch);
    const text = `Took back ${changesText(what, changes)} in ${name}`;
    if (changes.isTail) {
      // Everything since is chosen: nothing of anybody else's can be in the way.
      const at = { seq: changes.first - 1, time: undefined };
      const rewind = await Rewind.open(workspace.home, branch, branch, at, upTo);
      const plan = await createRestorePlan(await Restoration.open(rewind, parent), { kind: 'undo-changes', text });
      return { ...presentWayBack(plan), conflicting: [] };
    }
    const { plan, conflicting } = await planUndoChanges(workspace.home, branch, changes, text, parent);
    return { ...presentWayBack(plan), conflicting: conflicting.map(presentDocument) };
  },
};

async function settle(branch: LocalBranch, gaps: Context['gaps']): Promise<void> {
  const settled = await settleNow(branch);
  await gaps.settleSoon(branch, 2_000);
  if (settled) return;
  throw notUpToDate(branch, ', so a way back could miss changes');
}

async function openRestoration(context: Context, name: string, to: Moment) {
  const { workspace, gaps } = context;
  const branch = await workspace.branch(name);
  await settle(branch, gaps);
  const upTo = branch.capture.seq;
  const at = await momentOf(workspace.home, branch, upTo, to);
  const rewind = await Rewind.open(workspace.home, branch, branch, at, upTo);
  return { branch, rewind, restoration: await Restoration.open(rewind, await parentOf(context, branch)) };
}

/** The branch it came from, where that runs. */
async function parentOf({ workspace }: Context, { record }: LocalBranch): Promise<LocalBranch | undefined> {
  return record.parent === undefined ? undefined : workspace.running(record.parent);
}

/** The branch's last sequence that its fork has. */
async function forkSequence(branch: LocalBranch, fork: LocalBranch): Promise<number> {
  const { forkPoint } = fork.record;
  if (!forkPoint || !(await branch.capture.settle(forkPoint.clusterTime, 10_000))) {
    throw notUpToDate(branch);
  }
  return branch.history.changes.seqAt(forkPoint.clusterTime, branch.capture.seq);
}

function presentMoment({ seq, time }: MomentAt): { seq: number; time?: string } {
  return { seq, ...(time ? { time: time.toISOString() } : {}) };
}

function incomplete(name: string, leftOut: readonly string[]): ForkyardError {
  return new ForkyardError('restore_incomplete', `Not all of ${name} can be put back: ${leftOut.join(' ')}`, {
    hint: 'With --partial everything else is put back. Nothing was changed.',
    details: { leftOut: [...leftOut] },
  });
}

function nothingChosen(name: string, what: ChangesToUndo, unsure: number): ForkyardError {
  const meant =
    'seqs' in what
      ? `change ${what.seqs.join(', ')}`
      : 'from' in what
        ? `change from ${what.from} to ${what.to}`
        : 'transaction' in what
          ? `transaction ${what.transaction}`
          : `change by ${what.actor}`;
  if ('actor' in what && unsure > 0) {
    const message = `Of no change in ${name} is it certain that ${what.actor} made it: each is by one of several.`;
    return new ForkyardError('usage', message, { hint: `"forkyard changes ${name}" lists them; choose by number.` });
  }
  return new ForkyardError('usage', `${name} has no ${meant}.`, { hint: `"forkyard changes ${name}" lists them.` });
}

function changesText(what: ChangesToUndo, { count, first, last }: ChosenChanges): string {
  const changes = count === 1 ? 'change' : 'changes';
  if ('actor' in what) return `${count} ${changes} by ${what.actor}`;
  if ('transaction' in what) return `a transaction of ${count} ${changes}`;
  return count === 1
    ? `change ${first}`
    : last - first + 1 === count
      ? `changes ${first} to ${last}`
      : `${count} changes`;
}
