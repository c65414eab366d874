/** Objects and arrays opened for comparison, in place. */
import { sliceKeyText } from '../bson/key.ts';
import { decodeExact } from '../bson/text.ts';
import { documentEnd, elementsOf, MalformedBson, payloadEnd, type Slice } from '../bson/walk.ts';
import { Named } from './named.ts';
import { sameOrder } from './order.ts';
import { stringValue, Type, type BsonValue } from '../bson/value.ts';

/**
 * The fields of an object; undefined where a name stands twice or is no UTF-8: such an object is one whole value. `like` is another
 * version that has been opened, whose names need no second check.
 */
export function openObject(slice: Slice, like?: Named): Named | undefined {
  const elements = elementsOf(slice);
  const names: string[] = [];
  for (const element of elements) {
    const name = decodeExact(element.bytes, element.nameStart, element.start - 1);
    if (name === undefined) return undefined;
    names.push(name);
  }
  const distinct = (like !== undefined && sameOrder(names, like.names)) || new Set(names).size === names.length;
  return distinct ? new Named(names, elements) : undefined;
}

/** An array's elements by index; holds four bytes for each. */
export class OpenArray {
  private constructor(
    private readonly slice: Slice,
    private readonly starts: Uint32Array,
    readonly length: number,
  ) {}

  /** Undefined where the names are not the indexes in order: written again, such an array would have other bytes. */
  static open(slice: Slice): OpenArray | undefined {
    const { bytes } = slice;
    const last = documentEnd(bytes, slice.start, slice.end);
    let starts = new Uint32Array(16);
    let length = 0;
    let at = slice.start + 4;
    while (at < last) {
      const digits = decimalDigits(length);
      if (!isIndex(bytes, at + 1, length, digits)) return undefined;
      if (at + 2 + digits > last) throw new MalformedBson('an element cut short', at);
      if (length === starts.length) {
        const grown = new Uint32Array(length * 2);
        grown.set(starts);
        starts = grown;
      }
      starts[length++] = at;
      at = payloadEnd(bytes, bytes[at]!, at + 2 + digits, last);
    }
    return new OpenArray(slice, starts, length);
  }

  element(index: number): Slice {
    const { bytes } = this.slice;
    const at = this.starts[index]!;
    const end = index + 1 < this.length ? this.starts[index + 1]! : this.slice.end - 1;
    return { bytes, type: bytes[at]!, start: at + 2 + decimalDigits(index), end };
  }

  elements(from: number, to: number): Slice[] {
    const found: Slice[] = [];
    for (let index = from; index < to; index++) found.push(this.element(index));
    return found;
  }
}

function decimalDigits(index: number): number {
  let digits = 1;
  for (let rest = index; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}

function isIndex(bytes: Uint8Array, at: number, index: number, digits: number): boolean {
  if (bytes[at + digits] !== 0) return false;
  let rest = index;
  for (let i = at + digits - 1; i >= at; i--) {
    if (bytes[i] !== 0x30 + (rest % 10)) return false;
    rest = Math.floor(rest / 10);
  }
  return true;
}

/** The field that tells an array's elements apart on all sides: `_id`, or else `id`. */
export type KeyName = '_id' | 'id';

/** Undefined unless every element on every side is an object with such a field, unique on its side. */
export function keyNameOf(sides: readonly (readonly Slice[])[]): KeyName | undefined {
  for (const name of ['_id', 'id'] as const) {
    if (sides.every((side) => haveUniqueKeys(side, name))) return name;
  }
  return undefined;
}

function haveUniqueKeys(side: readonly Slice[], name: KeyName): boolean {
  const seen = new Set<string>();
  for (const element of side) {
    const key = keySlice(element, name);
    if (key === undefined) return false;
    seen.add(sliceKeyText(key));
  }
  return seen.size === side.length;
}

/** The element's identifying value; undefined where it has none, or two. */
export function keySlice(element: Slice, name: KeyName): Slice | undefined {
  if (element.type !== Type.Object) return undefined;
  const found = elementsOf(element).filter((part) => part.name === name);
  return found.length === 1 ? found[0] : undefined;
}

/** The names as a BSON array of Strings. */
export function nameValues(names: readonly string[]): BsonValue[] {
  return names.map((name) => stringValue(name));
}
