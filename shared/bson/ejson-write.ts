/** Canonical Extended JSON v2, straight from bytes. */
import { decimalText } from './decimal.ts';
import { decodeExact } from './text.ts';
import { elementsOf, type ElementSlice, payloadEnd, type Slice, sliceValue, valueSlice } from './walk.ts';
import { type BsonValue, toBase64, Type } from './value.ts';

/**
 * The canonical Extended JSON of a value, keys in the order of its bytes. What that notation cannot carry exactly is
 * `{"$raw": "<base64 of type byte and payload>"}` at the smallest value around it: duplicate names, invalid UTF-8, an
 * object that would be read as a wrapper (a real field `$oid`), a NaN with a payload. Throws where the bytes are malformed.
 */
export function toEjson(value: BsonValue): string {
  return write(valueSlice(value), 0);
}

/** Keys that make an object a wrapper wherever they stand. */
export const wrapperKeys: ReadonlySet<string> = new Set([
  '$oid',
  '$symbol',
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$binary',
  '$uuid',
  '$code',
  '$timestamp',
  '$regularExpression',
  '$dbPointer',
  '$date',
  '$undefined',
  '$minKey',
  '$maxKey',
  '$raw',
]);

/** Deeper values are written raw: servers nest at most 180 levels, and readers of JSON recurse. */
const deepest = 200;

function write(slice: Slice, depth: number): string {
  return known(slice, depth) ?? `{"$raw":"${toBase64(sliceValue(slice))}"}`;
}

/** Undefined where Extended JSON has no exact form. */
function known(slice: Slice, depth: number): string | undefined {
  const { bytes, type, start, end } = slice;
  switch (type) {
    case Type.Double:
      return doubleText(view(slice));
    case Type.String:
      return quoted(bytes, start + 4, end - 1);
    case Type.Object:
      return depth < deepest ? objectText(slice, depth) : undefined;
    case Type.Array:
      return depth < deepest ? arrayText(slice, depth) : undefined;
    case Type.Binary:
      return binaryText(slice);
    case Type.Undefined:
      return '{"$undefined":true}';
    case Type.ObjectId:
      return `{"$oid":"${hex(bytes, start, end)}"}`;
    case Type.Boolean:
      return bytes[start] === 1 ? 'true' : bytes[start] === 0 ? 'false' : undefined;
    case Type.Date:
      return `{"$date":{"$numberLong":"${int64Text(slice)}"}}`;
    case Type.Null:
      return 'null';
    case Type.Regex: {
      const middle = bytes.indexOf(0, start);
      const pattern = quoted(bytes, start, middle);
      const options = quoted(bytes, middle + 1, end - 1);
      if (pattern === undefined || options === undefined) return undefined;
      return `{"$regularExpression":{"pattern":${pattern},"options":${options}}}`;
    }
    case Type.DBPointer: {
      const namespace = quoted(bytes, start + 4, end - 13);
      return namespace && `{"$dbPointer":{"$ref":${namespace},"$id":{"$oid":"${hex(bytes, end - 12, end)}"}}}`;
    }
    case Type.Code: {
      const code = quoted(bytes, start + 4, end - 1);
      return code && `{"$code":${code}}`;
    }
    case Type.Symbol: {
      const symbol = quoted(bytes, start + 4, end - 1);
      return symbol && `{"$symbol":${symbol}}`;
    }
    case Type.CodeWScope:
      return depth < deepest ? codeWithScopeText(slice, depth) : undefined;
    case Type.Int32:
      return `{"$numberInt":"${view(slice).getInt32(0, true)}"}`;
    case Type.Timestamp: {
      const at = view(slice);
      return `{"$timestamp":{"t":${at.getUint32(4, true)},"i":${at.getUint32(0, true)}}}`;
    }
    case Type.Int64:
      return `{"$numberLong":"${int64Text(slice)}"}`;
    case Type.Decimal128: {
      const text = decimalText(bytes, start);
      return text && `{"$numberDecimal":"${text}"}`;
    }
    case Type.MinKey:
      return '{"$minKey":1}';
    case Type.MaxKey:
      return '{"$maxKey":1}';
    default:
      return undefined;
  }
}

function objectText(slice: Slice, depth: number): string | undefined {
  const parts = elementsOf(slice);
  const seen = new Set<string>();
  let text = '{';
  for (const part of parts) {
    const name = decodeExact(part.bytes, part.nameStart, part.start - 1);
    if (name === undefined || seen.has(name) || wrapperKeys.has(name)) return undefined;
    seen.add(name);
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(name)}:${write(part, depth + 1)}`;
  }
  return isLegacyRegex(parts, seen) ? undefined : text + '}';
}

/** `{"$regex": "…", "$options": "…"}` is how version 1 wrote a regular expression. */
function isLegacyRegex(parts: ElementSlice[], names: Set<string>): boolean {
  return (
    parts.length === 2 &&
    names.has('$regex') &&
    names.has('$options') &&
    parts.every((part) => part.type === Type.String)
  );
}

function arrayText(slice: Slice, depth: number): string | undefined {
  let text = '[';
  let index = 0;
  for (const part of elementsOf(slice)) {
    // Written back, the names would be the indexes.
    if (part.name !== String(index)) return undefined;
    if (index++ > 0) text += ',';
    text += write(part, depth + 1);
  }
  return text + ']';
}

function codeWithScopeText(slice: Slice, depth: number): string | undefined {
  const { bytes, start, end } = slice;
  const scopeStart = payloadEnd(bytes, Type.String, start + 4, end);
  const code = quoted(bytes, start + 8, scopeStart - 1);
  const scope = known({ bytes, type: Type.Object, start: scopeStart, end }, depth + 1);
  return code && scope && `{"$code":${code},"$scope":${scope}}`;
}

function doubleText(at: DataView): string | undefined {
  const value = at.getFloat64(0, true);
  if (Number.isNaN(value)) {
    // Only the ordinary NaN can be read back; others differ in sign or payload.
    return at.getUint32(4, true) === 0x7ff80000 && at.getUint32(0, true) === 0 ? '{"$numberDouble":"NaN"}' : undefined;
  }
  if (Object.is(value, -0)) return '{"$numberDouble":"-0.0"}';
  return `{"$numberDouble":"${Number.isInteger(value) ? value.toFixed(1) : value.toString()}"}`;
}

function binaryText({ bytes, start, end }: Slice): string | undefined {
  const subType = bytes[start + 4]!;
  let from = start + 5;
  if (subType === 2) {
    // The old generic subtype repeats the length inside; its Extended JSON leaves that out.
    if (end - from < 4 || new DataView(bytes.buffer, bytes.byteOffset + from, 4).getInt32(0, true) !== end - from - 4) {
      return undefined;
    }
    from += 4;
  }
  return `{"$binary":{"base64":"${toBase64(bytes.subarray(from, end))}","subType":"${byteHex[subType]!}"}}`;
}

/** Exact decimal text of the 64-bit integer at the start of the payload. */
export function int64Text(slice: Slice): string {
  const at = view(slice);
  const near = at.getInt32(4, true) * 0x1_0000_0000 + at.getUint32(0, true);
  return Number.isSafeInteger(near) ? String(near) : at.getBigInt64(0, true).toString();
}

const byteHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function hex(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at++) text += byteHex[bytes[at]!]!;
  return text;
}

function quoted(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeExact(bytes, start, end);
  return text === undefined ? undefined : JSON.stringify(text);
}

function view({ bytes, start, end }: Slice): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
}
