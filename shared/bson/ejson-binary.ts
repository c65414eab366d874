/** Binary values in Extended JSON. */
import type { ByteWriter } from './byte-writer.ts';
import { another, base64Of, comma, fromHex, quote, strings, type WrapperSource } from './ejson-wrapper-parts.ts';
import type { JsonCursor } from './json-cursor.ts';
import { Type } from './value.ts';

/** v2: `{"base64", "subType"}`; v1: the base64 text followed by `$type`. */
export function binary(source: WrapperSource): number {
  const { cursor, out, nameAt } = source;
  if (cursor.peek() === quote) {
    const text = cursor.string('base64');
    cursor.take(comma, 'a comma and "$type"');
    if (cursor.string('"$type"') !== '$type') throw cursor.error('$binary needs a $type beside it.', nameAt);
    cursor.take(0x3a, 'a colon');
    putBinary(out, subTypeOf(source, legacySubType(cursor)), base64Of(source, text));
    return Type.Binary;
  }
  const parts = strings(source, ['base64', 'subType'], '$binary needs base64 and subType, no more.');
  putBinary(out, subTypeOf(source, parts[1]), base64Of(source, parts[0]));
  return Type.Binary;
}

/** `$type` is also a query operator: only with `$binary` behind it is it a wrapper. */
export function binaryTypeFirst(source: WrapperSource): number | undefined {
  const { cursor, out } = source;
  const next = cursor.peek();
  if (next !== quote && !(next >= 0x30 && next <= 0x39)) return undefined;
  const subType = legacySubType(cursor);
  if (!another(cursor) || cursor.string('a name') !== '$binary') return undefined;
  cursor.take(0x3a, 'a colon');
  putBinary(out, subTypeOf(source, subType), base64Of(source, cursor.string('base64')));
  return Type.Binary;
}

function legacySubType(cursor: JsonCursor): string {
  return cursor.peek() === quote ? cursor.string('a subtype') : Number(cursor.number().text).toString(16);
}

function subTypeOf({ cursor, nameAt }: WrapperSource, text: string): number {
  // Version 1 of some drivers wrote the byte sign-extended, as in "ffffff80".
  const digits = /^(?:ffffff)?([0-9a-f]{1,2})$/i.exec(text)?.[1];
  if (digits === undefined) throw cursor.error('A binary subtype is one or two hexadecimal digits.', nameAt);
  return parseInt(digits, 16);
}

function putBinary(out: ByteWriter, subType: number, bytes: Uint8Array): void {
  // The old generic subtype repeats the length inside.
  out.int32(bytes.length + (subType === 2 ? 4 : 0));
  out.byte(subType);
  if (subType === 2) out.int32(bytes.length);
  out.put(bytes);
}

/** 32 hexadecimal digits, with or without dashes. */
export function uuid({ cursor, out, nameAt }: WrapperSource): number {
  const text = cursor.string('a UUID in double quotes');
  if (!/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)) {
    throw cursor.error('$uuid needs 32 hexadecimal digits, such as "00112233-4455-6677-8899-aabbccddeeff".', nameAt);
  }
  putBinary(out, 4, fromHex(text.replaceAll('-', '')));
  return Type.Binary;
}
