import { documentBytes, fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { text as textOf } from '../changes/catalog.ts';
import { definitionOf, setPart, type CatalogModel } from '../changes/definition.ts';
import type { SchemaDelta } from '../changes/schema.ts';
import { splitNamespace, type Comparison } from '../changes/touched.ts';
import type { PlanRecord, SchemaStep } from '../home/plans.ts';
import { describe, type ChosenSchema } from './schema-plan.ts';
import { createStep, isAt, partAfter, renameStep, stepsOf } from './schema-steps.ts';

/**
 * The schema steps of a plan in an order that works, tried on the parent's catalog: what goes, then what is renamed, then
 * what comes, then what changes; behind the documents validators, indexes, and views, each after the one it is made on.
 */
export class StepPlan {
  readonly steps: SchemaStep[] = [];
  /** So many steps come before the documents. */
  documentsAt = 0;
  /** Items that the steps carry out. */
  readonly carried = new Set<SchemaDelta>();
  readonly left: PlanRecord['checks'][number][] = [];
  private readonly comparison: Comparison;
  private readonly historySeq: number;
  private readonly model: CatalogModel;
  private readonly late: { readonly delta: SchemaDelta; readonly steps: readonly SchemaStep[] }[] = [];
  /** What collections are called after the renames, by UUID in the parent. */
  private readonly names = new Map<string, string>();

  /** @param missing collections that documents of the plan need, wanted or not */
  constructor(comparison: Comparison, chosen: ChosenSchema, plan: string, missing: ReadonlySet<string>) {
    this.comparison = comparison;
    this.historySeq = chosen.parentSeq;
    this.model = new Map(comparison.parentCatalog.byNamespace);
    const isCreation = (delta: SchemaDelta) => delta.type === 'collection' && delta.kind === 'added';
    const needed = chosen.unwanted.filter((delta) => isCreation(delta) && missing.has(delta.ns));
    const taken = [...chosen.taken, ...needed];
    const of = (test: (delta: SchemaDelta) => boolean) => taken.filter(test);
    for (const delta of of(({ kind, type }) => type === 'view' && kind === 'removed')) this.add(delta);
    for (const delta of of(({ kind, type }) => type === 'collection' && kind === 'removed')) this.add(delta);
    this.rename(
      of(({ type }) => type === 'rename'),
      plan,
    );
    for (const delta of of(isCreation)) this.add(delta);
    this.createMissing(missing);
    for (const delta of of(({ type, kind }) => type === 'options' || (type === 'collection' && kind === 'modified')))
      this.add(delta);
    for (const type of ['validator', 'index'] as const)
      for (const delta of of((each) => each.type === type)) this.add(delta);
    this.documentsAt = this.steps.length;
    this.addLate(of(({ type, kind }) => type === 'view' && kind !== 'removed'));
  }

  /** Whether the plan makes this collection with all that it holds: what a capped one holds has an order. */
  brings(ns: string): boolean {
    return this.steps.some((step) => step.ns === ns && isBrought(step));
  }

  /** What the collection that the parent calls so now is called when the documents are written. */
  nameFor(parentNs: string): string {
    const uuid = this.comparison.parentCatalog.byNamespace.get(parentNs)?.uuid;
    return (uuid === undefined ? undefined : this.names.get(uuid)) ?? parentNs;
  }

  /** Whether the plan drops this collection of the parent, with what it holds. */
  drops(uuid: string): boolean {
    return this.steps.some((step) => step.type === 'collection' && step.uuid === uuid && step.after === undefined);
  }

  /** Whether the plan makes this collection of the branch. */
  makes(uuid: string): boolean {
    return this.steps.some((step) => step.type === 'collection' && step.uuid === uuid && step.after !== undefined);
  }

  /** Whether something else has this name where documents of a collection of the branch would have to go. */
  isTaken(ns: string): boolean {
    const there = this.model.get(ns);
    const own = this.comparison.branchCatalog.byNamespace.get(ns);
    if (!there || !own) return there !== undefined;
    if (own.kind === 'timeseries') return there.kind !== own.kind || !sameBytes(there.options, own.options);
    return there.uuid !== own.uuid;
  }

  private placeOf(delta: SchemaDelta): string {
    return delta.parentNs === undefined ? delta.ns : this.nameFor(delta.parentNs);
  }

  private add(delta: SchemaDelta): void {
    const steps = stepsOf(delta, this.placeOf(delta), this.historySeq);
    if (typeof steps === 'string') {
      this.leaveOut(delta, steps);
      return;
    }
    if (!this.run(delta, steps.early)) return;
    if (steps.late.length > 0) this.late.push({ delta, steps: steps.late });
  }

  /** Takes the steps in where the parent is, by then, as they expect it. */
  private run(delta: SchemaDelta, steps: readonly SchemaStep[]): boolean {
    for (const step of steps) {
      if (!isAt(step, 'before', this.model)) {
        // It came with its collection.
        if (isAt(step, 'after', this.model)) continue;
        this.leaveOut(delta, this.obstacle(step));
        return false;
      }
      setPart(this.model, partAfter(step));
      this.steps.push(step);
    }
    this.carried.add(delta);
    return true;
  }

  private obstacle(step: SchemaStep): string {
    const name = this.comparison.parent.record.name;
    const wanted = step.type === 'rename' ? (step.to ?? step.ns) : step.ns;
    const makes =
      step.type === 'rename' || (step.before === undefined && (step.type === 'collection' || step.type === 'view'));
    return makes && this.model.has(wanted)
      ? `${name} has something else of the name ${wanted}`
      : `${name} does not have ${step.ns} as it was compared`;
  }

  private leaveOut(delta: SchemaDelta, why: string): void {
    const { branch, parent } = this.comparison;
    // Both sides of a way back are the same branch.
    const outcome = branch === parent ? 'stays as it is' : 'is shown but not carried over by an adoption';
    const detail = `${describe(delta)} ${outcome}: ${why}.`;
    this.left.push({ name: 'schema', ok: false, detail });
  }

  /** Whatever has a free name to go to goes first; a circle is opened by one that waits under another name. */
  private rename(deltas: readonly SchemaDelta[], plan: string): void {
    const open = deltas.flatMap((delta) => {
      const uuid =
        delta.parentNs === undefined ? undefined : this.comparison.parentCatalog.byNamespace.get(delta.parentNs)?.uuid;
      if (uuid !== undefined) return [{ delta: { ...delta, uuid }, original: delta, from: delta.parentNs! }];
      this.leaveOut(delta, `${this.comparison.parent.record.name} does not have that collection any more`);
      return [];
    });
    let waits = 0;
    const go = (entry: (typeof open)[number], to: string, continues: boolean) => {
      const step = renameStep(entry.delta, entry.from, to);
      setPart(this.model, partAfter(step));
      this.steps.push(continues ? { ...step, continues: true } : step);
      this.names.set(entry.delta.uuid, to);
    };
    const moved = new Set<(typeof open)[number]>();
    while (open.length > 0) {
      const free = open.findIndex(({ delta }) => !this.model.has(delta.ns));
      if (free >= 0) {
        const [entry] = open.splice(free, 1);
        go(entry!, entry!.delta.ns, moved.has(entry!));
        this.carried.add(entry!.original);
        continue;
      }
      const inCircle = open.find((entry) => !moved.has(entry) && open.some(({ from }) => from === entry.delta.ns));
      const holdsUp = open.find((entry) => open.every(({ from }) => from !== entry.delta.ns));
      if (holdsUp || !inCircle) {
        const entry = holdsUp ?? open[0]!;
        open.splice(open.indexOf(entry), 1);
        this.leaveOut(
          entry.original,
          `${this.comparison.parent.record.name} has something else of the name ${entry.delta.ns}`,
        );
        continue;
      }
      const waiting = `${splitNamespace(inCircle.from)[0]}.forkyard.waiting.${plan}.${waits}`;
      waits += 1;
      go(inCircle, waiting, false);
      inCircle.from = waiting;
      moved.add(inCircle);
    }
  }

  /** Collections that the parent dropped and that documents of the plan bring back: with all that is theirs. */
  private createMissing(missing: ReadonlySet<string>): void {
    for (const ns of missing) {
      const collection = this.comparison.branchCatalog.byNamespace.get(ns);
      if (!collection || collection.kind !== 'collection' || this.model.has(ns)) continue;
      const step = createStep(collection, `The collection ${ns}`, definitionOf(collection));
      setPart(this.model, partAfter(step));
      this.steps.push(step);
    }
  }

  private addLate(views: readonly SchemaDelta[]): void {
    const model = new Map(this.model);
    for (const { delta, steps } of this.late) this.run(delta, steps);
    const pending = new Map(views.map((delta) => [delta.ns, delta]));
    const addView = (delta: SchemaDelta) => {
      // Taken out first, so that a circle ends.
      pending.delete(delta.ns);
      const on = delta.branch && textOf(field(documentBytes(delta.branch), 'viewOn'));
      const base = pending.get(`${splitNamespace(delta.ns)[0]}.${on ?? ''}`);
      if (base) addView(base);
      const steps = stepsOf(delta, delta.ns, this.historySeq);
      if (typeof steps !== 'string') this.run(delta, [...steps.early, ...steps.late]);
    };
    for (const delta of views) if (pending.has(delta.ns)) addView(delta);
    // Documents are placed by how the parent is before them.
    this.model.clear();
    for (const [ns, collection] of model) this.model.set(ns, collection);
  }
}

/** A capped collection comes with its documents: they stand in an order, and transactions do not take them. */
export function isBrought(step: SchemaStep): boolean {
  if (step.type !== 'collection' || step.after === undefined || step.uuid === undefined) return false;
  return field(documentBytes(fromBase64(step.after)), 'capped')?.[1] === 1;
}
