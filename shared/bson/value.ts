/**
 * A BSON value as bytes: one type byte (the BSON element type) followed by the value's exact payload.
 * Nothing here decodes a value into a JavaScript number or object: those lose types, order and duplicate names.
 */
export type BsonValue = Uint8Array;

/** Element types of the BSON specification, version 1.1. */
export const Type = {
  Double: 0x01,
  String: 0x02,
  Object: 0x03,
  Array: 0x04,
  Binary: 0x05,
  Undefined: 0x06,
  ObjectId: 0x07,
  Boolean: 0x08,
  Date: 0x09,
  Null: 0x0a,
  Regex: 0x0b,
  DBPointer: 0x0c,
  Code: 0x0d,
  Symbol: 0x0e,
  CodeWScope: 0x0f,
  Int32: 0x10,
  Timestamp: 0x11,
  Int64: 0x12,
  Decimal128: 0x13,
  MinKey: 0xff,
  MaxKey: 0x7f,
} as const;

const names = new Map<number, string>(Object.entries(Type).map(([name, type]) => [type, name]));

/** `Int32`, `Decimal128`, `Object`, …; `Unknown` for a type byte that BSON does not define. */
export function typeName(value: BsonValue): string {
  return names.get(value[0] ?? 0) ?? 'Unknown';
}

/** A value of `type` with this payload; copies. */
export function valueOf(type: number, payload: Uint8Array): BsonValue {
  const value = new Uint8Array(payload.length + 1);
  value[0] = type;
  value.set(payload, 1);
  return value;
}

/** A whole document as a value; copies. */
export function documentValue(bytes: Uint8Array): BsonValue {
  return valueOf(Type.Object, bytes);
}

/** The document's bytes inside a value, not copied. Throws where the value is no object. */
export function documentBytes(value: BsonValue): Uint8Array {
  if (value[0] !== Type.Object) throw new TypeError(`expected a document, got ${typeName(value)}`);
  return value.subarray(1);
}

const utf8 = new TextEncoder();

/** A String value. */
export function stringValue(text: string): BsonValue {
  const bytes = utf8.encode(text);
  const value = new Uint8Array(bytes.length + 6);
  value[0] = Type.String;
  new DataView(value.buffer).setInt32(1, bytes.length + 1, true);
  value.set(bytes, 5);
  return value;
}

/** Absent on both sides counts as the same. */
export function sameBytes(a?: Uint8Array, b?: Uint8Array): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return sameRange(a, 0, b, 0, a.length);
}

/** Whether `length` bytes of `a` from `aStart` are those of `b` from `bStart`. Bounds are the caller's. */
export function sameRange(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  if (length > 256 && NodeBuffer !== undefined) {
    return NodeBuffer.compare(a.subarray(aStart, aStart + length), b.subarray(bStart, bStart + length)) === 0;
  }
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

/** Present in Node, absent in a browser. */
const NodeBuffer = (
  globalThis as {
    Buffer?: {
      from(text: string, encoding: 'base64'): Uint8Array;
      from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string };
      compare(a: Uint8Array, b: Uint8Array): number;
    };
  }
).Buffer;

/** The native codec of newer engines (Chromium 140, Node 25). */
const Native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };

export function toBase64(value: Uint8Array): string {
  if (NodeBuffer !== undefined) return NodeBuffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  const native = value as unknown as { toBase64?: () => string };
  if (native.toBase64 !== undefined) return native.toBase64();
  let binary = '';
  // A call takes a bounded number of arguments.
  for (let i = 0; i < value.length; i += 0x2000) binary += String.fromCharCode(...value.subarray(i, i + 0x2000));
  return btoa(binary);
}

/** Throws a `SyntaxError` where the text is no padded base64. */
export function fromBase64(text: string): BsonValue {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new SyntaxError('not base64');
  if (NodeBuffer !== undefined) {
    const bytes = NodeBuffer.from(text, 'base64');
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  if (Native.fromBase64 !== undefined) return Native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
