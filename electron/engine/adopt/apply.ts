import { randomBytes } from 'node:crypto';
import { MongoServerError, type ClientSession } from 'mongodb';
import { documentValue, toBase64 } from '../../../shared/bson/value.ts';
import { documentName, firstOf } from '../../../shared/changes/explain.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { dropAgreement, storeAgreement } from '../changes/agreed.ts';
import { readCatalog, shownNamespace } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, reverse, type PlanItemRecord, type PlanRecord } from '../home/plans.ts';
import type { LogRecord } from '../home/records.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import { SchemaRun } from './schema-apply.ts';
import { namespacesOf } from './schema-steps.ts';
import { asItWas, checkItems, OrderMatters, StalePlan, writeItems, type Moved, type WriteOptions } from './write.ts';

export interface ApplyContext {
  readonly home: Home;
  readonly parent: Side;
  /** The adopted branch's history, whose bases move. Undefined once that is gone. */
  readonly history: History | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

export interface Applied {
  readonly applied: number;
  readonly entry: string | undefined;
}

/** Above these a transaction no longer ends in time at a cache of 0.25 GB (measured: 100,000 documents never do). */
const transactionItems = 20_000;
const transactionBytes = 32 * 1024 * 1024;
const tries = 3;

/**
 * Applies a stored plan: schema first, then documents, each checked inside the transaction that writes it. Up to 20,000
 * documents it is one transaction; beyond, everything is checked first and then written in guarded pieces, and what was
 * written is taken back when a later piece meets a document that moved.
 * Where a server ends in between, the plan stays `applying` and has to be settled by `recoverPlan`.
 * @throws ForkyardError `plan_stale` with `moved`, `write_refused`, `not_writable_exactly`
 */
export async function applyPlan(context: ApplyContext, plan: PlanRecord): Promise<Applied> {
  const store = new PlanStore(context.home);
  if (plan.state !== 'ready') throw notReady(plan);
  const startSeq = context.parent.capture.seq;
  const started = await store.plans.updateOne(
    { _id: plan._id, state: 'ready' },
    { $set: { state: 'applying', startSeq, transactions: [], schemaAt: 0 } },
  );
  if (started.modifiedCount === 0) throw notReady({ ...plan, state: 'applying' });
  const session = context.parent.client.startSession();
  const endWork = context.parent.capture.beginWork({
    session: sessionId(session),
    namespaces: namespacesOf(plan),
  });
  const schema = new SchemaRun(context.home, context.parent, { ...plan, schemaAt: 0 });
  try {
    await schema.check();
    await applyWhole(context, store, plan, session, schema);
  } catch (error) {
    // Whether the last transaction was committed is not known: the plan stays as it is until that is settled.
    if (isUnreachable(error)) throw error;
    const partly = error instanceof PartlyApplied;
    await store.plans.updateOne(
      { _id: plan._id },
      { $set: { state: partly ? 'partly' : error instanceof StalePlan ? 'stale' : 'ready' } },
    );
    throw error instanceof StalePlan ? stale(context.parent, plan, error.moved) : error;
  } finally {
    endWork();
    await session.endSession();
  }
  const applied = await finishPlan(context, store, plan);
  await schema.end();
  return applied;
}

/** What documents need, the documents, what needs them: all of it, or none. */
async function applyWhole(
  context: ApplyContext,
  store: PlanStore,
  plan: PlanRecord,
  session: ClientSession,
  schema: SchemaRun,
): Promise<void> {
  let written: readonly Piece[] = [];
  try {
    await schema.forward(plan.documentsAt);
    written = await applyDocuments(context, store, plan, session);
    await schema.forward();
  } catch (error) {
    // From a server that went away nothing can be taken back now: the plan is settled when it runs again.
    if (error instanceof PartlyApplied || isUnreachable(error)) throw error;
    await takeBack(context, store, plan, session, written, error);
    await schema.back().catch(() => {
      throw new PartlyApplied(context.parent, error);
    });
    throw error;
  }
}

/** A stretch of a plan's items that one transaction writes: `from <= index < to`. */
interface Piece {
  readonly from: number;
  readonly to: number;
}

/** @returns what was written, piece by piece */
async function applyDocuments(
  context: ApplyContext,
  store: PlanStore,
  plan: PlanRecord,
  session: ClientSession,
): Promise<readonly Piece[]> {
  const pastValidator = await validatorsPassed(context.parent, plan);
  const small = plan.items <= transactionItems && plan.bytes <= transactionBytes;
  if (small) {
    const items = await collect(store, plan, 0, Number.MAX_SAFE_INTEGER);
    await commitItems(context, store, plan, session, items, pastValidator);
    return items.length > 0 ? [rangeOf(items)] : [];
  }
  await checkAll(context, store, plan);
  let done = 0;
  const applied: Piece[] = [];
  for await (const piece of pieces(store, plan)) {
    try {
      context.signal.throwIfAborted();
      await commitItems(context, store, plan, session, piece, pastValidator);
    } catch (error) {
      await takeBack(context, store, plan, session, applied, error);
      throw error;
    }
    applied.push(rangeOf(piece));
    done += piece.length;
    context.onProgress(done, plan.items);
  }
  return applied;
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

async function collect(store: PlanStore, plan: PlanRecord, from: number, to: number): Promise<PlanItemRecord[]> {
  const all: PlanItemRecord[] = [];
  for await (const batch of store.items(plan, from, to)) all.push(...batch.filter((item) => item.writes));
  return all;
}

async function* pieces(store: PlanStore, plan: PlanRecord): AsyncGenerator<PlanItemRecord[]> {
  let piece: PlanItemRecord[] = [];
  let bytes = 0;
  for await (const batch of store.items(plan)) {
    for (const item of batch.filter((each) => each.writes)) {
      const size = (item.expect?.length ?? 0) + (item.result?.length ?? 0);
      if (piece.length > 0 && (piece.length >= transactionItems / 4 || bytes + size > transactionBytes / 2)) {
        yield piece;
        piece = [];
        bytes = 0;
      }
      piece.push(item);
      bytes += size;
    }
  }
  if (piece.length > 0) yield piece;
}

function rangeOf(piece: readonly PlanItemRecord[]): Piece {
  return { from: piece[0]!.index, to: piece[piece.length - 1]!.index + 1 };
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

/** One transaction, at most three tries; the driver's own retry loop would try for two minutes. */
async function commitItems(
  context: ApplyContext,
  store: PlanStore,
  plan: PlanRecord,
  session: ClientSession,
  items: readonly PlanItemRecord[],
  pastValidator: WriteOptions['pastValidator'],
): Promise<void> {
  if (items.length === 0) return;
  let removeFirst = false;
  for (let attempt = 1; ; attempt += 1) {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', j: true } });
    try {
      await writeItems(context.parent.client, session, items, { removeFirst, pastValidator });
      // Before the commit: should the engine die now, the parent's history tells whether this transaction is in it.
      const transaction = { id: transactionId(session), ...rangeOf(items) };
      await store.plans.updateOne({ _id: plan._id }, { $push: { transactions: transaction } });
      await session.commitTransaction();
      return;
    } catch (error) {
      await session.abortTransaction().catch(() => undefined);
      if (error instanceof OrderMatters && !removeFirst) {
        removeFirst = true;
        attempt -= 1;
        continue;
      }
      const transient = error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');
      if (!transient || attempt >= tries) throw transient ? busy(context.parent, error) : error;
    }
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

async function takeBack(
  context: ApplyContext,
  store: PlanStore,
  plan: PlanRecord,
  session: ClientSession,
  applied: readonly Piece[],
  cause: unknown,
): Promise<void> {
  for (const { from, to } of [...applied].reverse()) {
    const items = await collect(store, plan, from, to);
    await commitItems(context, store, plan, session, items.map(reverse), asItWas.pastValidator).catch(
      (error: unknown) => {
        if (isUnreachable(error)) throw error;
        throw new PartlyApplied(context.parent, cause);
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
      await history.moveBases(items.flatMap(({ touched }) => (touched ? [{ id: touched.id, base: touched.to }] : [])));
    }
  }
  if (plan.agreement) {
    const { parts, back } = plan.agreement;
    if (back === undefined) await storeAgreement(home, plan.branchId, { plan: plan._id, parts });
    else await dropAgreement(home, plan.branchId, back);
  }
  const entry = `${plan.kind}-${randomBytes(4).toString('hex')}`;
  const record: LogRecord = {
    _id: entry,
    time: new Date(),
    kind: plan.kind,
    branch: plan.branchName,
    branchId: plan.branchId,
    items: plan.items,
    plan: plan._id,
    text: sentence(plan),
  };
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
  const changes = plan.items === 1 ? '1 change' : `${plan.items} changes`;
  return plan.kind === 'adopt'
    ? `Adopted ${changes} from ${plan.branchName} into ${plan.parentName}`
    : `Took back ${changes} of ${plan.branchName} in ${plan.parentName}`;
}

export function sessionId(session: ClientSession): string {
  return (session.id as { id: { toString(encoding: 'hex'): string } }).id.toString('hex');
}

function transactionId(session: ClientSession): string {
  const { txnNumber } = session.serverSession as unknown as { txnNumber: number | bigint };
  return `${sessionId(session)}:${txnNumber}`;
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

function notReady(plan: PlanRecord): ForkyardError {
  const why = {
    applied: 'was applied already',
    applying: 'is being applied',
    stale: 'is stale',
    partly: 'was applied in part',
    ready: '',
  };
  return new ForkyardError('plan_stale', `The plan ${plan._id} ${why[plan.state]}.`, {
    hint: 'Compare again and make a new plan.',
    details: { moved: [] },
  });
}

function busy(parent: Side, cause: unknown): ForkyardError {
  return new ForkyardError(
    'write_refused',
    `Writers of ${parent.record.name} kept changing the same documents; nothing was applied.`,
    {
      hint: 'Try again in a moment.',
      retry: true,
      cause,
    },
  );
}
