/**
 * Reads BSON documents in place and builds them from parts. Names keep their bytes, order and duplicates are kept,
 * and nested documents are walked only when asked for, so depth costs no stack.
 */
import { decodeTolerant } from './text.ts';
import { type BsonValue, sameRange, Type } from './value.ts';

export interface Element {
  /** Decoded; U+FFFD stands for bytes that are no UTF-8. */
  readonly name: string;
  /** Without the closing NUL. */
  readonly nameBytes: Uint8Array;
  /** A copy: in a document the name stands between the type byte and the payload. */
  readonly value: BsonValue;
}

/** One value inside a larger buffer: its type byte and where its payload stands. */
export interface Slice {
  readonly bytes: Uint8Array;
  readonly type: number;
  readonly start: number;
  readonly end: number;
}

/** An element in place; `name` and `value` are made when asked for. */
export class ElementSlice implements Element, Slice {
  constructor(
    readonly bytes: Uint8Array,
    readonly type: number,
    readonly nameStart: number,
    readonly start: number,
    readonly end: number,
  ) {}

  /** Where the element begins: its type byte stands before its name. */
  get typeStart(): number {
    return this.nameStart - 1;
  }

  get name(): string {
    return decodeTolerant(this.bytes, this.nameStart, this.start - 1);
  }

  get nameBytes(): Uint8Array {
    return this.bytes.subarray(this.nameStart, this.start - 1);
  }

  get value(): BsonValue {
    return sliceValue(this);
  }
}

/** BSON that does not hold together. */
export class MalformedBson extends Error {
  constructor(what: string, offset: number) {
    super(`Malformed BSON: ${what} at byte ${offset}.`);
    this.name = 'MalformedBson';
  }
}

/** The elements of a document, in order. Throws {@link MalformedBson}. */
export function elements(doc: Uint8Array): ElementSlice[] {
  return elementsOf({ bytes: doc, type: Type.Object, start: 0, end: doc.length });
}

/** The elements of an object or array in place. Throws {@link MalformedBson}. */
export function elementsOf(slice: Slice): ElementSlice[] {
  const { bytes } = slice;
  const last = documentEnd(bytes, slice.start, slice.end);
  const found: ElementSlice[] = [];
  let at = slice.start + 4;
  while (at < last) {
    const element = elementAt(bytes, at, last);
    found.push(element);
    at = element.end;
  }
  return found;
}

/** The first element of that name, or undefined. Other names and values are skipped undecoded. Throws {@link MalformedBson}. */
export function field(doc: Uint8Array, name: string): BsonValue | undefined {
  const wanted = encodeName(name);
  const last = documentEnd(doc, 0, doc.length);
  let at = 4;
  while (at < last) {
    const nameEnd = cstringEnd(doc, at + 1, last);
    const end = payloadEnd(doc, doc[at]!, nameEnd + 1, last);
    if (nameEnd - at - 1 === wanted.length && sameRange(doc, at + 1, wanted, 0, wanted.length)) {
      return sliceValue({ bytes: doc, type: doc[at]!, start: nameEnd + 1, end });
    }
    at = end;
  }
  return undefined;
}

/** A value as a slice of itself. */
export function valueSlice(value: BsonValue): Slice {
  return { bytes: value, type: value[0] ?? 0, start: 1, end: value.length };
}

/** Copies a slice into a value of its own. */
export function sliceValue(slice: Slice): BsonValue {
  const value = new Uint8Array(slice.end - slice.start + 1);
  value[0] = slice.type;
  value.set(slice.bytes.subarray(slice.start, slice.end), 1);
  return value;
}

export function sameSlice(a: Slice | undefined, b: Slice | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.type !== b.type) return false;
  const length = a.end - a.start;
  return length === b.end - b.start && sameRange(a.bytes, a.start, b.bytes, b.start, length);
}

/** A document of these elements, names and values byte for byte. */
export function buildDocument(parts: Iterable<Pick<Element, 'nameBytes' | 'value'>>): Uint8Array {
  const list = [...parts];
  let length = 5;
  for (const part of list) {
    if (part instanceof ElementSlice) length += part.end - part.typeStart;
    else length += part.nameBytes.length + 1 + part.value.length;
  }
  const doc = new Uint8Array(length);
  new DataView(doc.buffer).setInt32(0, length, true);
  let at = 4;
  for (const part of list) {
    // As it stands in its document: no copy of its value on the way.
    if (part instanceof ElementSlice) {
      doc.set(part.bytes.subarray(part.typeStart, part.end), at);
      at += part.end - part.typeStart;
      continue;
    }
    const { nameBytes, value } = part;
    doc[at] = value[0]!;
    doc.set(nameBytes, at + 1);
    at += nameBytes.length + 2;
    doc.set(value.subarray(1), at);
    at += value.length - 1;
  }
  return doc;
}

/** The bytes of an array: a document whose names are the indexes. Prefix {@link Type.Array} to make a value of it. */
export function buildArray(values: Iterable<BsonValue>): Uint8Array {
  const parts: Pick<Element, 'nameBytes' | 'value'>[] = [];
  for (const value of values) parts.push({ nameBytes: encodeName(String(parts.length)), value });
  return buildDocument(parts);
}

/** An element of that name, for {@link buildDocument}. Throws where the name holds a NUL, which BSON cannot carry. */
export function rawElement(name: string, value: BsonValue): Element {
  return { name, nameBytes: encodeName(name), value };
}

const utf8 = new TextEncoder();

function encodeName(name: string): Uint8Array {
  if (name.includes('\0')) throw new TypeError('a field name cannot hold a NUL');
  return utf8.encode(name);
}

/** Checks a document's frame and gives the position of its closing NUL. */
export function documentEnd(bytes: Uint8Array, start: number, limit: number): number {
  const length = int32(bytes, start, limit);
  if (length < 5 || start + length !== limit) throw new MalformedBson('a document of the wrong length', start);
  if (bytes[limit - 1] !== 0) throw new MalformedBson('a document without its closing NUL', limit - 1);
  return limit - 1;
}

function elementAt(bytes: Uint8Array, at: number, limit: number): ElementSlice {
  const start = cstringEnd(bytes, at + 1, limit) + 1;
  return new ElementSlice(bytes, bytes[at]!, at + 1, start, payloadEnd(bytes, bytes[at]!, start, limit));
}

/** The position of the NUL that ends a cstring. */
export function cstringEnd(bytes: Uint8Array, start: number, limit: number): number {
  let at = start;
  while (at < limit && bytes[at] !== 0) at++;
  if (at >= limit) throw new MalformedBson('a name or pattern without its end', start);
  return at;
}

/** Where the payload of a value of `type` that starts at `start` ends. */
export function payloadEnd(bytes: Uint8Array, type: number, start: number, limit: number): number {
  const end = start + payloadLength(bytes, type, start, limit);
  if (end > limit) throw new MalformedBson('a value that reaches beyond its document', start);
  return end;
}

function payloadLength(bytes: Uint8Array, type: number, start: number, limit: number): number {
  switch (type) {
    case Type.Double:
    case Type.Date:
    case Type.Timestamp:
    case Type.Int64:
      return 8;
    case Type.String:
    case Type.Code:
    case Type.Symbol:
      return stringLength(bytes, start, limit);
    case Type.Object:
    case Type.Array:
      return framedLength(bytes, start, limit, 5);
    case Type.Binary: {
      const length = int32(bytes, start, limit);
      if (length < 0) throw new MalformedBson('a binary of negative length', start);
      return length + 5;
    }
    case Type.Undefined:
    case Type.Null:
    case Type.MinKey:
    case Type.MaxKey:
      return 0;
    case Type.ObjectId:
      return 12;
    case Type.Boolean:
      return 1;
    case Type.Regex:
      return cstringEnd(bytes, cstringEnd(bytes, start, limit) + 1, limit) + 1 - start;
    case Type.DBPointer:
      return stringLength(bytes, start, limit) + 12;
    case Type.CodeWScope:
      return framedLength(bytes, start, limit, 14);
    case Type.Int32:
      return 4;
    case Type.Decimal128:
      return 16;
    default:
      throw new MalformedBson(`a value of the unknown type 0x${type.toString(16)}`, start);
  }
}

function stringLength(bytes: Uint8Array, start: number, limit: number): number {
  const length = int32(bytes, start, limit);
  if (length < 1 || start + 4 + length > limit || bytes[start + 3 + length] !== 0) {
    throw new MalformedBson('a string without its end', start);
  }
  return length + 4;
}

function framedLength(bytes: Uint8Array, start: number, limit: number, least: number): number {
  const length = int32(bytes, start, limit);
  if (length < least) throw new MalformedBson('a value shorter than its type allows', start);
  return length;
}

function int32(bytes: Uint8Array, at: number, limit: number): number {
  if (at + 4 > limit) throw new MalformedBson('a length cut short', at);
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
