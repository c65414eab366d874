import type { Bson, FieldChange, FieldPath, Output } from '../../shared/api.ts';
import { documentBytes, documentValue, fromBase64, sameBytes, toBase64, Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { field } from '../../shared/bson/walk.ts';
import { mergeDocument } from '../../shared/changes/compare.ts';
import type { FieldDelta } from '../../shared/changes/compare.ts';
import { diffDocument } from '../../shared/changes/delta.ts';
import { fieldChange } from '../../shared/changes/field-change.ts';
import { errorBody } from '../../shared/errors.ts';
import { decisionOf } from './decisions.ts';
import type { Decisions } from './decisions.ts';
import { hasField } from './selection.ts';
import type { Selection } from './selection.ts';

type Sides = Output<'diff.document'>;

/**
 * Where what is new in a place comes from: one side, both alike, parts of either (or of either and what was typed), what
 * was typed; `open` where it is not decided.
 */
export type Source = 'parent' | 'branch' | 'both' | 'mixed' | 'edited' | 'open';

/** What was decided and chosen for one document. */
export interface Chosen {
  readonly ns: string;
  readonly id: Bson;
  readonly decisions: Decisions;
  readonly selection: Selection;
  readonly strict: boolean;
}

/** A document as it would be in the parent. */
export interface MergedDocument {
  /** What is not decided is as the parent has it; left out where the document is gone. */
  readonly result: Bson | undefined;
  /** What it is compared with: as it was at the fork, or itself where it is decided as a whole. */
  readonly before: Bson | undefined;
  /** What is new in it since the fork, and the places that are not decided. */
  readonly fields: readonly FieldChange[];
  /** Of each field of `fields`, in their order. */
  readonly sources: readonly Source[];
  /** Places that must be decided. */
  readonly undecided: number;
}

/** Throws `MalformedBson`, and a `TypeError` where the document was typed and is none. */
export function mergedDocument(sides: Sides, chosen: Chosen): MergedDocument {
  const images = { base: bytesOf(sides.base), parent: bytesOf(sides.parent), branch: bytesOf(sides.branch) };
  const { undecided, typed, result } = merged(images, chosen, 'parent');
  const open = undecided.length === 0 ? [] : placed(undecided, result, merged(images, chosen, 'branch').result);
  const fromBase = diffDocument(images.base, result).fields;
  const fromParent = diffDocument(images.parent, result).fields;
  const fromBranch = diffDocument(images.branch, result).fields;
  const changes = fromBase.filter(({ path }) => !open.some((place) => place.order !== true && holds(place.path, path)));
  const sourceOf = (news: FieldDelta): Source => {
    const [notParent, notBranch] = [fromParent, fromBranch].map((others) => others.some((one) => touches(one, news)));
    if (notParent !== true) return notBranch === true ? 'parent' : 'both';
    if (notBranch !== true) return 'branch';
    return typed.some((path) => holds(path, news.path)) ? 'edited' : 'mixed';
  };
  const shown = result === undefined ? undefined : toBase64(documentValue(result));
  const isWhole = open.some(({ path, order }) => path.length === 0 && order !== true);
  return {
    result: shown,
    before: isWhole ? shown : sides.base,
    fields: [...changes, ...open].map(fieldChange),
    sources: [...changes.map(sourceOf), ...open.map((): Source => 'open')],
    undecided: open.length,
  };
}

/** The problem in words where there is no such document. */
export function mergedOrProblem(sides: Sides, chosen: Chosen): MergedDocument | { readonly problem: string } {
  try {
    return mergedDocument(sides, chosen);
  } catch (error) {
    return { problem: errorBody(error).message };
  }
}

interface Images {
  readonly base: Uint8Array | undefined;
  readonly parent: Uint8Array | undefined;
  readonly branch: Uint8Array | undefined;
}

/** The merge itself, with what is not decided as `side` has it, and the places for which a value was typed. */
function merged(images: Images, { ns, id, decisions, selection, strict }: Chosen, side: 'parent' | 'branch') {
  const undecided: FieldDelta[] = [];
  const typed: FieldPath[] = [];
  const { result } = mergeDocument(
    images,
    (delta) => {
      const { path, class: merge } = delta;
      if (merge !== 'divergent') return hasField(selection, ns, id, path) ? 'branch' : 'parent';
      const choice = decisionOf(decisions, { ns, id, path });
      if (choice === undefined) {
        undecided.push(delta);
        return side;
      }
      if ('side' in choice) return choice.side;
      typed.push(path);
      return { value: fromBase64(choice.value) };
    },
    { strict },
  );
  return { undecided, typed, result };
}

/** Undecided places by their path in the result: elements of arrays may have another index there than on the branch. */
function placed(
  undecided: readonly FieldDelta[],
  result: Uint8Array | undefined,
  otherwise: Uint8Array | undefined,
): FieldDelta[] {
  const differing = diffDocument(result, otherwise).fields;
  return undecided.map((delta) => {
    const there = differing.filter(
      ({ base, branch, order }) =>
        sameBytes(base, delta.parent) && sameBytes(branch, delta.branch) && order === delta.order,
    );
    const [one] = there;
    return one === undefined || there.length > 1 ? delta : { ...delta, path: one.path };
  });
}

/**
 * Whether two changes into the result are about the same place, or one is about a part of the other's. An order has no
 * parts. An element that went has the index it had before, which says nothing about the result.
 */
function touches(one: FieldDelta, other: FieldDelta): boolean {
  if (isGoneElement(one) && isGoneElement(other)) {
    return samePath(one.path.slice(0, -1), other.path.slice(0, -1)) && sameElement(one.base, other.base);
  }
  if (isGoneElement(one)) return holds(other.path, one.path.slice(0, -1));
  if (isGoneElement(other)) return holds(one.path, other.path.slice(0, -1));
  if (one.order === true && other.order === true) return samePath(one.path, other.path);
  if (one.order === true) return holds(other.path, one.path);
  if (other.order === true) return holds(one.path, other.path);
  return holds(one.path, other.path) || holds(other.path, one.path);
}

function isGoneElement({ path, branch, order }: FieldDelta): boolean {
  return branch === undefined && order !== true && typeof path.at(-1) === 'number';
}

/** The same bytes or the same id, as arrays are matched. */
function sameElement(one: BsonValue | undefined, other: BsonValue | undefined): boolean {
  if (sameBytes(one, other)) return true;
  if (one?.[0] !== Type.Object || other?.[0] !== Type.Object) return false;
  const [left, right] = [documentBytes(one), documentBytes(other)];
  return ['_id', 'id'].some((name) => {
    const key = field(left, name);
    return key !== undefined && sameBytes(key, field(right, name));
  });
}

function holds(outer: FieldPath, inner: FieldPath): boolean {
  return outer.every((step, at) => inner[at] === step);
}

function samePath(one: FieldPath, other: FieldPath): boolean {
  return one.length === other.length && holds(one, other);
}

function bytesOf(bson: Bson | undefined): Uint8Array | undefined {
  return bson === undefined ? undefined : documentBytes(fromBase64(bson));
}
