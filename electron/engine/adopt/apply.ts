import { documentValue, fromBase64, toBase64 } from '../../../shared/bson/value.ts';
import { documentName, firstOf } from '../../../shared/changes/explain.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { dropAgreement, storeAgreement } from '../changes/agreed.ts';
import { readCatalog, shownNamespace } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { logEntry } from '../home/log-entry.ts';
import { PlanStore, type PlanRecord } from '../home/plans.ts';
import type { DiskSpace } from '../mongod/disk-space.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import {
  collect,
  commitItems,
  inItsTurn,
  pieces,
  rangeOf,
  sessionId,
  takeBackPiece,
  type Piece,
  type Writing,
} from './pieces.ts';
import { SchemaRun } from './schema-apply.ts';
import { namespacesOf } from './schema-steps.ts';
import { asItWas, checkItems, StalePlan, type Moved, type WriteOptions } from './write.ts';

export interface ApplyContext {
  readonly home: Home;
  readonly parent: Side;
  /** The adopted branch's history, whose bases move. Undefined once that is gone. */
  readonly history: History | undefined;
  readonly signal: AbortSignal;
  /** The disk that all of it lies on. */
  readonly disk: Pick<DiskSpace, 'require'>;
  readonly onProgress: (done: number, total: number) => void;
}

const named = {
  adopt: 'this adoption',
  undo: 'this undo',
  'undo-changes': 'this undo',
  restore: 'this restore',
} as const satisfies Record<PlanRecord['kind'], string>;

/** Data, change log, journal, the server's images and the history's: what a document of a plan is written to. */
const writtenPerByte = 4;
/** A plan that has become stale keeps the names of so many. */
const mostMoved = 1_000;

export interface Applied {
  readonly applied: number;
  readonly entry: string | undefined;
}

/**
 * Applies a stored plan: schema first, then documents, each checked inside the transaction that writes it. Up to 20,000
 * documents it is one transaction; beyond, everything is checked first and then written in guarded pieces, and what was
 * written is taken back when a later piece meets a document that moved.
 * Where a server ends in between, the plan stays `applying` and has to be settled by `recoverPlan`.
 * @throws ForkyardError `no_space`, `plan_stale` with `moved`, `write_refused`, `not_writable_exactly`
 */
export async function applyPlan(context: ApplyContext, plan: PlanRecord): Promise<Applied> {
  const store = new PlanStore(context.home);
  if (plan.state !== 'ready') throw notReady(context.parent, plan);
  await context.disk.require(named[plan.kind], plan.bytes * writtenPerByte);
  const startSeq = context.parent.capture.seq;
  const started = await store.plans.updateOne(
    { _id: plan._id, state: 'ready' },
    { $set: { state: 'applying', startSeq, transactions: [], schemaAt: 0 } },
  );
  if (started.modifiedCount === 0) throw notReady(context.parent, { ...plan, state: 'applying' });
  const session = context.parent.client.startSession();
  const endWork = context.parent.capture.beginWork({
    session: sessionId(session),
    namespaces: namespacesOf(plan),
  });
  const schema = new SchemaRun(context.home, context.parent, { ...plan, schemaAt: 0 });
  try {
    await schema.check();
    await applyWhole(context, { parent: context.parent, store, plan, session }, schema);
  } catch (error) {
    // Whether the last transaction was committed is not known: the plan stays as it is until that is settled.
    if (isUnreachable(error)) throw error;
    if (error instanceof StalePlan) {
      const moved = error.moved.map(({ ns, id }) => ({ ns, ...(id ? { id: toBase64(id) } : {}) }));
      await store.plans.updateOne({ _id: plan._id }, { $set: { state: 'stale', moved: moved.slice(0, mostMoved) } });
      throw stale(context.parent, plan, error.moved);
    }
    const state = error instanceof PartlyApplied ? 'partly' : 'ready';
    await store.plans.updateOne({ _id: plan._id }, { $set: { state } });
    throw error;
  } finally {
    endWork();
    await session.endSession();
  }
  const applied = await finishPlan(context, store, plan);
  await schema.end();
  return applied;
}

/** What documents need, the documents, what needs them: all of it, or none. */
async function applyWhole(context: ApplyContext, writing: Writing, schema: SchemaRun): Promise<void> {
  const written: Piece[] = [];
  try {
    await schema.forward(writing.plan.documentsAt);
    await applyDocuments(context, writing, written);
    await schema.forward();
  } catch (error) {
    // What became of what a server that went away was doing is not known: the plan is settled when it runs again.
    if (isUnreachable(error)) throw error;
    try {
      for (const piece of written.reverse()) await takeBackPiece(writing, piece);
      await schema.back();
    } catch (problem) {
      throw isUnreachable(problem) ? problem : new PartlyApplied(context.parent, error);
    }
    throw error;
  }
}

/** @param written gets what was written, piece by piece */
async function applyDocuments(context: ApplyContext, writing: Writing, written: Piece[]): Promise<void> {
  const { store, plan } = writing;
  const pastValidator = await validatorsPassed(context.parent, plan);
  if (!plan.inPieces) {
    const items = await collect(store, plan, { from: 0, to: Number.MAX_SAFE_INTEGER });
    await commitItems(writing, items, { pastValidator });
    if (items.length > 0) written.push(rangeOf(items));
    return;
  }
  await checkAll(context, store, plan);
  let done = 0;
  for await (const piece of pieces(store, plan)) {
    context.signal.throwIfAborted();
    await context.disk.require(named[plan.kind], 0);
    await commitItems(writing, piece.map(inItsTurn), { pastValidator });
    written.push(rangeOf(piece));
    done += piece.filter(({ part }) => part !== 'leave').length;
    context.onProgress(done, plan.items);
  }
}

/**
 * Which collections are written past their validator: those of a plan that brings back what was there, and those for which
 * the plan found that the branch holds documents in spite of it, as long as it still is that validator.
 */
async function validatorsPassed(parent: Side, plan: PlanRecord): Promise<WriteOptions['pastValidator']> {
  if (plan.kind !== 'adopt') return asItWas.pastValidator;
  const planned = plan.unvalidated ?? [];
  if (planned.length === 0) return () => false;
  const catalog = await readCatalog(parent.client);
  const passed = planned.filter(({ ns, validation }) => {
    const now = catalog.byNamespace.get(ns)?.validation;
    return now !== undefined && toBase64(documentValue(now)) === validation;
  });
  return (ns) => passed.some((each) => each.ns === ns);
}

/** Before the first piece is written, every document is looked at once. */
async function checkAll(context: ApplyContext, store: PlanStore, plan: PlanRecord): Promise<void> {
  const session = context.parent.client.startSession();
  try {
    for await (const piece of pieces(store, plan)) await checkItems(context.parent.client, session, piece);
  } finally {
    await session.endSession();
  }
}

/** A plan that could be neither finished nor taken back. */
class PartlyApplied extends ForkyardError {
  constructor(parent: Side, cause: unknown) {
    super(
      'plan_stale',
      `Part of the plan was applied to ${parent.record.name}, and taking it back was refused: documents had moved again.`,
      {
        hint: 'The log of the branch tells which documents were written; compare again.',
        cause,
      },
    );
  }
}

/** Log, moved bases and the plan's state, in an order that a crash in between can repeat. */
export async function finishPlan(
  context: Pick<ApplyContext, 'home' | 'history'>,
  store: PlanStore,
  plan: PlanRecord,
): Promise<Applied> {
  const { home, history } = context;
  if (history) {
    for await (const items of store.items(plan)) {
      await history.touched.moveBases(
        items.flatMap(({ touched }) => (touched ? [{ id: touched.id, base: touched.to }] : [])),
      );
    }
  }
  if (plan.agreement) {
    const { parts, back } = plan.agreement;
    if (back === undefined) await storeAgreement(home, plan.branchId, { plan: plan._id, parts });
    else await dropAgreement(home, plan.branchId, back);
  }
  const record = logEntry({
    kind: plan.kind,
    branch: plan.branchName,
    branchId: plan.branchId,
    items: plan.items,
    plan: plan._id,
    text: sentence(plan),
  });
  const entry = record._id;
  const session = home.client.startSession();
  try {
    session.startTransaction({ writeConcern: { w: 'majority', j: true } });
    await home.log.insertOne(record, { session });
    if (plan.undoes !== undefined)
      await home.log.updateOne({ _id: plan.undoes }, { $set: { undoneBy: entry } }, { session });
    await store.plans.updateOne({ _id: plan._id }, { $set: { state: 'applied', entry } }, { session });
    await session.commitTransaction();
  } finally {
    await session.endSession();
  }
  return { applied: plan.items, entry };
}

function sentence(plan: PlanRecord): string {
  if (plan.text !== undefined) return plan.text;
  const changes = plan.items === 1 ? '1 change' : `${plan.items.toLocaleString('en')} changes`;
  return plan.kind === 'adopt'
    ? `Adopted ${changes} from ${plan.branchName} into ${plan.parentName}`
    : `Took back ${changes} of ${plan.branchName} in ${plan.parentName}`;
}

function stale(parent: Side, plan: PlanRecord, moved: readonly Moved[]): ForkyardError {
  // Of what the schema steps expect, only the collection is named.
  const names = moved.map(({ ns, id }) => (id ? documentName(shownNamespace(ns), id) : shownNamespace(ns)));
  const what = firstOf([...new Set(names)]);
  const [since, outcome, hint] =
    plan.kind === 'undo'
      ? [`since ${plan.undoes ?? 'then'}`, 'taken back', 'Take back what changed it later first, or change it by hand.']
      : ['since this plan was made', 'applied', 'Compare again and make a new plan.'];
  return new ForkyardError('plan_stale', `${parent.record.name} changed ${what} ${since}. Nothing was ${outcome}.`, {
    hint,
    details: { moved: moved.map(({ ns, id }) => ({ ns: shownNamespace(ns), ...(id ? { id: toBase64(id) } : {}) })) },
  });
}

function notReady(parent: Side, plan: PlanRecord): ForkyardError {
  const { state, moved } = plan;
  if (state === 'stale' && moved) {
    const known = moved.map(({ ns, id }) => ({ ns, ...(id === undefined ? {} : { id: fromBase64(id) }) }));
    return stale(parent, plan, known);
  }
  const why = {
    applied: 'was applied already',
    applying: 'is being applied',
    stale: 'is stale',
    partly: 'was applied in part',
    ready: '',
  };
  return new ForkyardError('plan_stale', `The plan ${plan._id} ${why[state]}.`, {
    hint: 'Compare again and make a new plan.',
    details: { moved: [] },
  });
}
