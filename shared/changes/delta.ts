/** The change set between two images of one document: what a feed shows, and what undo takes back. */
import { ForkyardError } from '../errors.ts';
import { compareDocument, type FieldDelta, mergeDocument } from './compare.ts';

/** Plain data. A side without the document is left out. */
export interface Delta {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
  /** What changed, field by field; empty exactly where both images have the same bytes. */
  readonly fields: readonly FieldDelta[];
}

/** Throws `MalformedBson`. */
export function diffDocument(before?: Uint8Array, after?: Uint8Array): Delta {
  const changes = compareDocument({ base: before, parent: before, branch: after });
  return {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    fields: changes?.fields ?? [],
  };
}

/**
 * The document with the change made to it; undefined where it is gone then. A document that is not as the delta found it keeps
 * what else was changed in it. Throws a `ForkyardError` (`conflicts`) where the same fields were changed otherwise.
 */
export function applyDelta(document: Uint8Array | undefined, delta: Delta): Uint8Array | undefined {
  const sides = { base: delta.before, parent: document, branch: delta.after };
  return mergeDocument(sides, (field) => {
    if (field.class !== 'divergent') return 'branch';
    const place = field.path.length === 0 ? 'The document' : `The field ${field.path.join('.')}`;
    throw new ForkyardError('conflicts', `${place} was changed again since.`);
  }).result;
}

export function reverseDelta(delta: Delta): Delta {
  return diffDocument(delta.after, delta.before);
}

export function isEmptyDelta(delta: Delta): boolean {
  return delta.fields.length === 0;
}
