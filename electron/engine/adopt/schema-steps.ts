import { EJSON } from 'bson';
import type { Document } from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { toEjson } from '../../../shared/bson/ejson.ts';
import { compareSchema, type SchemaDelta } from '../changes/schema.ts';
import type { Selection } from '../changes/selection.ts';
import { splitNamespace, type Comparison } from '../changes/touched.ts';
import type { SchemaStep } from '../home/plans.ts';

export interface SchemaPlan {
  readonly steps: readonly SchemaStep[];
  readonly conflicts: number;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
}

/**
 * The schema commands of a plan, in an order that works: collections, then validators and indexes, then views.
 * `missing` are collections that documents of the plan need, chosen or not.
 */
export function planSchema(comparison: Comparison, selection: Selection, missing: ReadonlySet<string>): SchemaPlan {
  const deltas = compareSchema(comparison.base, comparison.parentCatalog, comparison.branchCatalog);
  const steps: SchemaStep[] = [];
  const checks: { name: string; ok: boolean; detail: string }[] = [];
  let conflicts = 0;
  for (const delta of [...deltas].sort((a, b) => rank(a) - rank(b))) {
    const needed = delta.type === 'collection' && delta.kind === 'added' && missing.has(delta.ns);
    if (!needed && !selection.includesSchema(delta.ns)) continue;
    if (delta.conflict) {
      conflicts += 1;
      continue;
    }
    const step = stepOf(delta);
    if (step) steps.push(step);
    else {
      checks.push({
        name: 'schema',
        ok: false,
        detail: `${describe(delta)} is shown but not carried over by an adoption; do it by hand in ${comparison.parent.record.name}.`,
      });
    }
  }
  return { steps, conflicts, checks };
}

const ranks = { collection: 0, rename: 1, options: 2, validator: 3, index: 4, view: 5 } as const;

function rank(delta: SchemaDelta): number {
  return ranks[delta.type];
}

/** One phrase for people: `The index sku_1 of shop.products`. */
function describe(delta: SchemaDelta): string {
  const what = { added: 'new', modified: 'changed', removed: 'dropped' }[delta.kind];
  switch (delta.type) {
    case 'collection':
    case 'view':
      return `The ${what} ${delta.type} ${delta.ns}`;
    case 'rename':
      return `The new name ${delta.ns} of a collection`;
    case 'options':
      return `What changed in the options of ${delta.ns}`;
    case 'validator':
    case 'index':
      return `The ${what} ${delta.type}${delta.name === undefined ? '' : ` ${delta.name}`} of ${delta.ns}`;
  }
}

function stepOf(delta: SchemaDelta): SchemaStep | undefined {
  const [, name] = splitNamespace(delta.ns);
  switch (delta.type) {
    case 'collection':
      if (delta.kind !== 'added' || !delta.branch) return undefined;
      return step(delta, 'collection', { create: name, ...options(delta.branch) }, { drop: name }, false);
    case 'view':
      return viewStep(delta, name);
    case 'index':
      return indexStep(delta, name);
    case 'validator':
      return step(
        delta,
        'validator',
        { collMod: name, ...validation(delta.branch) },
        { collMod: name, ...validation(delta.parent) },
        true,
      );
    case 'options':
    case 'rename':
      return undefined;
  }
}

function viewStep(delta: SchemaDelta, name: string): SchemaStep | undefined {
  if (delta.kind === 'added')
    return step(delta, 'view', { create: name, ...options(delta.branch) }, { drop: name }, false);
  if (delta.kind === 'removed')
    return step(delta, 'view', { drop: name }, { create: name, ...options(delta.parent) }, true);
  return step(
    delta,
    'view',
    { collMod: name, ...options(delta.branch) },
    { collMod: name, ...options(delta.parent) },
    true,
  );
}

function indexStep(delta: SchemaDelta, name: string): SchemaStep | undefined {
  const index = delta.name ?? '';
  const create = (spec: BsonValue | undefined) => ({ createIndexes: name, indexes: [options(spec)] });
  const drop = { dropIndexes: name, index };
  if (delta.kind === 'added') return step(delta, 'index', create(delta.branch), drop, false);
  if (delta.kind === 'removed') return step(delta, 'index', drop, create(delta.parent), true);
  // An index is changed by dropping it and building it anew: two commands, which this step cannot be.
  return undefined;
}

function step(
  delta: SchemaDelta,
  type: SchemaStep['expect']['type'],
  command: Document,
  inverse: Document,
  present: boolean,
): SchemaStep {
  return {
    ns: delta.ns,
    text: describe(delta),
    command: EJSON.stringify(command, { relaxed: false }),
    inverse: EJSON.stringify(inverse, { relaxed: false }),
    expect: { type, present, ...(delta.name === undefined ? {} : { name: delta.name }) },
  };
}

function options(value: BsonValue | undefined): Document {
  return value ? (EJSON.parse(toEjson(value), { relaxed: false }) as Document) : {};
}

function validation(value: BsonValue | undefined): Document {
  if (!value) return { validator: {}, validationLevel: 'off' };
  return options(value);
}
