import { toEjson } from '../../../shared/bson/ejson.ts';
import {
  documentBytes,
  documentValue,
  stringValue,
  toBase64,
  Type,
  valueOf,
  type BsonValue,
} from '../../../shared/bson/value.ts';
import { buildArray, buildDocument, elements, rawElement, type Element } from '../../../shared/bson/walk.ts';
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
    const choice = needed ? 'branch' : selection.chooseSchema(delta);
    if (choice === 'undecided') conflicts += 1;
    if (choice !== 'branch') continue;
    const step = isCarried(comparison, delta) ? stepOf({ ...delta, ns: parentName(comparison, delta) }) : undefined;
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

/**
 * Whether the parent still holds something else under the name that this collection of the branch has: one that the
 * branch dropped to make room for it.
 */
export function isNameTaken({ base, branchCatalog, parentCatalog }: Comparison, ns: string): boolean {
  const now = branchCatalog.byNamespace.get(ns);
  const there = parentCatalog.byNamespace.get(ns);
  if (!now || !there) return false;
  if ((now.uuid === undefined) !== (there.uuid === undefined)) return true;
  if (now.uuid === undefined || there.uuid === undefined || now.uuid === there.uuid) return false;
  return base.byUuid.has(there.uuid) && !branchCatalog.byUuid.has(there.uuid);
}

function isCarried(comparison: Comparison, delta: SchemaDelta): boolean {
  // Its buckets would have to be made with it, and what they hold is not captured.
  if (comparison.branchCatalog.byNamespace.get(delta.ns)?.kind === 'timeseries') return false;
  // The server makes it with its first function and never drops it.
  if (splitNamespace(delta.ns)[1] === 'system.js') return false;
  return delta.kind === 'removed' || !isNameTaken(comparison, delta.ns);
}

/** What the parent calls a collection that the branch may have renamed. */
function parentName({ branchCatalog, parentCatalog }: Comparison, { ns }: SchemaDelta): string {
  const uuid = branchCatalog.byNamespace.get(ns)?.uuid;
  return (uuid === undefined ? undefined : parentCatalog.byUuid.get(uuid)?.ns) ?? ns;
}

const ranks = { collection: 0, rename: 1, options: 2, validator: 3, index: 4, view: 5 } as const;

function rank(delta: SchemaDelta): number {
  return ranks[delta.type];
}

/** One phrase for people: `The index sku_1 of shop.products`. */
export function describe(delta: SchemaDelta): string {
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
      // A dropped one would take its documents with it.
      if (delta.kind !== 'added') return undefined;
      return step(delta, 'collection', command('create', name, parts(delta.branch)), command('drop', name));
    case 'view':
      return viewStep(delta, name);
    case 'index':
      return indexStep(delta, name);
    case 'validator': {
      const set = (value: BsonValue | undefined) => command('collMod', name, value ? parts(value) : noValidator);
      return step(delta, 'validator', set(delta.branch), set(delta.parent));
    }
    case 'options':
    case 'rename':
      return undefined;
  }
}

/** The server's defaults: a validator that is set alone later must be obeyed. */
const noValidator: readonly Element[] = [
  rawElement('validator', documentValue(buildDocument([]))),
  rawElement('validationLevel', stringValue('strict')),
  rawElement('validationAction', stringValue('error')),
];

function viewStep(delta: SchemaDelta, name: string): SchemaStep {
  const verb = delta.kind === 'modified' ? 'collMod' : 'create';
  const set = (value: BsonValue | undefined) => (value ? command(verb, name, parts(value)) : command('drop', name));
  return step(delta, 'view', set(delta.branch), set(delta.parent));
}

function indexStep(delta: SchemaDelta, name: string): SchemaStep | undefined {
  // An index is changed by dropping it and building it anew: two commands, which this step cannot be.
  if (delta.kind === 'modified') return undefined;
  const set = (spec: BsonValue | undefined) =>
    spec
      ? command('createIndexes', name, [rawElement('indexes', valueOf(Type.Array, buildArray([spec])))])
      : command('dropIndexes', name, [rawElement('index', stringValue(delta.name ?? ''))]);
  return step(delta, 'index', set(delta.branch), set(delta.parent));
}

function step(delta: SchemaDelta, type: SchemaStep['type'], forward: string, inverse: string): SchemaStep {
  return {
    ns: delta.ns,
    text: describe(delta),
    command: forward,
    inverse,
    type,
    ...(delta.name === undefined ? {} : { name: delta.name }),
    ...(delta.parent ? { before: toBase64(delta.parent) } : {}),
    ...(delta.branch ? { after: toBase64(delta.branch) } : {}),
  };
}

/** A command as canonical Extended JSON, its fields in the order they have: that of an index's keys matters. */
function command(verb: string, name: string, fields: readonly Element[] = []): string {
  return toEjson(documentValue(buildDocument([rawElement(verb, stringValue(name)), ...fields])));
}

function parts(value: BsonValue | undefined): Element[] {
  return value ? elements(documentBytes(value)) : [];
}
