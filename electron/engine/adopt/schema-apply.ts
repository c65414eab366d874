import type { Document } from 'mongodb';
import { parseEjson } from '../../../shared/bson/ejson.ts';
import { documentBytes } from '../../../shared/bson/value.ts';
import { elements } from '../../../shared/bson/walk.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { bucketsNamespace, readCatalog } from '../changes/catalog.ts';
import { setPart } from '../changes/definition.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, type PlanRecord, type SchemaStep } from '../home/plans.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import { isUnreachable } from '../mongod/unreachable.ts';
import { AsideCollection } from './aside.ts';
import { isAt, partAfter } from './schema-steps.ts';
import { StalePlan } from './write.ts';

/**
 * The schema steps of one plan, run in order. Which step is being run is written down before it is, so that an engine that
 * died in one knows where to go on or back: the steps before it are done, those behind it are not, and what became of the
 * one itself the catalog tells.
 */
export class SchemaRun {
  private readonly home: Home;
  private readonly parent: Side;
  private readonly plan: PlanRecord;
  private readonly steps: SchemaStep[];
  private at: number;

  constructor(home: Home, parent: Side, plan: PlanRecord) {
    this.home = home;
    this.parent = parent;
    this.plan = plan;
    this.steps = [...plan.schema];
    this.at = plan.schemaAt ?? 0;
  }

  /**
   * Looks at the parent before anything is written.
   * @throws StalePlan naming the collections that are not as the steps expect them
   */
  async check(): Promise<void> {
    if (this.steps.length === 0) return;
    const model = new Map((await readCatalog(this.parent.client)).byNamespace);
    const moved = new Set<string>();
    for (const step of this.steps) {
      if (!isAt(step, 'before', model)) moved.add(step.ns);
      setPart(model, partAfter(step));
    }
    if (moved.size > 0) throw new StalePlan([...moved].map((ns) => ({ ns })));
  }

  /**
   * Runs the steps up to `end`.
   * @throws StalePlan naming what moved, ForkyardError `write_refused`; what was done is for {@link back}
   */
  async forward(end = this.steps.length): Promise<void> {
    while (this.at < end) {
      await this.note();
      const step = this.steps[this.at]!;
      if (!(await this.isDone(step))) await this.run(step, this.at);
      this.at += 1;
    }
    await this.note();
  }

  /**
   * Takes back what was done, last first. A collection that the plan made and that others wrote into by now stays.
   * @throws ForkyardError where what stands aside cannot come back: its name is another's by now
   */
  async back(): Promise<void> {
    for (let index = Math.min(this.at, this.steps.length - 1); index >= 0; index -= 1) {
      this.at = index;
      await this.note();
      await this.revert(this.steps[index]!, index);
    }
  }

  /** What only stands aside is dropped, now that the plan is through. */
  async end(): Promise<void> {
    const gone = this.steps.map((step, index) => ({ step, index })).filter(({ step }) => isDrop(step));
    if (gone.length === 0) return;
    for (const { step, index } of gone) await this.aside(step, index).drop();
    await this.plans.updateOne({ _id: this.plan._id }, { $unset: { asides: true } });
  }

  private get plans() {
    return new PlanStore(this.home).plans;
  }

  private aside(step: SchemaStep, index: number): AsideCollection {
    return new AsideCollection(this.home, this.parent, this.plan._id, index, step);
  }

  private async note(): Promise<void> {
    if (this.steps.length > 0) await this.plans.updateOne({ _id: this.plan._id }, { $set: { schemaAt: this.at } });
  }

  private async isDone(step: SchemaStep): Promise<boolean> {
    // A drop is done with what was kept, which the catalog does not tell.
    if (isDrop(step)) return false;
    const { byNamespace } = await readCatalog(this.parent.client);
    return isAt(step, 'after', byNamespace) && !isAt(step, 'before', byNamespace);
  }

  private async run(step: SchemaStep, index: number): Promise<void> {
    if (isDrop(step)) {
      await this.plans.updateOne({ _id: this.plan._id }, { $set: { asides: true } });
      const kept = await this.aside(step, index).setAside();
      if (!kept) return;
      this.steps[index] = { ...step, kept };
      await this.plans.updateOne({ _id: this.plan._id }, { $set: { [`schema.${index}.kept`]: kept } });
    } else if (isMake(step)) await this.accepted(step, () => this.aside(step, index).bring());
    else if (isSeries(step) && step.after === undefined && (await this.isWrittenTo(step)))
      throw new StalePlan([{ ns: step.ns }]);
    else await this.command(step, step.command);
  }

  private async revert(step: SchemaStep, index: number): Promise<void> {
    if (isDrop(step)) {
      await this.aside(step, index).comeBack();
      return;
    }
    const { byNamespace } = await readCatalog(this.parent.client);
    const done = isAt(step, 'after', byNamespace);
    if (isMake(step)) {
      const aside = this.aside(step, index);
      if (done || (await aside.isThere())) await aside.takeAway();
    } else if (done && !(isSeries(step) && step.after !== undefined && (await this.isWrittenTo(step))))
      await this.command(step, step.inverse);
  }

  /** Whether a time-series collection holds measurements: what a plan brought is gone when it drops the collection. */
  private async isWrittenTo({ ns }: SchemaStep): Promise<boolean> {
    const [db, collection] = splitNamespace(bucketsNamespace(ns));
    return (await rawFindAll(this.parent.client.db(db), { collection, filter: {}, limit: 1 })).length > 0;
  }

  private async command(step: SchemaStep, text: string): Promise<void> {
    const parts = elements(documentBytes(parseEjson(text)));
    const command: Document = Object.fromEntries(parts.map(({ name, value }) => [name, driverValue(value)]));
    const db = step.type === 'rename' ? 'admin' : splitNamespace(step.ns)[0];
    await this.accepted(step, () => this.parent.client.db(db).command(command));
  }

  private async accepted(step: SchemaStep, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ForkyardError || error instanceof StalePlan || isUnreachable(error)) throw error;
      const why = reasonOf(error);
      throw new ForkyardError('write_refused', `${step.text} was refused by ${this.parent.record.name}: ${why}`, {
        hint: `Leave ${step.ns} out with --only, or change it in one of the two branches. Nothing was applied.`,
        cause: error,
      });
    }
  }
}

/** Of an index build the server's reason stands behind the build's and the collection's UUIDs (seen on 6.0.5). */
function reasonOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return why.replace(/^Index build failed: [\da-f-]{36}: Collection .*? \( [\da-f-]{36} \) :: caused by :: /, '');
}

/** The steps that take these back, in their order. */
export function reverseSteps(steps: readonly SchemaStep[]): SchemaStep[] {
  const reversed: SchemaStep[] = [];
  for (const { before, after, unchangedSince: _, ...step } of [...steps].reverse()) {
    const renamed = step.type === 'rename' && step.to !== undefined ? { ns: step.to, to: step.ns } : {};
    reversed.push({
      ...step,
      ...renamed,
      command: step.inverse,
      inverse: step.command,
      text: `${step.text}, taken back`,
      ...(after === undefined ? {} : { before: after }),
      ...(before === undefined ? {} : { after: before }),
    });
  }
  return reversed;
}

function isDrop(step: SchemaStep): boolean {
  return step.type === 'collection' && step.after === undefined && step.uuid !== undefined;
}

/** A time-series collection is made or dropped by the step. */
function isSeries(step: SchemaStep): boolean {
  return step.type === 'collection' && step.uuid === undefined;
}

/** A time-series collection is made by its own command: what it is stored as has no name of its own to stand aside. */
function isMake(step: SchemaStep): boolean {
  return step.type === 'collection' && step.after !== undefined && step.uuid !== undefined;
}
