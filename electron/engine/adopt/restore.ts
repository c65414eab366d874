import { goneSeries, type BackDocument, type LeftOut, type Rewind } from '../changes/rewind.ts';
import { Catalog } from '../changes/catalog.ts';
import { DroppedCollection } from '../changes/dropped.ts';
import type { MomentAt } from '../changes/moment.ts';
import { seriesDroppedBetween } from '../changes/schema-history.ts';
import type { Side } from '../changes/side.ts';
import type { PlanRecord } from '../home/plans.ts';
import { storeWayBack } from './back-plan.ts';

/** The whole state of a branch at a moment, as far as it is known, against now. */
export class Restoration {
  readonly rewind: Rewind;
  /** The catalog then, without collections whose documents are recorded nowhere. */
  readonly then: Catalog;
  private readonly dropped: readonly DroppedCollection[];

  private constructor(rewind: Rewind, then: Catalog, dropped: readonly DroppedCollection[]) {
    this.rewind = rewind;
    this.then = then;
    this.dropped = dropped;
  }

  /** @param parent the branch that the source came from, where it has one that runs */
  static async open(rewind: Rewind, parent: Side | undefined): Promise<Restoration> {
    const dropped: DroppedCollection[] = [];
    // By UUID, series by name.
    const lost = new Set<string>();
    for (const uuid of rewind.dropped) {
      const collection = await DroppedCollection.open(rewind, uuid, parent);
      if (typeof collection === 'string') {
        rewind.leaveOut({ name: 'documents', detail: `${collection} It stays as it is now.` });
        if (!rewind.now.byUuid.has(uuid)) lost.add(uuid);
      } else dropped.push(collection);
    }
    const { home, source, at, upTo } = rewind;
    for (const ns of await seriesDroppedBetween(home, source.record._id, at.seq, upTo)) {
      if (rewind.then.byNamespace.get(ns)?.kind !== 'timeseries') continue;
      rewind.leaveOut(goneSeries(ns));
      if (rewind.now.byNamespace.get(ns)?.kind !== 'timeseries') lost.add(ns);
    }
    const kept = [...rewind.then.byNamespace.values()].filter(({ uuid, ns }) => !lost.has(uuid ?? ns));
    return new Restoration(rewind, new Catalog(kept), dropped);
  }

  /** Every document that differs, a page at a time; those of collections made since go with them. */
  async *documents(within?: string): AsyncGenerator<BackDocument[]> {
    yield* this.rewind.documents(within);
    for (const collection of this.dropped) {
      if (within === undefined || collection.ns === within) yield* collection.documents();
    }
  }

  get leftOut(): LeftOut[] {
    return this.rewind.leftOut;
  }
}

/** Plans to put the rewound side back to the moment, every document whole. */
export function createRestorePlan(
  restoration: Restoration,
  as: { readonly kind: PlanRecord['kind']; readonly text: string } | undefined = undefined,
): Promise<PlanRecord> {
  const { rewind, then } = restoration;
  return storeWayBack(rewind.home, {
    ...(as ?? { kind: 'restore', text: `Put ${rewind.side.record.name} back to ${momentText(rewind)}` }),
    side: rewind.side,
    base: rewind.now,
    now: rewind.now,
    then,
    documents: restoration.documents(),
    leftOut: () => restoration.leftOut,
    conflicts: () => ({ count: 0, named: [] }),
  });
}

function momentText({ source, side, at }: Rewind): string {
  const whose = source.record._id === side.record._id ? '' : ` of ${source.record.name}`;
  return at.seq === 0 ? `the beginning${whose}` : `change ${at.seq}${whose}${timeText(at)}`;
}

function timeText({ time }: MomentAt): string {
  return time ? ` (${time.toISOString()})` : '';
}
