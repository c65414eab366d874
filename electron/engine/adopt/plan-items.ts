import { field } from '../../../shared/bson/walk.ts';
import type { CollectionSchema } from '../changes/catalog.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanItemRecord, PlanStore } from '../home/plans.ts';
import type { ItemRanges } from './checks.ts';
import { writeOrder, type Takes } from './write-order.ts';

/** Above these a transaction no longer ends in time at a cache of 0.25 GB (measured: 100,000 documents never do). */
const transactionItems = 20_000;
const transactionBytes = 32 * 1024 * 1024;
/** Of documents that must be written together: with what else is in their piece, a transaction still takes them. */
const togetherItems = transactionItems / 4;
const togetherBytes = transactionBytes / 4;

/** The items of a plan that is being made, in their order, and what they come to. */
export class PlanItems {
  /** How many of them are written. */
  writes = 0;
  /** Of the documents that are written, before and after. */
  bytes = 0;
  readonly plan: string;
  private readonly store: PlanStore;
  private readonly places = new Map<string, { from: number; to: number }>();
  private readonly sizes: number[] = [];
  private next = 0;

  constructor(store: PlanStore, plan: string) {
    this.store = store;
    this.plan = plan;
  }

  /** What a dry run needs to know of them. */
  get extent(): { readonly ranges: ItemRanges; readonly inPieces: boolean } {
    return { ranges: this.places, inPieces: this.inPieces };
  }

  /** Whether they are more than one transaction takes. */
  get inPieces(): boolean {
    return this.writes > transactionItems || this.bytes > transactionBytes;
  }

  /** Stores more of them. */
  async add(items: readonly Omit<PlanItemRecord, 'index'>[]): Promise<void> {
    const numbered = items.map((item): PlanItemRecord => ({ ...item, index: this.next++ }));
    await this.store.addItems(this.plan, numbered);
    for (const item of numbered) {
      this.sizes.push(sizeOf(item));
      const range = this.places.get(item.ns);
      if (range) range.to = item.index + 1;
      else this.places.set(item.ns, { from: item.index, to: item.index + 1 });
      if (!item.writes) continue;
      this.writes += 1;
      this.bytes += sizeOf(item);
    }
  }

  /** Takes items out again that are written and that the parent could not take, by index. */
  async leaveOut(refused: ReadonlyMap<number, unknown>): Promise<void> {
    const dropped = await this.store.removeItems(this.plan, [...refused.keys()]);
    this.writes -= dropped.length;
    for (const item of dropped) this.bytes -= sizeOf(item);
  }

  /**
   * Of a plan that is written in pieces: puts the items that take unique values from each other behind all others, in an order
   * in which every value is free when its turn comes.
   */
  async arrange(takes: Takes): Promise<void> {
    if (!this.inPieces || takes.size === 0) return;
    const fits = (items: readonly number[]) =>
      items.length <= togetherItems && items.reduce((sum, index) => sum + this.sizes[index]!, 0) <= togetherBytes;
    const turns = writeOrder(takes, fits).map((turn) => ({ ...turn, to: this.next++ }));
    await this.store.moveItems(this.plan, turns);
  }
}

function sizeOf({ expect, result }: Pick<PlanItemRecord, 'expect' | 'result'>): number {
  return (expect?.length ?? 0) + (result?.length ?? 0);
}

/** Why the server writes no documents of this collection in a transaction, if so. */
export function outsideTransactions(collection: CollectionSchema | undefined, ns: string): string | undefined {
  if (collection && field(collection.options, 'capped')?.[1] === 1)
    return 'a capped collection takes no part in transactions';
  if (splitNamespace(ns)[1] === 'system.js') return 'the server takes no stored function in a transaction';
  return undefined;
}
