import { keyText } from '../../../shared/bson/key.ts';
import { fromBase64, documentBytes, documentValue, sameBytes, toBase64 } from '../../../shared/bson/value.ts';
import { documentName } from '../../../shared/changes/explain.ts';
import type { CollectionSchema } from '../changes/catalog.ts';
import { readByKey, type Comparison } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import type { PlanItemRecord, PlanRecord, PlanStore, SchemaStep, Undecided } from '../home/plans.ts';
import { nameBefore } from './schema-steps.ts';
import { UniqueTrial, type Clash, type ItemSource } from './unique-clashes.ts';
import { uniqueIndex, type UniqueIndex } from './unique-keys.ts';
import { refusedItems } from './validators.ts';
import type { Takes } from './write-order.ts';

export type Check = PlanRecord['checks'][number];

/** Where a plan's items of each collection are: `from <= index < to`. */
export type ItemRanges = ReadonlyMap<string, { readonly from: number; readonly to: number }>;

export interface Findings {
  readonly checks: readonly Check[];
  /** Items that the parent could not take, by index. */
  readonly refused: ReadonlyMap<number, Undecided>;
  readonly unvalidated: NonNullable<PlanRecord['unvalidated']>;
  /** Which items take a key that another one gives up; told of a plan that is written in pieces. */
  readonly takes: Takes;
}

/** So many clashes are looked for; beyond them the parent's own server has the last word when the plan is applied. */
const most = 1_000;

/** A plan's schema steps; so many of them come before its documents. */
export interface StepOrder {
  readonly steps: readonly SchemaStep[];
  readonly documentsAt: number;
}

/** What a dry run needs to know of a plan that is being made. */
export interface Trial {
  readonly home: Home;
  readonly store: PlanStore;
  readonly planId: string;
  readonly comparison: Comparison;
  readonly ranges: ItemRanges;
  /** Whether its documents are more than one transaction takes. */
  readonly inPieces: boolean;
}

/**
 * A dry run that writes nothing to the parent: will its unique indexes and validators, as they are after the plan's schema
 * steps, take what the plan leaves?
 * @param options.pastValidators the plan brings back what was there: validators are not asked
 */
export async function checkItems(
  trial: Trial,
  order: StepOrder,
  { pastValidators = false }: { readonly pastValidators?: boolean } = {},
): Promise<Findings> {
  const refused = new Map<number, Undecided>();
  const checks: Check[] = [];
  const unvalidated: { ns: string; validation: string }[] = [];
  const takes = new Map<number, number[]>();
  for (const ns of trial.ranges.keys()) {
    const collection = collectionAfter(trial.comparison, ns, order);
    if (!collection) continue;
    const { indexes, validation } = collection;
    const clashes: Clash[] = [];
    if (validation && !pastValidators) {
      const { clashing, accepted } = await validatorClashes(trial, order.steps, ns, validation);
      clashes.push(...clashing);
      if (accepted) unvalidated.push({ ns, validation: toBase64(documentValue(validation)) });
    }
    const found = await uniqueClashes(trial, ns, indexes, clashes, trial.inPieces ? takes : undefined);
    for (const { item, text, name } of found) {
      refused.set(item.index, { ns, id: toBase64(item.key), text });
      checks.push({ name, ok: false, detail: text });
      if (refused.size < most) continue;
      const detail = `More documents may be refused: the first ${most} are named, and left out.`;
      return { checks: [...checks, { name: 'dry run', ok: false, detail }], refused, unvalidated, takes };
    }
  }
  if (checks.length === 0) {
    checks.push({ name: 'dry run', ok: true, detail: 'Unique indexes and validators accept every document.' });
  }
  return { checks, refused, unvalidated, takes };
}

export function byNamespace(items: readonly PlanItemRecord[]): Map<string, PlanItemRecord[]> {
  const groups = new Map<string, PlanItemRecord[]>();
  for (const item of items) {
    const group = groups.get(item.ns);
    if (group) group.push(item);
    else groups.set(item.ns, [item]);
  }
  return groups;
}

/** The branch's collection that has this name in the parent once the steps are done. */
export function heldByBranch(
  { branchCatalog, parentCatalog }: Comparison,
  steps: readonly SchemaStep[],
  ns: string,
): CollectionSchema | undefined {
  const before = nameBefore(steps, ns);
  const uuid = before === undefined ? undefined : parentCatalog.byNamespace.get(before)?.uuid;
  return (uuid === undefined ? undefined : branchCatalog.byUuid.get(uuid)) ?? branchCatalog.byNamespace.get(ns);
}

/** A plan's items of one collection that are written. */
export function itemsOf({ store, planId, ranges }: Trial, ns: string): ItemSource {
  const range = ranges.get(ns);
  return async function* written() {
    if (!range) return;
    for await (const page of store.items({ _id: planId }, range.from, range.to)) {
      yield page.filter((item) => item.ns === ns && item.writes);
    }
  };
}

interface After {
  readonly indexes: readonly { readonly index: UniqueIndex; readonly indexed: boolean }[];
  readonly validation: Uint8Array | undefined;
}

/**
 * Unique indexes and the validator that a collection will have in the parent; undefined where it has neither.
 * @param ns what it is called when the documents are written
 */
function collectionAfter(
  { parentCatalog, branchCatalog }: Comparison,
  ns: string,
  { steps, documentsAt }: StepOrder,
): After | undefined {
  const before = nameBefore(steps.slice(0, documentsAt), ns);
  const there: CollectionSchema | undefined = before === undefined ? undefined : parentCatalog.byNamespace.get(before);
  const collection = there ?? branchCatalog.byNamespace.get(ns);
  if (collection?.kind !== 'collection') return undefined;
  const specs = new Map(collection.indexes);
  let { validation } = collection;
  // What had the name of one that the plan makes may be called otherwise before that.
  const makes = (step: SchemaStep) => step.type === 'collection' && step.ns === ns && step.after !== undefined;
  const made = before === undefined ? steps.findLastIndex(makes) : -1;
  let name = before ?? ns;
  for (const step of steps.slice(made + 1)) {
    if (step.ns !== name) continue;
    if (step.type === 'rename') name = step.to ?? name;
    const after = step.after === undefined ? undefined : documentBytes(fromBase64(step.after));
    if (step.type === 'validator') validation = after;
    else if (step.type === 'index' && step.name !== undefined) {
      if (after) specs.set(step.name, after);
      else specs.delete(step.name);
    }
  }
  // Of one that the plan makes in the place of another, what has its name now tells nothing.
  const isReplaced = before === undefined && parentCatalog.byNamespace.has(ns);
  const indexes = (isReplaced ? [] : [...specs]).flatMap(([name, spec]) => {
    const index = uniqueIndex(before ?? ns, name, spec);
    return index ? [{ index, indexed: sameBytes(there?.indexes.get(name), spec) }] : [];
  });
  return indexes.length === 0 && !validation ? undefined : { indexes, validation };
}

type Named = Clash & { readonly name: string };

/** Every item that must be left out so that no unique index is broken; what is left out already gives its keys back. */
async function uniqueClashes(
  trial: Trial,
  ns: string,
  indexes: After['indexes'],
  leftOut: readonly Clash[],
  takes: Map<number, number[]> | undefined,
): Promise<Named[]> {
  const { home, comparison, store, planId } = trial;
  const found = new Map<number, Named>();
  const queue: Named[] = leftOut.map((clash) => ({ ...clash, name: 'validator' }));
  const trials: { readonly name: string; readonly keys: UniqueTrial }[] = [];
  try {
    for (const { index, indexed } of indexes) {
      const keys = await UniqueTrial.open(home, comparison.parent, index, indexed);
      const name = `unique ${index.name}`;
      trials.push({ name, keys });
      queue.push(...(await keys.run(itemsOf(trial, ns), takes)).map((clash) => ({ ...clash, name })));
    }
    for (let next = queue.shift(); next && found.size < most; next = queue.shift()) {
      const { index } = next.item;
      if (found.has(index)) continue;
      found.set(index, next);
      for await (const [item] of store.items({ _id: planId }, index, index + 1)) {
        for (const { name, keys } of item ? trials : []) {
          queue.push(...(await keys.withdraw(item!, item!.expect)).map((clash) => ({ ...clash, name })));
        }
      }
    }
  } finally {
    await Promise.all(trials.map(({ keys }) => keys.close()));
  }
  return [...found.values()];
}

/**
 * Items that the validator does not take. Where the branch holds the very document under the very validator, the parent may
 * too: it stood there before the validator came, or was written past it.
 */
async function validatorClashes(
  trial: Trial,
  steps: readonly SchemaStep[],
  ns: string,
  validation: Uint8Array,
): Promise<{ clashing: Clash[]; accepted: boolean }> {
  const { branch, parent } = trial.comparison;
  const refused = await refusedItems(trial.home, validation, itemsOf(trial, ns));
  if (refused.length === 0) return { clashing: [], accepted: false };
  const held = heldByBranch(trial.comparison, steps, ns);
  const same = held !== undefined && sameBytes(held.validation, validation);
  const keys = refused.map(({ key }) => key);
  const documents = same ? await readByKey(branch, held.ns, keys) : new Map<string, Uint8Array>();
  const clashing = refused.filter(({ key, result }) => !sameBytes(documents.get(keyText(key)), result));
  return {
    accepted: clashing.length < refused.length,
    clashing: clashing.map((item) => ({
      item,
      text: `The validator that ${ns} has in ${parent.record.name} refuses ${documentName(ns, item.key)}.`,
    })),
  };
}
