import type { FieldChange } from '../api.ts';
import { toBase64, type BsonValue } from '../bson/value.ts';
import type { FieldDelta } from './compare.ts';

/** One field of a comparison as the API tells it: values become base64, absent stays absent. */
export function fieldChange({ path, base, parent, branch, class: merge, order }: FieldDelta): FieldChange {
  return {
    path: [...path],
    ...encoded('base', base),
    ...encoded('parent', parent),
    ...encoded('branch', branch),
    class: merge,
    ...(order ? { order: true as const } : {}),
  };
}

/** A value under a name, base64; nothing where there is none. */
export function encoded<K extends string>(name: K, bytes: BsonValue | undefined): { [P in K]?: string } {
  return (bytes === undefined ? {} : { [name]: toBase64(bytes) }) as { [P in K]?: string };
}
