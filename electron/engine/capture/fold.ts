import { BSON } from 'mongodb';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement, type Element } from '../../../shared/bson/walk.ts';

/**
 * The image after an update, from the image before it and the event's update description. Undefined where the
 * description does not say which field is meant: a path such as `a.0` may be an array index, a field named `0`, or a
 * field whose name holds a dot, and a wrong image is worse than a gap.
 */
export function foldUpdate(before: Uint8Array, description: Uint8Array): Uint8Array | undefined {
  let current: Uint8Array = before;
  try {
    for (const { name, value } of section(description, 'truncatedArrays')) {
      void name;
      const { field: path, newSize } = BSON.deserialize(value.subarray(1)) as { field: string; newSize: number };
      current = edit(current, path.split('.'), (old) => truncate(old, newSize));
    }
    for (const { value } of section(description, 'removedFields')) {
      const path = new TextDecoder().decode(value.subarray(5, value.length - 1));
      current = edit(current, path.split('.'), () => undefined);
    }
    for (const { name, value } of section(description, 'updatedFields')) {
      current = edit(current, name.split('.'), () => value);
    }
    return current;
  } catch (error) {
    if (error instanceof Ambiguous) return undefined;
    throw error;
  }
}

class Ambiguous extends Error {}

function section(description: Uint8Array, name: string): Element[] {
  const value = field(description, name);
  return value && (value[0] === Type.Object || value[0] === Type.Array) ? elements(value.subarray(1)) : [];
}

function edit(
  document: Uint8Array,
  path: readonly string[],
  change: (old: BsonValue | undefined) => BsonValue | undefined,
): Uint8Array {
  const [head = '', ...rest] = path;
  const parts: Element[] = elements(document);
  // A name that holds a dot, or that stands twice, could be the one meant.
  if (parts.some(({ name }) => name.includes('.') && (name === path.join('.') || name.startsWith(`${head}.`))))
    throw new Ambiguous();
  const at = parts.findIndex(({ name }) => name === head);
  if (at >= 0 && parts.findIndex(({ name }, index) => index > at && name === head) >= 0) throw new Ambiguous();
  const old = parts[at]?.value;
  let next: BsonValue | undefined;
  if (rest.length === 0) next = change(old);
  else {
    if (!old || (old[0] !== Type.Object && old[0] !== Type.Array)) throw new Ambiguous();
    const inner = edit(old.subarray(1), rest, change);
    next = new Uint8Array(inner.length + 1);
    next[0] = old[0];
    next.set(inner, 1);
  }
  if (next === undefined) return buildDocument(parts.filter((_, index) => index !== at));
  const element = rawElement(head, next);
  if (at >= 0) parts[at] = element;
  else parts.push(element);
  return buildDocument(parts);
}

function truncate(old: BsonValue | undefined, size: number): BsonValue {
  if (old?.[0] !== Type.Array) throw new Ambiguous();
  const kept = buildDocument(elements(old.subarray(1)).slice(0, size));
  const value = new Uint8Array(kept.length + 1);
  value[0] = Type.Array;
  value.set(kept, 1);
  return value;
}
