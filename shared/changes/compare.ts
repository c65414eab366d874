/** What a branch changed in one document, and the document that adopting those changes leaves. */
import { sameBytes, Type } from '../bson/value.ts';
import { documentBytes } from '../bson/value.ts';
import type { Slice } from '../bson/walk.ts';
import { entries, type Node } from './node.ts';
import type { CompareOptions, FieldDelta, Sides } from './sides.ts';
import { compareValue, leaf } from './three-way.ts';
import { type Choice, writeNode } from './write.ts';

export type { CompareOptions, FieldDelta, Sides } from './sides.ts';
export type { Choice } from './write.ts';

/** What there is to adopt from one document. */
export interface DocumentDelta {
  /** The branch's net effect against the base. */
  readonly kind: 'added' | 'modified' | 'removed';
  /** Whether something must be decided. */
  readonly conflict: boolean;
  readonly fields: FieldDelta[];
}

/**
 * The branch's changes, one entry per changed field, or undefined where there is nothing to adopt: the branch is as the base or as
 * the parent, or every change was made on both sides alike. An added or removed document, and delete against modify, are one
 * entry with the path `[]` and the whole documents. Throws `MalformedBson`.
 */
export function compareDocument(sides: Sides, options: CompareOptions = {}): DocumentDelta | undefined {
  const node = compared(sides, options);
  if (node === undefined) return undefined;
  const fields = entries(node);
  return {
    kind: sides.base === undefined ? 'added' : sides.branch === undefined ? 'removed' : 'modified',
    conflict: fields.some((field) => field.class === 'divergent'),
    fields,
  };
}

/** What the parent alone changed in a document that is on all three sides: it stays there, whatever is adopted. */
export function parentChanges(sides: Sides, options: CompareOptions = {}): FieldDelta[] {
  const delta = compareDocument({ base: sides.base, parent: sides.branch, branch: sides.parent }, options);
  return (delta?.fields ?? [])
    .filter((field) => field.class === 'clean')
    .map(({ parent: branch, branch: parent, ...field }) => ({
      ...field,
      ...(parent === undefined ? {} : { parent }),
      ...(branch === undefined ? {} : { branch }),
    }));
}

/**
 * The parent's document after adopting: `choose` is asked once for each entry that {@link compareDocument} lists. `result` is left
 * out where the document is gone. With `'parent'` for all it is the parent's bytes; with `'branch'` for all, and a parent
 * that is as the base, it is the branch's. New fields stand where the branch has them among their neighbours.
 * Throws a `TypeError` where an edited value for the whole document is none.
 */
export function mergeDocument(
  sides: Sides,
  choose: (delta: FieldDelta) => Choice,
  options: CompareOptions = {},
): { readonly result?: Uint8Array | undefined } {
  const node = compared(sides, options);
  if (node === undefined) return sides.parent === undefined ? {} : { result: sides.parent };
  const written = writeNode(node, choose);
  return written === undefined ? {} : { result: documentBytes(written) };
}

/** The tree of changes; undefined where none is the branch's own. */
function compared(
  { base, parent, branch }: Sides,
  { strict = false, whole: asOne = false }: CompareOptions,
): Node | undefined {
  if (sameBytes(branch, base) || sameBytes(branch, parent)) return undefined;
  const context = { everyChangeDiverges: strict && !sameBytes(parent, base) };
  const sides = { base: whole(base), parent: whole(parent), branch: whole(branch) };
  const node = asOne ? leaf(context, sides, []) : compareValue(context, sides, []);
  if (node === undefined || entries(node).every((field) => field.class === 'convergent')) return undefined;
  return node;
}

function whole(bytes: Uint8Array | undefined): Slice | undefined {
  return bytes === undefined ? undefined : { bytes, type: Type.Object, start: 0, end: bytes.length };
}
