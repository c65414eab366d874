import { field } from '../../../shared/bson/walk.ts';
import type { CollectionSchema } from '../changes/catalog.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanItemRecord, PlanStore } from '../home/plans.ts';
import type { ItemRanges } from './checks.ts';

/** The items of a plan that is being made, in their order, and what they come to. */
export class PlanItems {
  /** How many of them are written. */
  writes = 0;
  /** Of the documents that are written, before and after. */
  bytes = 0;
  readonly plan: string;
  private readonly store: PlanStore;
  private readonly places = new Map<string, { from: number; to: number }>();
  private next = 0;

  constructor(store: PlanStore, plan: string) {
    this.store = store;
    this.plan = plan;
  }

  get ranges(): ItemRanges {
    return this.places;
  }

  /** Stores more of them. */
  async add(items: readonly Omit<PlanItemRecord, 'index'>[]): Promise<void> {
    const numbered = items.map((item): PlanItemRecord => ({ ...item, index: this.next++ }));
    await this.store.addItems(this.plan, numbered);
    for (const item of numbered) {
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
