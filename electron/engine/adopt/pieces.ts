import { MongoServerError, type ClientSession } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Side } from '../changes/side.ts';
import { reverse, type PlanItemRecord, type PlanRecord, type PlanStore } from '../home/plans.ts';
import { asItWas, OrderMatters, writeItems, type WriteOptions } from './write.ts';

/** With documents that must stay together a piece is at most twice as large, which a transaction takes. */
const pieceItems = 5_000;
const pieceBytes = 16 * 1024 * 1024;
const tries = 3;

/** A stretch of a plan's items that one transaction writes: `from <= index < to`. */
export interface Piece {
  readonly from: number;
  readonly to: number;
}

/** Where a plan's documents are written, and where its transactions are noted. */
export interface Writing {
  readonly parent: Side;
  readonly store: PlanStore;
  readonly plan: PlanRecord;
  readonly session: ClientSession;
}

/** The items of a piece that write, as each is written in its turn. */
export async function collect(store: PlanStore, plan: PlanRecord, { from, to }: Piece): Promise<PlanItemRecord[]> {
  const all: PlanItemRecord[] = [];
  for await (const batch of store.items(plan, from, to))
    all.push(...batch.filter((item) => item.writes).map(inItsTurn));
  return all;
}

/** What is done to the document in this turn: one that stands aside meanwhile is removed in one, and put there in another. */
export function inItsTurn(item: PlanItemRecord): PlanItemRecord {
  if (item.part === undefined) return item;
  return item.part === 'leave' ? { ...item, result: undefined } : { ...item, expect: undefined };
}

/** The items of a plan that write, as many at a time as a transaction takes; documents that belong together stay so. */
export async function* pieces(store: PlanStore, plan: PlanRecord): AsyncGenerator<PlanItemRecord[]> {
  let piece: PlanItemRecord[] = [];
  let bytes = 0;
  for await (const batch of store.items(plan)) {
    for (const item of batch.filter((each) => each.writes)) {
      const size = (item.expect?.length ?? 0) + (item.result?.length ?? 0);
      const isFull = piece.length >= pieceItems || bytes + size > pieceBytes;
      const joins = item.together !== undefined && item.together === piece.at(-1)?.together;
      if (piece.length > 0 && isFull && !joins) {
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

export function rangeOf(piece: readonly PlanItemRecord[]): Piece {
  return { from: piece[0]!.index, to: piece[piece.length - 1]!.index + 1 };
}

/** Takes a piece that was committed back, guarded. @throws StalePlan where a document of it moved since */
export async function takeBackPiece(writing: Writing, piece: Piece): Promise<void> {
  const items = await collect(writing.store, writing.plan, piece);
  await commitItems(writing, items.map(reverse), { pastValidator: asItWas.pastValidator, back: true });
}

/**
 * Writes items in one transaction, at most three tries; the driver's own retry loop would try for two minutes.
 * @param options.back whether it takes back what an earlier transaction of the plan wrote
 * @throws StalePlan, ForkyardError
 */
export async function commitItems(
  { parent, store, plan, session }: Writing,
  items: readonly PlanItemRecord[],
  { pastValidator, back = false }: Pick<WriteOptions, 'pastValidator'> & { readonly back?: boolean },
): Promise<void> {
  if (items.length === 0) return;
  let removeFirst = false;
  for (let attempt = 1; ; attempt += 1) {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', j: true } });
    try {
      await writeItems(parent.client, session, items, { removeFirst, pastValidator });
      // Before the commit: should the engine die now, the parent's history tells whether this transaction is in it.
      const transaction = { id: transactionId(session), ...rangeOf(items), ...(back ? { back: true as const } : {}) };
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
      if (!transient || attempt >= tries) throw transient ? busy(parent, error) : error;
    }
  }
}

export function sessionId(session: ClientSession): string {
  return (session.id as { id: { toString(encoding: 'hex'): string } }).id.toString('hex');
}

function transactionId(session: ClientSession): string {
  const { txnNumber } = session.serverSession as unknown as { txnNumber: number | bigint };
  return `${sessionId(session)}:${txnNumber}`;
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
