import { sameBytes } from '../../../shared/bson/value.ts';
import type { Catalog } from '../changes/catalog.ts';
import type { BackDocument, LeftOut } from '../changes/rewind.ts';
import type { Side } from '../changes/side.ts';
import { uuidText, type Comparison } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { namedConflicts, PlanStore, type PlanItemRecord, type PlanRecord, type Undecided } from '../home/plans.ts';
import { checkItems } from './checks.ts';
import { outsideTransactions, PlanItems } from './plan-items.ts';
import { explainChangedAgain } from './schema-conflict.ts';
import { ChosenSchema } from './schema-plan.ts';
import { countItems } from './schema-steps.ts';
import { checkSteps } from './step-checks.ts';
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
  /** Documents of which the same was changed again: how many, and the first of them. Asked once all have been read. */
  readonly conflicts: () => { readonly count: number; readonly named: readonly Undecided[] };
}

/** Stores a plan that goes back, with the exact bytes it expects and will leave; it is applied like any other. */
export function storeWayBack(home: Home, way: WayBack): Promise<PlanRecord> {
  const store = new PlanStore(home);
  return store.make((id) => build(home, store, id, way));
}

async function build(home: Home, store: PlanStore, id: string, way: WayBack): Promise<PlanRecord> {
  const { side } = way;
  const comparison = comparisonOf(way);
  const chosen = ChosenSchema.ofWayBack(comparison);
  const schema = new StepPlan(comparison, chosen, id, new Set());
  const items = new PlanItems(store, id);
  const documents = new BackDocuments(way, schema);
  for await (const page of way.documents) await items.add(documents.items(page));
  const trial = { home, store, planId: id, comparison, ...items.extent };
  // An index that what stays would stand in the way of does not come back.
  const { refused, checks } = await checkSteps(trial, schema);
  const possible = chosen.without(refused.map(({ target }) => target));
  const steps = refused.length === 0 ? schema : new StepPlan(comparison, possible, id, new Set());
  const found = await checkItems(trial, steps, { pastValidators: true });
  // What would share a unique key with what stays.
  await items.leaveOut(found.refused);
  await items.arrange(found.takes);
  const left = [
    ...way.leftOut().map(({ name, detail }) => ({ name, ok: false, detail })),
    ...steps.left,
    ...documents.leftOut(),
  ];
  const conflicts = way.conflicts();
  const changedAgain = chosen.undecided.map((delta) => ({ ns: delta.ns, text: explainChangedAgain(delta) }));
  const open = [...changedAgain, ...conflicts.named];
  return {
    _id: id,
    kind: way.kind,
    text: way.text,
    branchId: side.record._id,
    branchName: side.record.name,
    parentId: side.record._id,
    parentName: side.record.name,
    createdAt: new Date(),
    items: items.writes + countItems(steps.steps),
    conflicts: conflicts.count + chosen.undecided.length + refused.length + found.refused.size,
    undecided: [...open, ...refused.map(({ undecided }) => undecided), ...found.refused.values()].slice(
      0,
      namedConflicts,
    ),
    bytes: items.bytes,
    inPieces: items.inPieces,
    schema: steps.steps,
    documentsAt: steps.documentsAt,
    checks: [
      ...left,
      ...open.map(({ text }) => ({ name: 'conflict', ok: false, detail: text })),
      ...checks,
      ...found.checks,
    ],
    state: 'ready',
    ...(left.length === 0 ? {} : { leftOut: left.map(({ detail }) => detail) }),
  };
}

/** Schema commands that lead from what is there to what is to be, and those that cannot. */
export function schemaBack(way: Pick<WayBack, 'side' | 'base' | 'now' | 'then'>): Pick<StepPlan, 'steps' | 'left'> {
  return new StepPlan(comparisonOf(way), ChosenSchema.ofWayBack(comparisonOf(way)), 'preview', new Set());
}

function comparisonOf({ side, base, now, then }: Pick<WayBack, 'side' | 'base' | 'now' | 'then'>): Comparison {
  return { branch: side, parent: side, base, branchCatalog: then, parentCatalog: now };
}

class BackDocuments {
  private readonly way: WayBack;
  private readonly schema: StepPlan;
  /** Documents that cannot be written, by collection and why. */
  private readonly left = new Map<string, { count: number; readonly ns: string; readonly why: string }>();

  constructor(way: WayBack, schema: StepPlan) {
    this.way = way;
    this.schema = schema;
  }

  /** What is written of these; what cannot be is counted. */
  items(page: readonly BackDocument[]): Omit<PlanItemRecord, 'index'>[] {
    return page.flatMap((document) => {
      const { key, then: result, now: expect } = document;
      // It goes with its collection.
      if (sameBytes(result, expect) || this.schema.drops(uuidText(document.uuid))) return [];
      const ns = this.place(document);
      const why = this.obstacle(document, ns);
      if (why === undefined) return [{ ns, key, expect, result, writes: true }];
      const known = this.left.get(`${ns} ${why}`);
      if (known) known.count += 1;
      else this.left.set(`${ns} ${why}`, { count: 1, ns, why });
      return [];
    });
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
    const made = this.schema.makes(uuidText(uuid));
    const lost = there || made ? undefined : 'its collection cannot be made again';
    return outsideTransactions(collection, ns) ?? lost;
  }
}
