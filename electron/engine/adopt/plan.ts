import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, toBase64 } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';
import { mergeDocument, type Choice, type FieldDelta } from '../../../shared/changes/compare.ts';
import { withValueAt } from '../../../shared/changes/edit.ts';
import { documentName, explainConflict, pointerText } from '../../../shared/changes/explain.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { comparedPages, openComparison, type DocumentDiff } from '../changes/diff.ts';
import { bucketsNamespace } from '../changes/catalog.ts';
import { Selection, type SelectionInput } from '../changes/selection.ts';
import { notUpToDate, type Side } from '../changes/side.ts';
import { splitNamespace, type Comparison, type TouchedDocument } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { KeptDocuments } from '../home/kept.ts';
import {
  namedConflicts,
  PlanStore,
  type PlanItemRecord,
  type PlanRecord,
  type SchemaStep,
  type Undecided,
} from '../home/plans.ts';
import { rawFind } from '../mongod/raw.ts';
import { checkItems, type Trial } from './checks.ts';
import { unwritable } from './exact-write.ts';
import { outsideTransactions, PlanItems } from './plan-items.ts';
import { ChosenSchema } from './schema-plan.ts';
import { countItems } from './schema-steps.ts';
import { checkSteps } from './step-checks.ts';
import { isBrought, StepPlan } from './step-plan.ts';

/**
 * Chooses a change set for adoption and stores it with the exact bytes each document must have before and will have
 * after. Documents with an undecided conflict are left out and counted.
 */
export async function createPlan(home: Home, branch: Side, parent: Side, input: SelectionInput): Promise<PlanRecord> {
  const selection = new Selection(input, branch.record.name, parent.record.name);
  const { comparison, settled } = await openComparison(home, branch, parent);
  if (!settled) {
    throw notUpToDate(parent.capture.paused ? parent : branch, ', so a plan could miss changes');
  }
  const store = new PlanStore(home);
  return store.make(async (id) => {
    const chosen = await ChosenSchema.of(comparison, selection);
    const items = new PlanItems(store, id);
    const builder = new PlanBuilder(items, selection, comparison, new StepPlan(comparison, chosen, id, new Set()));
    for await (const page of comparedPages(comparison, selection)) await builder.add(page);
    return finish({ home, store, planId: id, comparison, ...items.extent }, builder, chosen);
  });
}

async function finish(trial: Trial, builder: PlanBuilder, wanted: ChosenSchema): Promise<PlanRecord> {
  const { home, planId, comparison } = trial;
  const { items } = builder;
  const { branch, parent } = comparison;
  // Once more, now that it is known which collections the documents need.
  const planned = (chosen: ChosenSchema) => new StepPlan(comparison, chosen, planId, builder.missingCollections);
  let [chosen, schema] = [wanted, planned(wanted)];
  const found = await checkSteps(trial, schema, builder.selection);
  if (found.refused.length > 0) {
    chosen = wanted.without(found.refused.map(({ target }) => target));
    schema = planned(chosen);
  }
  const documents = await checkItems(trial, schema);
  await items.leaveOut(documents.refused);
  await items.arrange(documents.takes);
  const steps = await withContents(home, comparison, planId, schema.steps);
  const parts = chosen.agreed(schema.carried);
  const left = [...schema.left, ...builder.leftOut()];
  const schemaConflicts = chosen.conflicts(comparison);
  const undecided = [
    ...schemaConflicts,
    ...found.refused.map((each) => each.undecided),
    ...documents.refused.values(),
    ...builder.undecided.map((each) => each.undecided),
  ];
  return {
    _id: planId,
    kind: 'adopt',
    branchId: branch.record._id,
    branchName: branch.record.name,
    parentId: parent.record._id,
    parentName: parent.record.name,
    createdAt: new Date(),
    items: items.writes + countItems(steps),
    conflicts: builder.conflicts + chosen.undecided.length + found.refused.length + documents.refused.size,
    undecided: undecided.slice(0, namedConflicts),
    bytes: items.bytes,
    inPieces: items.inPieces,
    schema: steps,
    documentsAt: schema.documentsAt,
    ...(parts.length === 0 ? {} : { agreement: { parts } }),
    checks: [
      ...left,
      ...builder.unusedEdits,
      ...builder.selection.unusedTargets.map(noChangeAt),
      ...schemaConflicts.map(({ text }) => ({ name: 'conflict', ok: false, detail: text })),
      ...builder.conflictChecks(),
      ...found.checks,
      ...documents.checks,
    ],
    unvalidated: documents.unvalidated,
    state: 'ready',
    ...(left.length === 0 ? {} : { leftOut: left.map(({ detail }) => detail) }),
  };
}

function noChangeAt(place: string): PlanRecord['checks'][number] {
  return { name: 'selection', ok: false, detail: `No change stands at ${place}: what was chosen there has no effect.` };
}

/** Keeps, with the plan, what comes with the collections that it makes whole. */
async function withContents(
  home: Home,
  { branch }: Comparison,
  plan: string,
  steps: readonly SchemaStep[],
): Promise<SchemaStep[]> {
  const whole: SchemaStep[] = [];
  for (const [index, step] of steps.entries()) {
    if (!isBrought(step)) {
      whole.push(step);
      continue;
    }
    const [db, collection] = splitNamespace(step.ns);
    const contents = rawFind(branch.client.db(db), { collection, filter: {}, hint: { $natural: 1 } });
    const kept = await new KeptDocuments(home, plan, index).write(contents);
    whole.push({ ...step, kept: { plan, step: index, ...kept } });
  }
  return whole;
}

/** What becomes of each change of one document. */
type Choices = ReadonlyMap<FieldDelta, Choice | 'left out' | 'undecided'>;

class PlanBuilder {
  readonly items: PlanItems;
  conflicts = 0;
  /** The first of the documents that are left out until somebody decides, and what it is about. */
  readonly undecided: { readonly check: 'conflict' | 'exact bytes'; readonly undecided: Undecided }[] = [];
  /** Edited values that stand at no change. */
  readonly unusedEdits: PlanRecord['checks'][number][] = [];
  /** Collections of the branch that documents go into and that the parent does not have. */
  readonly missingCollections = new Set<string>();
  readonly selection: Selection;
  private readonly comparison: Comparison;
  private readonly schema: StepPlan;
  /** Documents that an adoption does not carry over, by collection, with why. */
  private readonly left = new Map<string, { count: number; readonly one: string; readonly why: string }>();

  constructor(items: PlanItems, selection: Selection, comparison: Comparison, schema: StepPlan) {
    this.items = items;
    this.selection = selection;
    this.comparison = comparison;
    this.schema = schema;
  }

  leftOut(): PlanRecord['checks'] {
    return [...this.left].map(([ns, { count, one, why }]) => ({
      name: 'documents',
      ok: false,
      detail: `${count === 1 ? `1 ${one}` : `${count} ${one}s`} of ${ns} ${count === 1 ? 'is' : 'are'} shown but not carried over by an adoption: ${why}.`,
    }));
  }

  /** Each document that is left out until somebody decides; of more than a hundred the first, and how many more. */
  conflictChecks(): PlanRecord['checks'] {
    const named = this.undecided.map(({ check, undecided }) => ({ name: check, ok: false, detail: undecided.text }));
    const more = this.conflicts - named.length;
    if (more === 0) return named;
    const detail = `${more === 1 ? '1 more document must' : `${more} more documents must`} be decided; the review lists them.`;
    return [...named, { name: 'conflict', ok: false, detail }];
  }

  private leaveOpen(check: 'conflict' | 'exact bytes', explain: () => Undecided): void {
    this.conflicts += 1;
    if (this.undecided.length < namedConflicts) this.undecided.push({ check, undecided: explain() });
  }

  /** Why documents of this collection cannot be carried over, if so. */
  private obstacle({ ns, parentNs, isBucket }: TouchedDocument): string | undefined {
    const { base, branchCatalog, parent, parentCatalog } = this.comparison;
    const into = parentNs === undefined ? branchCatalog.byNamespace.get(ns) : parentCatalog.byNamespace.get(parentNs);
    const isTaken = parentNs === undefined && this.schema.isTaken(ns);
    if (isTaken) return `${parent.record.name} has something else of that name`;
    // One that is made anew is another one: it would come without what it held.
    const isGone = isBucket && parentNs === undefined && base.byNamespace.get(ns)?.kind === 'timeseries';
    if (isGone) return `${parent.record.name} has dropped that time-series collection`;
    return outsideTransactions(into, ns);
  }

  async add(page: readonly DocumentDiff[]): Promise<void> {
    await this.items.add(page.flatMap((diff) => this.item(diff) ?? []));
  }

  private explained(diff: DocumentDiff, choices: Choices): Undecided {
    const { branch, parent } = this.comparison;
    const names = { parent: parent.record.name, branch: branch.record.name };
    const fields = diff.fields.filter((delta) => choices.get(delta) === 'undecided');
    const text = explainConflict({ ns: diff.ns, key: diff.key, fields }, names) ?? '';
    return { ns: diff.ns, id: toBase64(diff.key), text };
  }

  /**
   * The document as it will be in the parent.
   * @throws ForkyardError `usage` where an edited value cannot be put where it was asked for
   */
  private result(diff: DocumentDiff, choices: Choices): Uint8Array | undefined {
    const { sides, key } = diff;
    const what = documentName(sides.ns, key);
    const { strict } = this.selection;
    const place = { ns: sides.ns, parentNs: sides.parentNs, key };
    let result: Uint8Array | undefined;
    const isEdited = [...choices.values()].some((choice) => typeof choice === 'object');
    if (sides.isBucket && (isEdited || this.selection.editsAround(place, diff.fields).length > 0))
      throw badEdit(what, 'cannot be used: it is a bucket of measurements, which is taken or left as it is');
    // All of it, into a parent that is as the base: that is the branch's, by the law of the merge, and costs no second look.
    const isWhole = [...choices.values()].every((choice) => choice === 'branch') && sameBytes(sides.parent, sides.base);
    try {
      result = isWhole
        ? sides.branch
        : mergeDocument(sides, (delta) => pick(delta, choices), { strict, whole: sides.isBucket }).result;
    } catch (error) {
      if (error instanceof TypeError) throw badEdit(what, `cannot stand there: ${error.message}`);
      throw error;
    }
    for (const { path, value } of this.selection.editsAround(place, diff.fields)) {
      const edited = withValueAt(result ?? buildDocument([]), path, value);
      if (!edited)
        throw badEdit(
          what,
          `cannot be put at ${path.length === 0 ? 'its place: it is no document' : pointerText(path)}`,
        );
      result = edited;
    }
    if (!result) return undefined;
    const id = field(result, '_id');
    // Edited as a whole, a document may be given without its _id; it never gets another one.
    if (id === undefined) return buildDocument([rawElement('_id', key), ...elements(result)]);
    if (keyText(id) !== keyText(key)) throw badEdit(what, 'has another _id');
    return result;
  }

  private item(diff: DocumentDiff): Omit<PlanItemRecord, 'index'> | undefined {
    const { sides } = diff;
    const place = { ns: sides.ns, parentNs: sides.parentNs, key: diff.key };
    const choices = new Map<FieldDelta, Choice | 'left out' | 'undecided'>();
    for (const delta of diff.fields) choices.set(delta, this.selection.choose(place, delta));
    const chosen = [...choices.values()];
    for (const path of this.selection.editsWithoutChange(place, diff.fields)) {
      const at = path.length === 0 ? '' : ` at ${pointerText(path)}`;
      const detail = `The edited value for ${documentName(sides.ns, diff.key)}${at} stands at no change and is not used.`;
      this.unusedEdits.push({ name: 'edited value', ok: false, detail });
    }
    const comes = sides.parentNs === undefined && this.schema.brings(sides.ns);
    const why = comes || chosen.every((choice) => choice === 'left out') ? undefined : this.obstacle(sides);
    if (why !== undefined) {
      const left = this.left.get(sides.ns);
      const count = (left?.count ?? 0) + measured(diff);
      this.left.set(sides.ns, { count, one: sides.isBucket ? 'measurement' : 'document', why });
      return undefined;
    }
    if (chosen.includes('undecided')) {
      this.leaveOpen('conflict', () => this.explained(diff, choices));
      return undefined;
    }
    if (chosen.every((choice) => choice === 'left out')) return undefined;
    const result = this.result(diff, choices);
    // What comes with its collection is not written once more.
    const writes = !comes && !sameBytes(result, sides.parent);
    const hindrance = writes ? unwritable({ expect: sides.parent, result }) : undefined;
    if (hindrance !== undefined) {
      const text = `${documentName(sides.ns, diff.key)} cannot be written byte for byte: ${hindrance}.`;
      this.leaveOpen('exact bytes', () => ({ ns: sides.ns, id: toBase64(diff.key), text }));
      return undefined;
    }
    if (writes && sides.parentNs === undefined && result) this.missingCollections.add(sides.ns);
    const ns = sides.parentNs === undefined ? sides.ns : this.schema.nameFor(sides.parentNs);
    return {
      ns: sides.isBucket ? bucketsNamespace(ns) : ns,
      key: diff.key,
      expect: sides.parent,
      result,
      writes,
      touched: { id: sides.row.id, from: sides.row.base, to: { document: nextBase(diff, choices) } },
    };
  }
}

function badEdit(what: string, why: string): ForkyardError {
  return new ForkyardError('usage', `The edited value for ${what} ${why}.`, {
    hint: 'Edit a field that the review lists, an object above it, a field of an object it lists, or the whole document.',
  });
}

/** The comparison lists its deltas anew for a merge; they are told apart by where they are. */
function pick(delta: FieldDelta, choices: Choices): Choice {
  for (const [known, choice] of choices) {
    if (samePath(known.path, delta.path) && known.order === delta.order) {
      return choice === 'left out' || choice === 'undecided' ? 'parent' : choice;
    }
  }
  return 'parent';
}

function samePath(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.every((segment, index) => segment === b[index]);
}

/**
 * What both sides have agreed on after the adoption: the base with everything decided in it as the branch has it, also
 * where the parent's value or an edited one was chosen. Only what was left out still differs from the branch.
 */
function nextBase(diff: DocumentDiff, choices: Choices): Uint8Array | undefined {
  const { base, branch, isBucket } = diff.sides;
  if ([...choices.values()].every((choice) => choice !== 'left out')) return branch;
  const leftOut = [...choices].filter(([, choice]) => choice === 'left out').map(([delta]) => delta);
  const isLeftOut = (delta: FieldDelta) =>
    leftOut.some((known) => samePath(known.path, delta.path) && known.order === delta.order);
  const sides = { base, parent: base, branch };
  return mergeDocument(sides, (delta) => (isLeftOut(delta) ? 'parent' : 'branch'), { whole: isBucket }).result;
}

/** How many documents, or measurements, one entry of a comparison stands for. */
function measured({ measurements }: DocumentDiff): number {
  return measurements ? measurements.added + measurements.modified + measurements.removed : 1;
}
