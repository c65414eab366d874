import type { Bson } from '../../shared/api.ts';
import { documentBytes, fromBase64, typeName } from '../../shared/bson/value.ts';
import { diffDocument } from '../../shared/changes/delta.ts';
import { fieldCount, pathText, plainBson, plainText } from '../bson/plain.ts';
import { plural } from '../shell/numbers.ts';

/** A side's value; one that is missing was removed, or was never there. Of a whole document what that side changed. */
export function sideText(bson: Bson | undefined, base: Bson | undefined): string {
  if (bson === undefined) return base === undefined ? 'not there' : '− removed';
  const value = fromBase64(bson);
  if (typeName(value) !== 'Object') return plainBson(bson, 120);
  const before = base === undefined ? undefined : fromBase64(base);
  if (before === undefined || typeName(before) !== 'Object') return plural(fieldCount(value), 'field');
  const { fields } = diffDocument(documentBytes(before), documentBytes(value));
  const [first] = fields;
  if (first === undefined) return 'unchanged';
  const side = (one: Uint8Array | undefined): string => (one === undefined ? 'none' : plainText(one, 40));
  const more = fields.length === 1 ? '' : ` +${plural(fields.length - 1, 'field')}`;
  return first.order === true
    ? `order changed${more}`
    : `${pathText(first.path)} ${side(first.base)} → ${side(first.branch)}${more}`;
}
