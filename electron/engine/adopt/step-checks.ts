import type { Target } from '../../../shared/api.ts';
import { documentBytes, fromBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { shellText } from '../../../shared/bson/ejson.ts';
import { documentName, firstOf } from '../../../shared/changes/explain.ts';
import type { Selection } from '../changes/selection.ts';
import type { SchemaStep, Undecided } from '../home/plans.ts';
import { heldByBranch, itemsOf, type Check, type StepOrder, type Trial } from './checks.ts';
import { unbuildableBeside } from './index-neighbours.ts';
import { findDuplicates, lookMs } from './new-index.ts';
import { nameAfter, nameBefore } from './schema-steps.ts';
import { uniqueIndex } from './unique-keys.ts';
import { unfitDocuments } from './validators.ts';

export interface StepFindings {
  readonly checks: readonly Check[];
  /** Steps that the parent's documents or indexes stand in the way of. */
  readonly refused: readonly { readonly target: Target; readonly undecided: Undecided }[];
}

/**
 * Looks at the parent's documents for what a new unique index or validator would not take, and at its indexes for what a new
 * one could not be built beside.
 * @param selection left out = the plan brings back what was there: validators are not asked
 */
export async function checkSteps(
  trial: Trial,
  { steps, documentsAt }: StepOrder,
  selection?: Selection,
): Promise<StepFindings> {
  const checks: Check[] = [];
  const refused: { target: Target; undecided: Undecided }[] = [];
  const inTheWay = new Map<string, Promise<Map<string, string>>>();
  const neighbours = (now: string) => {
    const known = inTheWay.get(now) ?? unbuildableBeside(trial, steps, now);
    inTheWay.set(now, known);
    return known;
  };
  for (const [at, step] of steps.entries()) {
    // What the plan makes holds nothing of the parent's yet.
    const now = nameBefore(steps.slice(0, at), step.ns);
    if (now === undefined || !trial.comparison.parentCatalog.byNamespace.has(now) || step.after === undefined) continue;
    const found =
      step.type === 'index'
        ? (beside(trial, step, await neighbours(now)) ??
          (await checkIndex(trial, step, { now, written: nameAfter(steps.slice(0, documentsAt), now) })))
        : selection && (await checkValidator(trial, steps, step, now));
    if (!found) continue;
    const target = {
      ns: step.ns,
      schema: { type: step.type, ...(step.name === undefined ? {} : { name: step.name }) },
    };
    const stays = found.clash && step.type === 'validator' && selection?.hasDecided(placeOf(step)) === true;
    checks.push({ name: found.name, ok: stays, detail: found.text });
    if (found.clash && !stays) refused.push({ target, undecided: { ns: step.ns, text: found.text } });
  }
  return { checks, refused };
}

function placeOf({ ns, type, name, before }: SchemaStep) {
  const kind = before === undefined ? ('added' as const) : ('modified' as const);
  return { ns, type, kind, conflict: true, ...(name === undefined ? {} : { name }) };
}

interface Finding {
  readonly name: string;
  readonly text: string;
  /** False where nothing is known to be in the way, and not all could be looked at. */
  readonly clash: boolean;
}

function beside(
  trial: Trial,
  { ns, name = '', before }: SchemaStep,
  inTheWay: ReadonlyMap<string, string>,
): Finding | undefined {
  const other = inTheWay.get(name);
  if (other === undefined) return undefined;
  const what = `The ${before === undefined ? 'new' : 'changed'} index ${name} of ${ns}`;
  const text = `${what} cannot be built: ${trial.comparison.parent.record.name} has the index ${other}, and the server takes only one of the two.`;
  return { name: `index ${name}`, text, clash: true };
}

/** @param names what the parent calls the collection `now`, and what it is called when documents are `written` */
async function checkIndex(
  trial: Trial,
  { ns, name = '', after = '' }: SchemaStep,
  { now, written }: { readonly now: string; readonly written: string },
): Promise<Finding | undefined> {
  const index = uniqueIndex(now, name, documentBytes(fromBase64(after)));
  if (!index) return undefined;
  const { parent } = trial.comparison;
  const { pairs, whole } = await findDuplicates(trial.home, parent, index, await keysOf(trial, written));
  const check = `unique ${name}`;
  if (pairs.length > 0) {
    const named = firstOf(pairs.map(([a, b]) => `${shellText(a, 80)} and ${shellText(b, 80)}`));
    const text = `The new unique index ${name} of ${ns} cannot be built: in ${parent.record.name} ${named} would share a key of it.`;
    return { name: check, text, clash: true };
  }
  if (whole) return undefined;
  const text = `${ns} could not be looked through for duplicates of the new unique index ${name} within ${lookMs / 1_000} s; building it will tell.`;
  return { name: check, text, clash: false };
}

async function checkValidator(
  trial: Trial,
  steps: readonly SchemaStep[],
  { ns, type, after = '' }: SchemaStep,
  now: string,
): Promise<Finding | undefined> {
  if (type !== 'validator') return undefined;
  const { parent, branch } = trial.comparison;
  const held = heldByBranch(trial.comparison, steps, ns);
  if (!held) return undefined;
  const validation = documentBytes(fromBase64(after));
  const { keys, whole } = await unfitDocuments(
    { side: parent, ns: now },
    { side: branch, ns: held.ns },
    validation,
    new Set((await keysOf(trial, ns)).keys()),
  );
  const where = parent.record.name;
  if (keys.length > 0) {
    const named = firstOf(keys.map((key) => documentName(ns, key)));
    const text = `The validator that ${branch.record.name} gives ${ns} does not take what ${where} holds: ${named}. They would stay, but could not be changed.`;
    return { name: 'validator', text, clash: true };
  }
  if (whole) return undefined;
  const text = `${ns} could not be looked through for documents that its new validator refuses within ${lookMs / 1_000} s; those that are there would stay.`;
  return { name: 'validator', text, clash: false };
}

/** The `_id`s of documents that the plan writes, by {@link keyText}. */
async function keysOf(trial: Trial, ns: string): Promise<Map<string, BsonValue>> {
  const keys = new Map<string, BsonValue>();
  for await (const page of itemsOf(trial, ns)()) for (const { key } of page) keys.set(keyText(key), key);
  return keys;
}
