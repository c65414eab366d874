import type { Document } from 'mongodb';
import { parseEjson } from '../../../shared/bson/ejson.ts';
import { documentValue, fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { SchemaStep } from '../home/plans.ts';
import { driverValue } from '../mongod/raw.ts';
import { StalePlan } from './write.ts';

/**
 * Looks at the parent before anything is written.
 * @throws StalePlan naming the collections that are not as a step expects them
 */
export async function checkSchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  if (steps.length === 0) return;
  const catalog = await readCatalog(parent.client);
  const moved = steps.filter((step) => !isAt(step, step.before, catalog) && !isCreatedHere(step, steps));
  if (moved.length > 0) throw new StalePlan([...new Set(moved.map(({ ns }) => ns))].map((ns) => ({ ns })));
}

/**
 * Runs schema steps in order, each only where the parent is as the step expects it.
 * @throws StalePlan naming what moved, ForkyardError `write_refused`; steps already run are taken back.
 */
export async function applySchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  await checkSchema(parent, steps);
  const done: SchemaStep[] = [];
  try {
    for (const step of steps) {
      await run(parent, step, step.command);
      done.push(step);
    }
  } catch (error) {
    await revertSchema(parent, done);
    throw error;
  }
}

/**
 * Goes on with steps that an engine which died had begun: those whose outcome is there are done.
 * @throws StalePlan, ForkyardError `write_refused`
 */
export async function resumeSchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  const catalog = await readCatalog(parent.client);
  await applySchema(
    parent,
    steps.filter((step) => !isAt(step, step.after, catalog)),
  );
}

/** Takes back what of these steps has been done, last first. A created collection that holds documents by now stays. */
export async function revertSchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  for (const step of [...steps].reverse()) {
    const catalog = await readCatalog(parent.client);
    if (!isAt(step, step.after, catalog)) continue;
    if (step.type === 'collection' && step.after !== undefined && !(await isEmpty(parent, step.ns))) continue;
    await run(parent, step, step.inverse);
  }
}

/** The steps that take these back, in their order. */
export function reverseSteps(steps: readonly SchemaStep[]): SchemaStep[] {
  return [...steps].reverse().map(({ before, after, ...step }) => ({
    ...step,
    command: step.inverse,
    inverse: step.command,
    text: `${step.text}, taken back`,
    ...(after === undefined ? {} : { before: after }),
    ...(before === undefined ? {} : { after: before }),
  }));
}

async function run(parent: Side, step: SchemaStep, command: string): Promise<void> {
  const [db] = splitNamespace(step.ns);
  // A map keeps the order of names that look like numbers; the command's own names do not.
  const parsed = Object.fromEntries(driverValue(parseEjson(command)) as Map<string, unknown>) as Document;
  if ('drop' in parsed && step.type === 'collection' && !(await isEmpty(parent, step.ns)))
    throw new StalePlan([{ ns: step.ns }]);
  await parent.client
    .db(db)
    .command(parsed)
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new ForkyardError('write_refused', `${step.text} was refused by ${parent.record.name}: ${why}`, {
        hint: `Leave ${step.ns} out with --only, or change it in one of the two branches. Nothing was applied.`,
        cause: error,
      });
    });
}

async function isEmpty(parent: Side, ns: string): Promise<boolean> {
  const [db, name] = splitNamespace(ns);
  const found = await parent.client
    .db(db)
    .collection(name)
    .findOne({}, { projection: { _id: 1 } });
  return found === null;
}

/** Whether what a step is about is defined like this in the parent; without a definition: whether it is not there. */
function isAt(step: SchemaStep, definition: string | undefined, catalog: Catalog): boolean {
  const there = catalog.byNamespace.get(step.ns);
  const wanted = definition === undefined ? undefined : fromBase64(definition);
  const same = (bytes: Uint8Array | undefined) => sameBytes(bytes && documentValue(bytes), wanted);
  switch (step.type) {
    case 'collection':
    case 'view':
      // Whatever else has the name is in the way.
      if (there && (there.kind === 'view') !== (step.type === 'view')) return false;
      return same(there?.options);
    case 'index':
      return there !== undefined && same(there.indexes.get(step.name ?? ''));
    case 'validator':
      return there !== undefined && same(there.validation);
  }
}

/** Validators and indexes of a collection that an earlier step of the same plan makes. */
function isCreatedHere(step: SchemaStep, steps: readonly SchemaStep[]): boolean {
  const makes = (other: SchemaStep) => other.type === 'collection' && other.before === undefined;
  return (
    step.before === undefined &&
    step.type !== 'collection' &&
    steps.some((other) => other.ns === step.ns && makes(other))
  );
}
