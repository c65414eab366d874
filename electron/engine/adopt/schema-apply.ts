import { EJSON } from 'bson';
import type { Document } from 'mongodb';
import { toEjson } from '../../../shared/bson/ejson.ts';
import { documentValue } from '../../../shared/bson/value.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { SchemaStep } from '../home/plans.ts';
import { StalePlan } from './write.ts';

/**
 * Runs schema steps in order, each only where the parent is as the step expects it. A step whose outcome is already
 * there (an engine that died in between) is done.
 * @throws StalePlan naming what moved; steps already run are taken back.
 */
export async function applySchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  if (steps.length === 0) return;
  const catalog = await readCatalog(parent.client);
  const moved = steps.filter((step) => !holds(step, catalog) && !isCreatedHere(step, steps));
  if (moved.length > 0) throw new StalePlan(moved.map(({ ns }) => ({ ns })));
  const done: SchemaStep[] = [];
  try {
    for (const step of steps) {
      await run(parent, step.ns, step.command);
      done.push(step);
    }
  } catch (error) {
    await revertSchema(parent, done);
    throw error;
  }
}

/** Takes back what of these steps has been done, last first. A created collection that holds documents by now stays. */
export async function revertSchema(parent: Side, steps: readonly SchemaStep[]): Promise<void> {
  for (const step of [...steps].reverse()) {
    const catalog = await readCatalog(parent.client);
    if (holds(step, catalog)) continue;
    if (step.expect.type === 'collection' && !(await isEmpty(parent, step.ns))) continue;
    await run(parent, step.ns, step.inverse);
  }
}

/** The steps that take these back, in their order. */
export function reverseSteps(steps: readonly SchemaStep[]): SchemaStep[] {
  return [...steps].reverse().map((step) => ({
    ...step,
    command: step.inverse,
    inverse: step.command,
    text: `${step.text}, taken back`,
    expect: step.expect.type === 'validator' ? step.expect : { ...step.expect, present: !step.expect.present },
  }));
}

async function run(parent: Side, ns: string, command: string): Promise<void> {
  const [db] = splitNamespace(ns);
  const parsed = EJSON.parse(command, { relaxed: false }) as Document;
  if (typeof parsed['drop'] === 'string' && !(await isEmpty(parent, ns))) throw new StalePlan([{ ns }]);
  await parent.client.db(db).command(parsed);
}

async function isEmpty(parent: Side, ns: string): Promise<boolean> {
  const [db, name] = splitNamespace(ns);
  const listed = await parent.client.db(db).listCollections({ name }).toArray();
  if (listed[0]?.type === 'view') return true;
  return (
    (await parent.client
      .db(db)
      .collection(name)
      .findOne({}, { projection: { _id: 1 } })) === null
  );
}

/** Whether the parent is as the step expects it before it runs. */
function holds(step: SchemaStep, catalog: Catalog): boolean {
  const collection = catalog.byNamespace.get(step.ns);
  switch (step.expect.type) {
    case 'collection':
    case 'view':
      return (collection !== undefined) === step.expect.present;
    case 'index':
      return collection !== undefined && collection.indexes.has(step.expect.name ?? '') === step.expect.present;
    case 'validator': {
      const wanted = EJSON.parse(step.inverse, { relaxed: false }) as Document;
      const now =
        collection?.validation &&
        (EJSON.parse(toEjson(documentValue(collection.validation)), { relaxed: false }) as Document);
      return (
        EJSON.stringify(now?.['validator'] ?? {}, { relaxed: false }) ===
        EJSON.stringify(wanted['validator'] ?? {}, { relaxed: false })
      );
    }
  }
}

/** Validators and indexes of a collection that an earlier step of the same plan makes. */
function isCreatedHere(step: SchemaStep, steps: readonly SchemaStep[]): boolean {
  return steps.some((other) => other.ns === step.ns && other.expect.type === 'collection' && !other.expect.present);
}
