import type { ChangeKind, Decision, FieldPath, SchemaTarget, Target } from '../../../shared/api.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { fromBase64, Type, type BsonValue } from '../../../shared/bson/value.ts';
import type { Choice, FieldDelta } from '../../../shared/changes/compare.ts';
import { documentName, pointerText } from '../../../shared/changes/explain.ts';
import { ForkyardError } from '../../../shared/errors.ts';

export interface SelectionInput {
  readonly only?: readonly Target[] | undefined;
  readonly except?: readonly Target[] | undefined;
  readonly take?: readonly Decision[] | undefined;
  readonly documentsOnly?: boolean | undefined;
  /** Any edit of one document on both sides is a conflict. */
  readonly strict?: boolean | undefined;
}

/** A decision that puts an edited value into one document. */
export interface Edit {
  readonly path: FieldPath;
  readonly value: BsonValue;
}

/** Which document a delta belongs to. */
export interface Place {
  readonly ns: string;
  readonly parentNs?: string | undefined;
  readonly key: BsonValue;
}

/** Which schema item a delta is. */
export interface SchemaPlace {
  readonly type: NonNullable<SchemaTarget['type']>;
  readonly kind: ChangeKind;
  readonly ns: string;
  readonly parentNs?: string | undefined;
  readonly name?: string | undefined;
  readonly conflict: boolean;
}

interface ParsedTarget {
  readonly ns: string;
  /** Set where schema items alone are meant, never documents. */
  readonly schema: SchemaTarget | undefined;
  /** {@link keyText}: numbers match as the server compares them. */
  readonly key: string | undefined;
  readonly id: BsonValue | undefined;
  readonly path: FieldPath | undefined;
}

/** Of longer lists it is not looked at which of them stand at no change: each is asked about every change. */
const mostWatched = 100;

/** What of a change set is wanted, and how its conflicts are decided. */
export class Selection {
  private readonly only: readonly ParsedTarget[] | undefined;
  private readonly except: readonly ParsedTarget[];
  private readonly decisions: readonly { readonly target: ParsedTarget; readonly choice: Choice }[];
  readonly documentsOnly: boolean;
  readonly strict: boolean;
  /** Of what was named, what no change has been found at so far. */
  private readonly unused: Set<ParsedTarget>;

  /** @throws ForkyardError `usage` where a decision names a branch that is neither side, or edits a schema item. */
  constructor(input: SelectionInput, branchName: string, parentName: string) {
    this.only = input.only?.map(parse);
    this.except = input.except?.map(parse) ?? [];
    this.decisions = (input.take ?? []).map(({ target, take }) => {
      if ('value' in take && target.schema) throw noEditedSchema(target.ns);
      if ('value' in take && target.id === undefined) throw noEditedCollection(target.ns);
      return {
        target: parse(target),
        choice: 'value' in take ? { value: fromBase64(take.value) } : sideOf(take.side, branchName, parentName),
      };
    });
    this.documentsOnly = input.documentsOnly ?? false;
    this.strict = input.strict ?? false;
    const named = [...(this.only ?? []), ...this.decisions.map(({ target }) => target)];
    this.unused = new Set(named.length > mostWatched ? [] : named);
  }

  /** What was chosen or decided where no change stands, in words. Asked once all changes have been. */
  get unusedTargets(): string[] {
    return [...new Set([...this.unused].map(targetText))];
  }

  private use(covers: (target: ParsedTarget) => boolean): void {
    for (const target of this.unused) if (covers(target)) this.unused.delete(target);
  }

  /** Whether only some collections are wanted. */
  get isPartial(): boolean {
    return this.only !== undefined;
  }

  /** Whether anything of this collection can be wanted; lets whole collections be skipped. */
  touchesNamespace(ns: string): boolean {
    return !this.only || this.only.some((target) => target.ns === ns && target.schema === undefined);
  }

  /** Whether anything of this document can be wanted. */
  touchesDocument(place: Place): boolean {
    const key = keyText(place.key);
    const wanted = !this.only || this.only.some((target) => isAt(target, place) && (target.key ?? key) === key);
    const left = this.except.some((target) => isAt(target, place) && !target.path && (target.key ?? key) === key);
    return wanted && !left;
  }

  /** Whether this schema item is wanted. */
  includesSchema(item: SchemaPlace): boolean {
    if (this.documentsOnly) return false;
    const covers = (target: ParsedTarget) => coversSchema(target, item);
    this.use(covers);
    return (!this.only || this.only.some(covers)) && !this.except.some(covers);
  }

  /** What becomes of one schema item; the branch's unless the parent changed the same and nobody said how. */
  chooseSchema(item: SchemaPlace): 'branch' | 'parent' | 'left out' | 'undecided' {
    if (!this.includesSchema(item)) return 'left out';
    const decided = this.decidedSchema(item);
    if (decided === 'branch' || decided === 'parent') return decided;
    return item.conflict ? 'undecided' : 'branch';
  }

  /** Whether somebody said what becomes of this schema item. */
  hasDecided(item: SchemaPlace): boolean {
    return this.decidedSchema(item) !== undefined;
  }

  private decidedSchema(item: SchemaPlace): Choice | undefined {
    // The one that names the item decides over the one that names its collection.
    return this.decisions
      .filter(({ target }) => coversSchema(target, item))
      .sort((a, b) => Number(a.target.schema !== undefined) - Number(b.target.schema !== undefined))
      .at(-1)?.choice;
  }

  /**
   * What becomes of one field change: taken from the branch, left as the parent has it, an edited value, or undecided
   * (wanted, in conflict, and nobody said how).
   */
  choose(place: Place, delta: FieldDelta): Choice | 'left out' | 'undecided' {
    const key = keyText(place.key);
    const covers = (target: ParsedTarget) =>
      isAt(target, place) && (target.key ?? key) === key && (!target.path || startsWith(delta.path, target.path));
    this.use(covers);
    if (this.only && !this.only.some(covers)) return 'left out';
    if (this.except.some(covers)) return 'left out';
    const decided = this.decisions
      .filter(({ target }) => covers(target))
      .sort(bySpecificity)
      .at(-1);
    if (!decided) return delta.class === 'divergent' ? 'undecided' : 'branch';
    const { target, choice } = decided;
    // What is edited as part of something larger is left to that: see {@link editsAround}.
    return typeof choice === 'string' || isExactly(target, delta, choice.value) ? choice : 'parent';
  }

  /**
   * Edited values of a document that stand above or inside its changes, the whole document first: they are put into what
   * the changes leave.
   */
  editsAround(place: Place, deltas: readonly FieldDelta[]): Edit[] {
    return this.editsOf(place)
      .filter(({ target, value }) => {
        const near = deltas.filter((delta) => isNear(delta.path, target.path ?? []));
        return near.length > 0 && !near.some((delta) => isExactly(target, delta, value));
      })
      .map(({ target, value }) => ({ path: target.path ?? [], value }))
      .sort((a, b) => a.path.length - b.path.length);
  }

  /** Edited values of a document that are those of no change of it; then they are not among {@link unusedTargets}. */
  editsWithoutChange(place: Place, deltas: readonly FieldDelta[]): FieldPath[] {
    return this.editsOf(place).flatMap(({ target }) => {
      this.unused.delete(target);
      const { path = [] } = target;
      return deltas.some((delta) => isNear(delta.path, path)) ? [] : [path];
    });
  }

  private editsOf(place: Place): { readonly target: ParsedTarget; readonly value: BsonValue }[] {
    const key = keyText(place.key);
    return this.decisions.flatMap(({ target, choice }) =>
      typeof choice === 'object' && isAt(target, place) && target.key === key ? [{ target, value: choice.value }] : [],
    );
  }
}

/** Whether an edited value is that of this change. Of an object's order that is an array of names. */
function isExactly(target: ParsedTarget, delta: FieldDelta, value: BsonValue): boolean {
  return (target.path?.length ?? 0) === delta.path.length && (delta.order !== true || value[0] === Type.Array);
}

function bySpecificity(a: { target: ParsedTarget }, b: { target: ParsedTarget }): number {
  const weight = ({ target }: { target: ParsedTarget }) =>
    (target.key === undefined ? 0 : 1) + (target.path?.length ?? 0);
  return weight(a) - weight(b);
}

function sideOf(side: string, branchName: string, parentName: string): 'branch' | 'parent' {
  if (side === branchName) return 'branch';
  if (side === parentName) return 'parent';
  throw new ForkyardError(
    'usage',
    `"${side}" is neither ${branchName} nor ${parentName}, the two sides of this review.`,
    {
      hint: `Decide with =${branchName} or =${parentName}.`,
    },
  );
}

function noEditedSchema(ns: string): ForkyardError {
  return new ForkyardError('usage', `A schema change of ${ns} is taken from one of the two sides, not edited.`, {
    hint: 'Change it in one of the two branches and compare again.',
  });
}

function noEditedCollection(ns: string): ForkyardError {
  return new ForkyardError('usage', `An edited value for ${ns} names no document.`, {
    hint: 'Write NS:ID[:PATH]=@VALUE.',
  });
}

function parse(target: Target): ParsedTarget {
  return {
    ns: target.ns,
    schema: target.schema,
    key: target.id === undefined ? undefined : keyText(fromBase64(target.id)),
    id: target.id === undefined ? undefined : fromBase64(target.id),
    path: target.path,
  };
}

/** `/price of "p1" of shop.products`, `the index sku_1 of shop.products`, `shop.products` */
function targetText({ ns, schema, id, path = [] }: ParsedTarget): string {
  if (schema)
    return `the ${[schema.type ?? 'schema', ...(schema.name === undefined ? [] : [schema.name])].join(' ')} of ${ns}`;
  if (id === undefined) return ns;
  return `${path.length === 0 ? '' : `${pointerText(path)} of `}${documentName(ns, id)}`;
}

function isAt(target: ParsedTarget, place: Pick<Place, 'ns' | 'parentNs'>): boolean {
  return target.schema === undefined && (target.ns === place.ns || target.ns === place.parentNs);
}

/** Whether a target names this schema item, or the collection that it belongs to. */
export function coversItem(target: Target, item: SchemaPlace): boolean {
  return coversSchema(parse(target), item);
}

function coversSchema({ ns, schema, key }: ParsedTarget, item: SchemaPlace): boolean {
  if (key !== undefined || (ns !== item.ns && ns !== item.parentNs)) return false;
  if (!schema) return true;
  return (
    (schema.type ?? item.type) === item.type &&
    (schema.kind ?? item.kind) === item.kind &&
    (schema.name ?? item.name) === item.name
  );
}

/** Whether one of two places lies inside the other. */
function isNear(path: readonly (string | number)[], other: FieldPath): boolean {
  return startsWith(path, other) || startsWith(other, path.map(String));
}

/** A segment of digits may be an index or a name: the pointer's text does not tell, so it matches both. */
function startsWith(path: readonly (string | number)[], prefix: FieldPath): boolean {
  return prefix.length <= path.length && prefix.every((segment, index) => String(segment) === String(path[index]));
}
