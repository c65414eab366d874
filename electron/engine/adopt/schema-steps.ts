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
import { buildArray, buildDocument, elements, field, rawElement, type Element } from '../../../shared/bson/walk.ts';
import { definitionOf, type SchemaPart } from '../changes/definition.ts';
import type { SchemaDelta } from '../changes/schema.ts';
import type { CollectionSchema } from '../changes/catalog.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanRecord, SchemaStep } from '../home/plans.ts';
import { asideName, leavingName } from '../mongod/aside.ts';
import { buildableIndex } from '../mongod/index-spec.ts';
import { changedIndex, changedOptions } from './coll-mod.ts';
import { describe } from './schema-plan.ts';

/** The steps of one schema item: those that must come before the documents of a plan, and those that must come after. */
export interface ItemSteps {
  readonly early: readonly SchemaStep[];
  readonly late: readonly SchemaStep[];
}

/**
 * The steps that make the parent's `ns` as the branch has it. What may stand in the way of documents (a collection, an
 * index, a validator that goes) changes before them; what documents may stand in the way of (an index or a validator that
 * comes) after.
 * @returns a sentence's end where no command of the server does it
 */
export function stepsOf(delta: SchemaDelta, ns: string, historySeq: number): ItemSteps | string {
  const [, name] = splitNamespace(ns);
  const early = (...steps: SchemaStep[]) => ({ early: steps, late: [] });
  const late = (...steps: SchemaStep[]) => ({ early: [], late: steps });
  switch (delta.type) {
    case 'collection':
      return collectionSteps(delta, ns, historySeq);
    case 'rename':
      return early(renameStep(delta, ns, delta.ns));
    case 'options': {
      const [forward, inverse] = [
        changedOptions(delta.parent, delta.branch),
        changedOptions(delta.branch, delta.parent),
      ];
      if (!forward || !inverse) return 'the server has no command that changes them in place';
      return early(step(delta, ns, 'options', command('collMod', name, forward), command('collMod', name, inverse)));
    }
    case 'validator': {
      const set = (value: BsonValue | undefined) => command('collMod', name, value ? parts(value) : noValidator);
      const only = step(delta, ns, 'validator', set(delta.branch), set(delta.parent));
      return delta.kind === 'added' ? late(only) : early(only);
    }
    case 'view':
      return viewSteps(delta, ns);
    case 'index':
      return indexSteps(delta, ns);
  }
}

/** The step that makes a collection with the identity it has in the branch, and with these parts. */
export function createStep(collection: CollectionSchema, text: string, definition: Uint8Array): SchemaStep {
  const { ns, name, uuid } = collection;
  const after = documentValue(definition);
  return {
    ns,
    text,
    command: command('create', name, elements(collection.options)),
    inverse: command('drop', name),
    type: 'collection',
    ...(uuid === undefined ? {} : { uuid }),
    after: toBase64(after),
  };
}

/** A rename; `to` need not be where it ends: a circle of names needs one on the way. */
export function renameStep(delta: SchemaDelta, from: string, to: string): SchemaStep {
  const rename = (a: string, b: string) =>
    toEjson(
      documentValue(buildDocument([rawElement('renameCollection', stringValue(a)), rawElement('to', stringValue(b))])),
    );
  return {
    ns: from,
    to,
    text: describe(delta),
    command: rename(from, to),
    inverse: rename(to, from),
    type: 'rename',
    ...(delta.uuid === undefined ? {} : { uuid: delta.uuid }),
  };
}

function collectionSteps(delta: SchemaDelta, ns: string, historySeq: number): ItemSteps | string {
  const [, name] = splitNamespace(ns);
  if (name === 'system.js') return 'the server makes it with its first function and never drops it';
  if (delta.kind === 'modified') {
    // Only time-series collections are told apart by their name: others are created and dropped.
    const [forward, inverse] = [changedOptions(delta.parent, delta.branch), changedOptions(delta.branch, delta.parent)];
    if (!forward || !inverse) return 'the server has no command that changes it in place, and back';
    const set = (change: readonly Element[]) => command('collMod', name, change);
    return { early: [step(delta, ns, 'options', set(forward), set(inverse))], late: [] };
  }
  const made = delta.kind === 'added';
  const definition = made ? delta.branch : delta.parent;
  const create = command(
    'create',
    name,
    parts(definition).filter((part) => part.name !== 'indexes'),
  );
  const [forward, inverse] = made ? [create, command('drop', name)] : [command('drop', name), create];
  const only: SchemaStep = {
    ...step(delta, ns, 'collection', forward, inverse),
    ...(delta.uuid === undefined ? {} : { uuid: delta.uuid }),
    ...(made ? {} : { unchangedSince: historySeq }),
  };
  // Whatever is dropped steps aside by a rename first, so that no write is lost between keeping and dropping it.
  if (!made && delta.uuid === undefined)
    return 'the server renames no time-series collection, so what is written to it meanwhile could not be brought back';
  return { early: [only], late: [] };
}

/** The server's defaults: a validator that is set alone later must be obeyed. */
const noValidator: readonly Element[] = [
  rawElement('validator', documentValue(buildDocument([]))),
  rawElement('validationLevel', stringValue('strict')),
  rawElement('validationAction', stringValue('error')),
];

function viewSteps(delta: SchemaDelta, ns: string): ItemSteps {
  const [, name] = splitNamespace(ns);
  const { parent, branch } = delta;
  const create = (value: BsonValue | undefined) => command('create', name, parts(value));
  const drop = command('drop', name);
  if (!branch) return { early: [step(delta, ns, 'view', drop, create(parent))], late: [] };
  if (!parent) return { early: [], late: [step(delta, ns, 'view', create(branch), drop)] };
  const collation = (value: BsonValue) => toBase64(field(documentBytes(value), 'collation') ?? new Uint8Array());
  if (collation(parent) === collation(branch)) {
    const set = (value: BsonValue) =>
      command(
        'collMod',
        name,
        parts(value).filter((part) => part.name !== 'collation'),
      );
    return { early: [], late: [step(delta, ns, 'view', set(branch), set(parent))] };
  }
  const { gone, again } = inTwo(delta);
  return {
    early: [step(gone, ns, 'view', drop, create(parent))],
    late: [{ ...step(again, ns, 'view', create(branch), drop), continues: true }],
  };
}

function indexSteps(delta: SchemaDelta, ns: string): ItemSteps {
  const [, collection] = splitNamespace(ns);
  // A time-series collection's indexes are those of its buckets, by whose fields they are told.
  const name = delta.uuid === undefined ? `system.buckets.${collection}` : collection;
  const { parent, branch } = delta;
  const index = rawElement('index', stringValue(delta.name ?? ''));
  const drop = command('dropIndexes', name, [index]);
  const build = (spec: BsonValue | undefined) => {
    const specs = spec ? [documentValue(buildableIndex(documentBytes(spec)))] : [];
    return command('createIndexes', name, [rawElement('indexes', valueOf(Type.Array, buildArray(specs)))]);
  };
  if (!branch) return { early: [step(delta, ns, 'index', drop, build(parent))], late: [] };
  if (!parent) return { early: [], late: [step(delta, ns, 'index', build(branch), drop)] };
  const [forward, inverse] = [changedIndex(parent, branch), changedIndex(branch, parent)];
  if (forward && inverse) {
    const set = (change: readonly Element[]) =>
      command('collMod', name, [rawElement('index', documentValue(buildDocument(change)))]);
    return { early: [step(delta, ns, 'index', set(forward), set(inverse))], late: [] };
  }
  const { gone, again } = inTwo(delta);
  return {
    early: [step(gone, ns, 'index', drop, build(parent))],
    late: [{ ...step(again, ns, 'index', build(branch), drop), continues: true }],
  };
}

/** What cannot be changed is dropped and made anew. */
function inTwo(delta: SchemaDelta): { gone: SchemaDelta; again: SchemaDelta } {
  return { gone: { ...delta, branch: undefined }, again: { ...delta, parent: undefined } };
}

function step(delta: SchemaDelta, ns: string, type: SchemaStep['type'], forward: string, inverse: string): SchemaStep {
  return {
    ns,
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

/** Whether what a step is about is defined like this; without a definition: whether it is not there. */
export function isAt(
  step: SchemaStep,
  when: 'before' | 'after',
  catalog: ReadonlyMap<string, CollectionSchema>,
): boolean {
  const wanted = step[when];
  const there = catalog.get(step.ns);
  const same = (bytes: Uint8Array | undefined) => (bytes && toBase64(documentValue(bytes))) === wanted;
  switch (step.type) {
    case 'rename': {
      const [holds, free] = when === 'before' ? [step.ns, step.to] : [step.to, step.ns];
      return (
        catalog.get(holds ?? '')?.uuid === step.uuid &&
        catalog.get(free ?? '')?.uuid !== step.uuid &&
        (when === 'after' || !catalog.has(step.to ?? ''))
      );
    }
    case 'collection':
      // What has the name after a drop is somebody else's.
      if (wanted === undefined) return when === 'after' && step.uuid ? there?.uuid !== step.uuid : !there;
      return there !== undefined && there.kind !== 'view' && there.uuid === step.uuid && same(definitionOf(there));
    case 'view':
      // Whatever else has the name is in the way.
      return wanted === undefined ? !there : there?.kind === 'view' && same(there.options);
    case 'index':
      return there !== undefined && same(there.indexes.get(step.name ?? ''));
    case 'validator':
      return there !== undefined && same(there.validation);
    case 'options':
      return there !== undefined && same(there.options);
  }
}

/** What a step leaves. */
export function partAfter({ type, ns, uuid, name, to, after }: SchemaStep): SchemaPart {
  return { type, ns, uuid, name, to, definition: after };
}

/** How many schema changes the steps are: some take two. */
export function countItems(steps: readonly SchemaStep[]): number {
  return steps.filter(({ continues }) => !continues).length;
}

/** Every name that the steps of a plan make, change or drop something under. */
export function namespacesOf({ _id, schema }: Pick<PlanRecord, '_id' | 'schema'>): Set<string> {
  return new Set(
    schema.flatMap(({ ns, to }, index) => [
      ns,
      ...(to === undefined ? [] : [to]),
      ...[asideName, leavingName].map((name) => `${splitNamespace(ns)[0]}.${name(_id, index)}`),
    ]),
  );
}

/** What a collection is called after these steps. */
export function nameAfter(steps: readonly SchemaStep[], ns: string): string {
  return steps.reduce((name, step) => (step.type === 'rename' && step.ns === name ? (step.to ?? name) : name), ns);
}

/** What a collection is called before these steps; undefined where they make it. */
export function nameBefore(steps: readonly SchemaStep[], ns: string): string | undefined {
  let name = ns;
  for (const step of [...steps].reverse()) {
    if (step.type === 'rename' && step.to === name) name = step.ns;
    else if (step.type === 'collection' && step.ns === name && step.after !== undefined) return undefined;
  }
  return name;
}
