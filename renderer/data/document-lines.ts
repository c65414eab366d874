import type { FieldPath } from '../../shared/api.ts';
import { Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { isScalarType } from '../bson/change-lines.ts';
import { pathKey } from '../bson/line.ts';
import type { Line, Tone } from '../bson/line.ts';
import { plainText, typeName } from '../bson/plain.ts';

/** A place that differs from the parent, as far as marking it goes. */
export interface Difference {
  readonly path: FieldPath;
  readonly parent?: BsonValue | undefined;
}

const inlineChars = 44;
const longestValue = 2_000;

/**
 * A whole document with the type of each value beside it. What differs from the parent is marked, with all that is inside
 * it; what is no longer there has no line.
 */
export function documentLines(document: BsonValue, differences: readonly Difference[]): Line[] {
  const tones = new Map<string, Tone>();
  const above = new Set<string>();
  for (const { path, parent } of differences) {
    tones.set(pathKey(path), parent === undefined ? 'add' : 'mod');
    for (let length = 0; length < path.length; length += 1) above.add(pathKey(path.slice(0, length)));
  }
  const lines: Line[] = [];
  const write = (value: BsonValue, name: string | undefined, path: FieldPath, tone: Tone): void => {
    const key = pathKey(path);
    const own = tone === 'plain' ? (tones.get(key) ?? 'plain') : tone;
    const line = { key, depth: path.length - 1, name, changes: [], box: false };
    if (isScalarType(value[0]) || isShort(value)) {
      // Marked as a whole where something in it is: it has one line only.
      const shown = own === 'plain' && above.has(key) ? 'mod' : own;
      lines.push({ ...line, tone: shown, pieces: [{ text: plainText(value, longestValue) }], note: typeText(value) });
      return;
    }
    const isArray = value[0] === Type.Array;
    lines.push({ ...line, key: `${key}{`, tone: own, pieces: [{ text: isArray ? '[' : '{' }], note: typeText(value) });
    members(value, path, own);
    lines.push({ ...line, key: `${key}}`, name: undefined, tone: own, pieces: [{ text: isArray ? ']' : '}' }] });
  };
  const members = (value: BsonValue, path: FieldPath, tone: Tone): void => {
    const isArray = value[0] === Type.Array;
    elementsOf(valueSlice(value)).forEach((element, index) => {
      write(element.value, isArray ? undefined : element.name, [...path, isArray ? index : element.name], tone);
    });
  };
  members(document, [], tones.get(pathKey([])) ?? 'plain');
  return lines;
}

/** Arrays of a few plain values, and what is empty, stand on one line. */
function isShort(value: BsonValue): boolean {
  const parts = elementsOf(valueSlice(value));
  if (parts.length === 0) return true;
  if (value[0] !== Type.Array || parts.some((part) => !isScalarType(part.type))) return false;
  return plainText(value, inlineChars + 1).length <= inlineChars;
}

function typeText(value: BsonValue): string {
  return value[0] === Type.Array ? `Array ${String(elementsOf(valueSlice(value)).length)}` : typeName(value);
}
