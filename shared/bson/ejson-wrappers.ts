/** The wrappers of Extended JSON, v2 and v1: objects whose first key says that they stand for another type. */
import type { ByteWriter } from './byte-writer.ts';
import { decimalBytes } from './decimal.ts';
import { isoMillis } from './iso-date.ts';
import type { JsonCursor } from './json-cursor.ts';
import { fromBase64, Type } from './value.ts';
import { elements, payloadEnd } from './walk.ts';

interface WrapperSource {
  /** Behind the first key's colon. */
  readonly cursor: JsonCursor;
  readonly out: ByteWriter;
  /** Where the first key stands, for messages. */
  readonly nameAt: number;
  /** Writes the object at the cursor as a document. */
  readonly document: () => void;
}

/** Writes the payload and gives the type, the cursor before the closing brace; undefined where it is a plain object. */
type Wrapper = (source: WrapperSource) => number | undefined;

const utf8 = new TextEncoder();
const quote = 0x22;
const brace = 0x7b;
const comma = 0x2c;

export const wrappers: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    '$oid',
    (source) => {
      putObjectId(source);
      return Type.ObjectId;
    },
  ],
  [
    '$numberInt',
    (source) => {
      source.out.int32(Number(wholeNumber(source, '$numberInt', -(2n ** 31n), 2n ** 31n - 1n)));
      return Type.Int32;
    },
  ],
  [
    '$numberLong',
    (source) => {
      source.out.bigInt64(wholeNumber(source, '$numberLong', -(2n ** 63n), 2n ** 63n - 1n));
      return Type.Int64;
    },
  ],
  ['$numberDouble', numberDouble],
  [
    '$numberDecimal',
    ({ cursor, out, nameAt }) => {
      const text = cursor.string('a number in double quotes');
      const bytes = decimalBytes(text);
      if (bytes === undefined) throw cursor.error(`$numberDecimal cannot hold ${text} exactly.`, nameAt);
      out.put(bytes);
      return Type.Decimal128;
    },
  ],
  ['$date', date],
  ['$timestamp', timestamp],
  ['$binary', binary],
  ['$type', binaryTypeFirst],
  [
    '$uuid',
    ({ cursor, out, nameAt }) => {
      const text = cursor.string('a UUID in double quotes');
      if (!/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)) {
        throw cursor.error(
          '$uuid needs 32 hexadecimal digits, such as "00112233-4455-6677-8899-aabbccddeeff".',
          nameAt,
        );
      }
      putBinary(out, 4, fromHex(text.replaceAll('-', '')));
      return Type.Binary;
    },
  ],
  ['$regularExpression', regularExpression],
  ['$regex', (source) => legacyRegex(source, '$options')],
  ['$options', (source) => legacyRegex(source, '$regex')],
  ['$code', code],
  [
    '$symbol',
    (source) => {
      putString(source, source.cursor.string('a text in double quotes'));
      return Type.Symbol;
    },
  ],
  ['$dbPointer', dbPointer],
  [
    '$undefined',
    ({ cursor }) => {
      if (cursor.peek() !== 0x74 || !cursor.text.startsWith('true', cursor.pos)) cursor.failExpected('true');
      cursor.pos += 4;
      return Type.Undefined;
    },
  ],
  ['$minKey', (source) => one(source, Type.MinKey)],
  ['$maxKey', (source) => one(source, Type.MaxKey)],
  ['$raw', raw],
]);

function putObjectId({ cursor, out, nameAt }: Pick<WrapperSource, 'cursor' | 'out' | 'nameAt'>): void {
  const text = cursor.string('24 hexadecimal digits in double quotes');
  if (!/^[0-9a-f]{24}$/i.test(text)) throw cursor.error('$oid needs 24 hexadecimal digits.', nameAt);
  out.put(fromHex(text));
}

function wholeNumber({ cursor, nameAt }: WrapperSource, key: string, least: bigint, most: bigint): bigint {
  const text = cursor.string('a number in double quotes');
  if (!/^[+-]?\d{1,40}$/.test(text)) throw cursor.error(`${key} needs a whole number in double quotes.`, nameAt);
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value < least || value > most) throw cursor.error(`${text} is out of the range of ${key}.`, nameAt);
  return value;
}

function numberDouble({ cursor, out, nameAt }: WrapperSource): number {
  const text = cursor.string('a number in double quotes');
  const special = text === 'NaN' || text === 'Infinity' || text === '-Infinity';
  const value = Number(text);
  if (!special && !(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) && Number.isFinite(value))) {
    throw cursor.error(`$numberDouble cannot hold ${text}.`, nameAt);
  }
  out.double(value);
  return Type.Double;
}

/** ISO text, `{"$numberLong": "…"}`, or (v1) a number of milliseconds. */
function date(source: WrapperSource): number {
  const { cursor, out, nameAt } = source;
  const next = cursor.peek();
  if (next === quote) {
    const text = cursor.string('a date');
    const millis = isoMillis(text);
    if (millis === undefined) {
      throw cursor.error(`$date cannot hold ${text} exactly; write it as "2024-01-31T12:00:00.000Z".`, nameAt);
    }
    out.int64(millis);
  } else if (next === brace) {
    cursor.pos++;
    if (cursor.string('"$numberLong"') !== '$numberLong')
      throw cursor.error('$date needs a text or {"$numberLong": "…"}.', nameAt);
    cursor.take(0x3a, 'a colon');
    out.bigInt64(wholeNumber(source, '$numberLong', -(2n ** 63n), 2n ** 63n - 1n));
    cursor.take(0x7d, 'the end of the object');
  } else {
    out.bigInt64(plainInteger(cursor, '$date', -(2n ** 63n), 2n ** 63n - 1n));
  }
  return Type.Date;
}

function timestamp({ cursor, out, nameAt }: WrapperSource): number {
  cursor.take(brace, 'an object with t and i');
  const parts = new Map<string, number>();
  do {
    const name = cursor.string('"t" or "i"');
    cursor.take(0x3a, 'a colon');
    cursor.peek();
    parts.set(name, Number(plainInteger(cursor, '$timestamp', 0n, 2n ** 32n - 1n)));
  } while (another(cursor));
  cursor.take(0x7d, 'the end of the object');
  const [t, i] = [parts.get('t'), parts.get('i')];
  if (t === undefined || i === undefined || parts.size !== 2)
    throw cursor.error('$timestamp needs t and i, no more.', nameAt);
  out.int32(i);
  out.int32(t);
  return Type.Timestamp;
}

function plainInteger(cursor: JsonCursor, key: string, least: bigint, most: bigint): bigint {
  const at = cursor.pos;
  const code = cursor.peek();
  if (code !== 0x2d && !(code >= 0x30 && code <= 0x39)) cursor.failExpected('a whole number');
  const { text, whole } = cursor.number();
  if (!whole) throw cursor.error(`${key} needs a whole number.`, at);
  const value = BigInt(text);
  if (value < least || value > most) throw cursor.error(`${text} is out of the range of ${key}.`, at);
  return value;
}

/** v2: `{"base64", "subType"}`; v1: the base64 text followed by `$type`. */
function binary(source: WrapperSource): number {
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
function binaryTypeFirst(source: WrapperSource): number | undefined {
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

function base64Of({ cursor, nameAt }: WrapperSource, text: string): Uint8Array {
  try {
    return fromBase64(text.padEnd(Math.ceil(text.length / 4) * 4, '='));
  } catch {
    throw cursor.error('A binary value is no valid base64.', nameAt);
  }
}

function putBinary(out: ByteWriter, subType: number, bytes: Uint8Array): void {
  // The old generic subtype repeats the length inside.
  out.int32(bytes.length + (subType === 2 ? 4 : 0));
  out.byte(subType);
  if (subType === 2) out.int32(bytes.length);
  out.put(bytes);
}

function regularExpression(source: WrapperSource): number {
  const parts = strings(source, ['pattern', 'options'], '$regularExpression needs pattern and options, no more.');
  putRegex(source, parts[0], parts[1]);
  return Type.Regex;
}

/** Version 1; anything but two texts is a query that happens to be data. */
function legacyRegex(source: WrapperSource, other: '$regex' | '$options'): number | undefined {
  const { cursor } = source;
  if (cursor.peek() !== quote) return undefined;
  const first = cursor.string('a text');
  if (!another(cursor) || cursor.peek() !== quote || cursor.string('a name') !== other) return undefined;
  cursor.take(0x3a, 'a colon');
  if (cursor.peek() !== quote) return undefined;
  const second = cursor.string('a text');
  if (cursor.peek() !== 0x7d) return undefined;
  if (other === '$options') putRegex(source, first, second);
  else putRegex(source, second, first);
  return Type.Regex;
}

function putRegex({ cursor, out, nameAt }: WrapperSource, pattern: string, options: string): void {
  if (pattern.includes('\0') || options.includes('\0'))
    throw cursor.error('A regular expression cannot hold a NUL.', nameAt);
  out.put(encode(cursor, nameAt, pattern));
  out.byte(0);
  out.put(encode(cursor, nameAt, options));
  out.byte(0);
}

function code(source: WrapperSource): number {
  const { cursor, out, document, nameAt } = source;
  const start = out.at;
  const text = cursor.string('a text in double quotes');
  if (!another(cursor)) {
    putString(source, text);
    return Type.Code;
  }
  if (cursor.string('"$scope"') !== '$scope') throw cursor.error('$code takes nothing but a $scope beside it.', nameAt);
  cursor.take(0x3a, 'a colon');
  out.int32(0);
  putString(source, text);
  document();
  out.setInt32(start, out.at - start);
  return Type.CodeWScope;
}

function dbPointer({ cursor, out, nameAt }: WrapperSource): number {
  cursor.take(brace, 'an object with $ref and $id');
  if (cursor.string('"$ref"') !== '$ref') throw cursor.error('$dbPointer needs $ref and $id.', nameAt);
  cursor.take(0x3a, 'a colon');
  putString({ cursor, out, nameAt }, cursor.string('a namespace'));
  cursor.take(comma, 'a comma and "$id"');
  if (cursor.string('"$id"') !== '$id') throw cursor.error('$dbPointer needs $ref and $id.', nameAt);
  cursor.take(0x3a, 'a colon');
  cursor.take(brace, '{"$oid": "…"}');
  if (cursor.string('"$oid"') !== '$oid') throw cursor.error('The $id of a $dbPointer is {"$oid": "…"}.', nameAt);
  cursor.take(0x3a, 'a colon');
  putObjectId({ cursor, out, nameAt });
  cursor.take(0x7d, 'the end of the object');
  cursor.take(0x7d, 'the end of the object');
  return Type.DBPointer;
}

function one({ cursor }: WrapperSource, type: number): number {
  if (cursor.peek() !== 0x31) cursor.failExpected('1');
  cursor.number();
  return type;
}

/** Exact bytes, as this project writes what Extended JSON has no form for; their frame is checked. */
function raw(source: WrapperSource): number {
  const { cursor, out, nameAt } = source;
  const value = base64Of(source, cursor.string('base64'));
  const type = value[0];
  try {
    if (type === undefined || payloadEnd(value, type, 1, value.length) !== value.length) throw new Error('length');
    if (type === Type.Object || type === Type.Array) elements(value.subarray(1));
  } catch {
    throw cursor.error('$raw holds no complete BSON value.', nameAt);
  }
  out.put(value.subarray(1));
  return type;
}

/** The texts under these names, in any order and no others. */
function strings<const N extends readonly [string, string]>(
  { cursor, nameAt }: WrapperSource,
  names: N,
  message: string,
): [string, string] {
  cursor.take(brace, 'an object');
  const found = new Map<string, string>();
  do {
    const name = cursor.string('a name');
    cursor.take(0x3a, 'a colon');
    found.set(name, cursor.string('a text in double quotes'));
  } while (another(cursor));
  cursor.take(0x7d, 'the end of the object');
  const [a, b] = [found.get(names[0]), found.get(names[1])];
  if (a === undefined || b === undefined || found.size !== 2) throw cursor.error(message, nameAt);
  return [a, b];
}

/** Takes a comma, if one comes next. */
function another(cursor: JsonCursor): boolean {
  if (cursor.peek() !== comma) return false;
  cursor.pos++;
  return true;
}

function putString({ cursor, out, nameAt }: Pick<WrapperSource, 'cursor' | 'out' | 'nameAt'>, text: string): void {
  const bytes = encode(cursor, nameAt, text);
  out.int32(bytes.length + 1);
  out.put(bytes);
  out.byte(0);
}

function encode(cursor: JsonCursor, nameAt: number, text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text))
    throw cursor.error('Half a surrogate pair stands alone; it cannot be stored.', nameAt);
  return utf8.encode(text);
}

function fromHex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(digits.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}
