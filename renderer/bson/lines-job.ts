import type { Bson, FieldChange } from '../../shared/api.ts';
import type { z } from 'zod';
import { documentBytes, fromBase64 } from '../../shared/bson/value.ts';
import { diffDocument } from '../../shared/changes/delta.ts';
import { diffLines, imageLines } from './document-lines.ts';
import { ejsonLines } from './ejson-lines.ts';
import type { Line, LinesOptions, PlaceChange } from './line.ts';

/** What is to be drawn, as plain data that can be handed to another thread. */
export interface LinesJob {
  readonly base: Bson | undefined;
  readonly target: Bson | undefined;
  /** What the engine found changed; left out = compared here. */
  readonly fields?: readonly z.infer<typeof FieldChange>[];
  readonly form: 'tree' | 'ejson';
  readonly options: LinesOptions;
}

/** The lines of a change, or of the one image there is with `fields` empty. Throws `MalformedBson`. */
export function linesOf({ base: baseText, target: targetText, fields, form, options }: LinesJob): Line[] {
  const [base, target] = [decoded(baseText), decoded(targetText)];
  if (form === 'ejson') return ejsonLines(base, target, options.opened);
  if (fields === undefined) {
    if (base === undefined && target === undefined) return [];
    return diffLines(
      base,
      target,
      diffDocument(base && documentBytes(base), target && documentBytes(target)).fields,
      options,
    );
  }
  const image = target ?? base;
  if (fields.length === 0 && image !== undefined) return imageLines(image, options.opened);
  return diffLines(base, target, fields.map(placeChange), options);
}

function decoded(bson: Bson | undefined): Uint8Array | undefined {
  return bson === undefined ? undefined : fromBase64(bson);
}

function placeChange(field: z.infer<typeof FieldChange>): PlaceChange {
  return {
    path: field.path,
    base: decoded(field.base),
    parent: decoded(field.parent),
    branch: decoded(field.branch),
    class: field.class,
    order: field.order,
  };
}
