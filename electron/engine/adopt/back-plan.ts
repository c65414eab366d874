import { randomBytes } from 'node:crypto';
import { sameBytes } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { Catalog } from '../changes/catalog.ts';
import type { BackDocument, LeftOut } from '../changes/rewind.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace, uuidText, type Comparison } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { namedConflicts, PlanStore, type PlanItemRecord, type PlanRecord } from '../home/plans.ts';
import { checkItems } from './checks.ts';
import { ChosenSchema } from './schema-plan.ts';
import { countItems } from './schema-steps.ts';
import { StepPlan } from './step-plan.ts';

/** What a plan that goes back inside one branch is made of. */
export interface WayBack {
  readonly kind: PlanRecord['kind'];
  /** What the log will say. */
  readonly text: string;
  readonly side: Side;
  /** The schema three-way: what the taken-back changes left, what is there now, and what it is to be. */
  readonly base: Catalog;
  readonly now: Catalog;
  readonly then: Catalog;
  readonly documents: AsyncIterable<readonly BackDocument[]>;
  /** Asked once all documents have been read. */
  readonly leftOut: () => readonly LeftOut[];
  readonly conflicts: () => number;
}

/** Stores a plan that goes back, with the exact bytes it expects and will leave; it is applied like any other. */
export async function storeWayBack(home: Home, way: WayBack): Promise<PlanRecord> {
  const store = new PlanStore(home);
  const id = `plan-${randomBytes(6).toString('hex')}`;
  try {
    return await build(home, store, id, way);
  } catch (error) {
    await store.drop(id);
    throw error;
  }
}

async function build(home: Home, store: PlanStore, id: string, way: WayBack): Promise<PlanRecord> {
  const { side } = way;
  const chosen = ChosenSchema.ofWayBack(comparisonOf(way));
  const schema = new StepPlan(comparisonOf(way), chosen, id, new Set());
  const items = new Items(store, id, way, schema);
  for await (const page of way.documents) await items.add(page);
  const trial = { home, store, planId: id, comparison: comparisonOf(way), ranges: items.ranges };
  const found = await checkItems(trial, schema.steps, { pastValidators: true });
  await items.leaveOut(found.refused);
  const plan: PlanRecord = {
    _id: id,
    kind: way.kind,
    text: way.text,
    branchId: side.record._id,
    branchName: side.record.name,
    parentId: side.record._id,
    parentName: side.record.name,
    createdAt: new Date(),
    items: items.count + countItems(schema.steps),
    conflicts: way.conflicts() + chosen.undecided.length + found.refused.size,
    undecided: [...found.refused.values()].slice(0, namedConflicts),
    bytes: items.bytes,
    schema: schema.steps,
    documentsAt: schema.documentsAt,
    checks: [],
    state: 'ready',
  };
  const left = [
    ...way.leftOut().map(({ name, detail }) => ({ name, ok: false, detail })),
    ...schema.left,
    ...items.leftOut(),
  ];
  const checks = [...left, ...found.checks];
  const leftOut = left.map(({ detail }) => detail);
  const checked = { ...plan, checks, ...(leftOut.length === 0 ? {} : { leftOut }) };
  await store.plans.insertOne(checked);
  return checked;
}

/** Schema commands that lead from what is there to what is to be, and those that cannot. */
export function schemaBack(way: Pick<WayBack, 'side' | 'base' | 'now' | 'then'>): Pick<StepPlan, 'steps' | 'left'> {
  return new StepPlan(comparisonOf(way), ChosenSchema.ofWayBack(comparisonOf(way)), 'preview', new Set());
}

function comparisonOf({ side, base, now, then }: Pick<WayBack, 'side' | 'base' | 'now' | 'then'>): Comparison {
  return { branch: side, parent: side, base, branchCatalog: then, parentCatalog: now };
}

class Items {
  count = 0;
  bytes = 0;
  /** Where the items of each collection are. */
  readonly ranges = new Map<string, { from: number; to: number }>();
  private index = 0;
  private readonly store: PlanStore;
  private readonly plan: string;
  private readonly way: WayBack;
  private readonly schema: StepPlan;
  /** Documents that cannot be written, by collection and why. */
  private readonly left = new Map<string, { count: number; readonly ns: string; readonly why: string }>();

  constructor(store: PlanStore, plan: string, way: WayBack, schema: StepPlan) {
    this.store = store;
    this.plan = plan;
    this.way = way;
    this.schema = schema;
  }

  async add(page: readonly BackDocument[]): Promise<void> {
    const items: PlanItemRecord[] = [];
    for (const document of page) {
      const { key, then: result, now: expect } = document;
      // It goes with its collection.
      if (sameBytes(result, expect) || this.schema.drops(uuidText(document.uuid))) continue;
      const ns = this.place(document);
      const why = this.obstacle(document, ns);
      if (why !== undefined) {
        const known = this.left.get(`${ns} ${why}`);
        if (known) known.count += 1;
        else this.left.set(`${ns} ${why}`, { count: 1, ns, why });
        continue;
      }
      items.push({ index: this.index, ns, key, expect, result, writes: true });
      const range = this.ranges.get(ns);
      if (range) range.to = this.index + 1;
      else this.ranges.set(ns, { from: this.index, to: this.index + 1 });
      this.index += 1;
      this.count += 1;
      this.bytes += (expect?.length ?? 0) + (result?.length ?? 0);
    }
    await this.store.addItems(this.plan, items);
  }

  /** Takes items out again that would share a unique key with what stays. */
  async leaveOut(refused: ReadonlyMap<number, unknown>): Promise<void> {
    const dropped = await this.store.removeItems(this.plan, [...refused.keys()]);
    this.count -= dropped.length;
    for (const { expect, result } of dropped) this.bytes -= (expect?.length ?? 0) + (result?.length ?? 0);
  }

  leftOut(): PlanRecord['checks'] {
    return [...this.left.values()].map(({ count, ns, why }) => ({
      name: 'documents',
      ok: false,
      detail: `${count === 1 ? '1 document' : `${count} documents`} of ${ns} cannot be put back: ${why}.`,
    }));
  }

  /** Renames come first: a collection that gets its former name back is found under that. */
  private place({ uuid, ns }: BackDocument): string {
    const there = this.way.now.byUuid.get(uuidText(uuid));
    return there ? this.schema.nameFor(there.ns) : ns;
  }

  /** Why a document cannot be written, if so. */
  private obstacle({ uuid }: BackDocument, ns: string): string | undefined {
    const there = this.way.now.byUuid.get(uuidText(uuid));
    const collection = there ?? this.way.then.byUuid.get(uuidText(uuid));
    if (collection && field(collection.options, 'capped')?.[1] === 1)
      return 'a capped collection takes no part in transactions';
    if (splitNamespace(ns)[1] === 'system.js') return 'the server takes no stored function in a transaction';
    const made = this.schema.makes(uuidText(uuid));
    return there || made ? undefined : 'its collection cannot be made again';
  }
}
