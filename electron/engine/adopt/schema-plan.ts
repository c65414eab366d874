import type { Target } from '../../../shared/api.ts';
import { toBase64 } from '../../../shared/bson/value.ts';
import { withParentEdits } from '../changes/parent-edits.ts';
import { compareSchema, type SchemaDelta } from '../changes/schema.ts';
import { coversItem, type Selection } from '../changes/selection.ts';
import type { Comparison } from '../changes/touched.ts';
import type { AgreedPart, Undecided } from '../home/plans.ts';
import { explainSchemaConflict } from './schema-conflict.ts';

type SchemaChoice = ReturnType<Selection['chooseSchema']>;

/** What of the schema a plan takes, before it is known which documents it takes. */
export class ChosenSchema {
  /** Taken from the branch. */
  readonly taken: readonly SchemaDelta[];
  /** Conflicts decided for the parent: nothing is done, but both sides have agreed. */
  private readonly decided: readonly SchemaDelta[];
  readonly undecided: readonly SchemaDelta[];
  /** Items that nobody wanted. */
  readonly unwanted: readonly SchemaDelta[];
  /** The parent's history up to here was looked at. */
  readonly parentSeq: number;
  private readonly choices: ReadonlyMap<SchemaDelta, SchemaChoice>;

  private constructor(all: Iterable<SchemaDelta>, parentSeq: number, choose: (delta: SchemaDelta) => SchemaChoice) {
    this.choices = new Map(Array.from(all, (delta) => [delta, choose(delta)]));
    this.parentSeq = parentSeq;
    const chosen = (wanted: SchemaChoice) =>
      [...this.choices].flatMap(([delta, choice]) => (choice === wanted ? [delta] : []));
    this.taken = chosen('branch');
    this.decided = chosen('parent');
    this.undecided = chosen('undecided');
    this.unwanted = chosen('left out');
  }

  static async of(comparison: Comparison, selection: Selection): Promise<ChosenSchema> {
    // Noted first: an edit that comes while others are looked for is behind it, and is found when the plan is applied.
    const { seq } = comparison.parent.capture;
    const deltas = compareSchema(comparison.base, comparison.parentCatalog, comparison.branchCatalog);
    const all = await withParentEdits(comparison, deltas);
    return new ChosenSchema(all, seq, (delta) => selection.chooseSchema(delta));
  }

  /** Everything that no conflict stands against, on a way back inside one branch: its collections are what they are. */
  static ofWayBack({ base, parent, parentCatalog, branchCatalog }: Comparison): ChosenSchema {
    const deltas = compareSchema(base, parentCatalog, branchCatalog, { byIdentity: true });
    return new ChosenSchema(deltas, parent.capture.seq, ({ conflict }) => (conflict ? 'undecided' : 'branch'));
  }

  /** Without items that documents stand in the way of: they stay as they are. */
  without(refused: readonly Target[]): ChosenSchema {
    const isRefused = (delta: SchemaDelta) => refused.some((target) => coversItem(target, delta));
    return new ChosenSchema(this.choices.keys(), this.parentSeq, (delta) =>
      isRefused(delta) ? 'left out' : this.choices.get(delta)!,
    );
  }

  /** One sentence for each conflict that nobody decided. */
  conflicts({ branch, parent }: Comparison): Undecided[] {
    const names = { branch: branch.record.name, parent: parent.record.name };
    return this.undecided.map((delta) => ({ ns: delta.ns, text: explainSchemaConflict(delta, names) }));
  }

  /** How the branch has what it was decided about; `carried` are the taken items that the plan carries out. */
  agreed(carried: ReadonlySet<SchemaDelta>): AgreedPart[] {
    return [...this.decided, ...this.taken.filter((delta) => carried.has(delta))].map(agreedPart);
  }
}

function agreedPart(delta: SchemaDelta): AgreedPart {
  const { type, ns, uuid, name, branch } = delta;
  const place = { type, ...(uuid === undefined ? {} : { uuid }), ...(name === undefined ? {} : { name }) };
  // The base's own name of it is found by UUID.
  if (type === 'rename') return { ...place, ns, to: ns };
  return { ...place, ns, ...(branch ? { definition: toBase64(branch) } : {}) };
}

/** One phrase for people: `The new index sku_1 of shop.products`. */
export function describe(delta: SchemaDelta): string {
  const what = { added: 'new', modified: 'changed', removed: 'dropped' }[delta.kind];
  switch (delta.type) {
    case 'collection':
    case 'view':
      return `The ${what} ${delta.type} ${delta.ns}`;
    case 'rename':
      return `The new name ${delta.ns} of ${delta.parentNs ?? 'a collection'}`;
    case 'options':
      return `What changed in the options of ${delta.ns}`;
    case 'validator':
    case 'index':
      return `The ${what} ${delta.type}${delta.name === undefined ? '' : ` ${delta.name}`} of ${delta.ns}`;
  }
}
