/** The wrappers of Extended JSON, v2 and v1: objects whose first key says that they stand for another type. */
import { binary, binaryTypeFirst, uuid } from './ejson-binary.ts';
import {
  another,
  base64Of,
  brace,
  comma,
  encode,
  fromHex,
  putString,
  quote,
  strings,
  type Wrapper,
  type WrapperSource,
} from './ejson-wrapper-parts.ts';
import { decimalBytes } from './decimal.ts';
import { isoMillis } from './iso-date.ts';
import type { JsonCursor } from './json-cursor.ts';
import { Type } from './value.ts';
import { elements, payloadEnd } from './walk.ts';

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
  ['$uuid', uuid],
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
      cursor.peek();
      if (!cursor.text.startsWith('true', cursor.pos)) {
        // A text that was cut inside the word goes on with the next piece.
        if ('true'.startsWith(cursor.text.slice(cursor.pos))) cursor.failUnfinished();
        cursor.failExpected('true');
      }
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
