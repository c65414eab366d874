import { create } from 'jsondiffpatch';
import { toEjson } from '../../shared/bson/ejson.ts';
import type { ElementSlice } from '../../shared/bson/walk.ts';

/** Which elements of a short array of simple values to mark, by index; one that moved is marked where it was and where it is. */
export interface ArrayMarks {
  readonly before: ReadonlySet<number>;
  readonly after: ReadonlySet<number>;
  /** How many of them only moved. */
  readonly moved: number;
}

const patcher = create({ arrays: { detectMove: true, includeValueOnMove: false } });

/**
 * The fewest elements whose change explains the other array: one put in front marks itself, not all behind it. Elements
 * are compared as canonical Extended JSON, so a type that alone changed is marked too. Only for display: what changed is
 * decided elsewhere, by bytes.
 */
export function arrayMarks(before: readonly ElementSlice[], after: readonly ElementSlice[]): ArrayMarks {
  const marks = { before: new Set<number>(), after: new Set<number>(), moved: 0 };
  const text = ({ value }: ElementSlice): string => toEjson(value);
  const delta = patcher.diff(before.map(text), after.map(text)) as Record<string, unknown> | undefined;
  for (const [key, change] of Object.entries(delta ?? {})) {
    if (key === '_t' || !Array.isArray(change)) continue;
    if (!key.startsWith('_')) marks.after.add(Number(key));
    else {
      marks.before.add(Number(key.slice(1)));
      const [, destination, kind] = change as [unknown, number, number];
      if (kind !== moved) continue;
      marks.after.add(destination);
      marks.moved += 1;
    }
  }
  return marks;
}

/** jsondiffpatch's mark of a moved element. */
const moved = 3;
