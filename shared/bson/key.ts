/**
 * Keys under which values stand together exactly when the server's `_id` index (simple collation) holds them equal:
 * numbers by value whatever their type, embedded documents and arrays element by element, a Symbol like a String,
 * everything else by type and bytes.
 */
import { decimalParts } from './decimal.ts';
import { elementsOf, payloadEnd, type Slice, valueSlice } from './walk.ts';
import { type BsonValue, Type } from './value.ts';

/** Equal bytes for values that the `_id` index holds equal. Throws where an embedded document is malformed. */
export function keyOf(value: BsonValue): Uint8Array {
  const text = keyText(value);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** {@link keyOf} as a string of one character per byte, for use in a Map. */
export function keyText(value: BsonValue): string {
  return sliceKey(valueSlice(value), 0);
}

/** {@link keyText} of a value in place. */
export function sliceKeyText(slice: Slice): string {
  return sliceKey(slice, 0);
}

// Tags of numbers; no BSON type has these bytes. Every form ends by itself, so that parts can stand in a row.
const numberTag = 'd';
const longNumberTag = 'e';
/** Deeper than any server lets a document nest (180 levels); what lies below is told apart by its bytes. */
const deepest = 250;

function sliceKey(slice: Slice, depth: number): string {
  const { bytes, type, start } = slice;
  switch (type) {
    case Type.Double:
      return doubleKey(view(slice).getFloat64(0, true));
    case Type.Int32:
      return doubleKey(view(slice).getInt32(0, true));
    case Type.Int64:
      return integerKey(view(slice).getBigInt64(0, true));
    case Type.Decimal128:
      return decimalKey(bytes, start);
    case Type.Symbol:
      return String.fromCharCode(Type.String) + latin1(slice);
    case Type.Object:
    case Type.Array:
      if (depth < deepest) return nestedKey(slice, depth);
      return String.fromCharCode(type) + latin1(slice);
    case Type.CodeWScope:
      return depth < deepest ? scopedCodeKey(slice, depth) : String.fromCharCode(type) + latin1(slice);
    default:
      return String.fromCharCode(type) + latin1(slice);
  }
}

/** The scope counts as an embedded document does. */
function scopedCodeKey({ bytes, type, start, end }: Slice, depth: number): string {
  const scopeStart = payloadEnd(bytes, Type.String, start + 4, end);
  const code = latin1({ bytes, type, start: start + 4, end: scopeStart });
  return String.fromCharCode(type) + code + nestedKey({ bytes, type: Type.Object, start: scopeStart, end }, depth);
}

function nestedKey(slice: Slice, depth: number): string {
  let key = String.fromCharCode(slice.type);
  for (const element of elementsOf(slice)) {
    key += '\x01';
    if (slice.type === Type.Object) {
      key += latin1({ bytes: element.bytes, type: 0, start: element.nameStart, end: element.start });
    }
    key += sliceKey(element, depth + 1);
  }
  return key + '\0';
}

const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

function doubleKey(value: number): string {
  if (Number.isNaN(value)) return `${numberTag}NaN-----`;
  scratch.setFloat64(0, value === 0 ? 0 : value);
  return numberTag + String.fromCharCode(...scratchBytes);
}

function integerKey(value: bigint): string {
  const near = Number(value);
  return BigInt(near) === value ? doubleKey(near) : longKey(value, 0);
}

function decimalKey(bytes: Uint8Array, start: number): string {
  const parts = decimalParts(bytes, start);
  if (parts.kind === 'nan') return doubleKey(NaN);
  if (parts.kind === 'infinity') return doubleKey(parts.negative ? -Infinity : Infinity);
  if (parts.coefficient === 0n) return doubleKey(0);
  const value = parts.negative ? -parts.coefficient : parts.coefficient;
  const near = Number(`${value}e${parts.exponent}`);
  return equalsDouble(value, parts.exponent, near) ? doubleKey(near) : longKey(value, parts.exponent);
}

/** A number that no double holds: its shortest decimal form. */
function longKey(value: bigint, exponent: number): string {
  let digits = value.toString();
  let shift = exponent;
  while (digits.endsWith('0')) {
    digits = digits.slice(0, -1);
    shift++;
  }
  return `${longNumberTag}${digits}e${shift}\0`;
}

/** Whether `value × 10^exponent` is exactly `near`. */
function equalsDouble(value: bigint, exponent: number, near: number): boolean {
  if (near === 0 || !Number.isFinite(near)) return false;
  scratch.setFloat64(0, near);
  const bits = scratch.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const power = (biased === 0 ? 1 : biased) - 1075;
  let left = value;
  let right = near < 0 ? -mantissa : mantissa;
  if (exponent >= 0) left *= 10n ** BigInt(exponent);
  else right *= 10n ** BigInt(-exponent);
  if (power >= 0) right <<= BigInt(power);
  else left <<= BigInt(-power);
  return left === right;
}

function view({ bytes, start, end }: Slice): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
}

function latin1({ bytes, start, end }: Slice): string {
  let text = '';
  // A call takes a bounded number of arguments.
  for (let at = start; at < end; at += 0x2000) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(end, at + 0x2000)));
  }
  return text;
}
