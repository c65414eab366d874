/** Arbitrary BSON for property tests: every type, nasty names, duplicates, invalid UTF-8, nesting. */
import * as fc from 'fast-check';
import { buildArray, buildDocument, type Element } from './walk.ts';
import { decimalBytes } from './decimal.ts';
import { type BsonValue, documentBytes, documentValue, stringValue, Type, valueOf } from './value.ts';

type Part = Pick<Element, 'nameBytes' | 'value'>;
const utf8 = new TextEncoder();

const plainNames = ['a', 'b', 'c', '_id', 'id', 'x', 'y', '0', '1', 'a.b', 'é', 'field'];
const nastyNames = ['', '$', '$id', '$set', '$oid', '$date', '$raw', '$regex', '$options', '$binary', '$type', '$code'];
const cursedNames = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\ufeffbom',
  '\ufffd',
  '😀',
  'a b',
  '"',
  '\\',
];

/** Names that are UTF-8 and no wrapper of Extended JSON. */
const ordinaryName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...plainNames) },
  { weight: 1, arbitrary: fc.constantFrom(...cursedNames.filter((name) => name !== '__proto__')) },
);

/** A field's name: ordinary, nasty, or no UTF-8 at all. */
export const anyNameBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(...plainNames, ...nastyNames, ...cursedNames).map((name) => utf8.encode(name)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ min: 1, maxLength: 6 }) },
);

const doubles = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5, 1e21, 1e-7, 2 ** 53, 2 ** 63, 0.1, Number.MIN_VALUE),
);
const longs = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(5n, 0n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n),
);
const decimals = fc
  .oneof(
    fc.constantFrom('0', '-0', '5', '5.0', '129.00', '1E+6111', '9.999E-6170', 'NaN', 'Infinity', '-Infinity', '0E-10'),
    fc
      .tuple(fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }), fc.integer({ min: -6176, max: 6111 }))
      .map(([coefficient, exponent]) => `${coefficient}E${exponent}`),
    fc.tuple(fc.integer(), fc.integer({ min: -4, max: 4 })).map(([digits, exponent]) => `${digits}E${exponent}`),
  )
  .map((text) => decimalBytes(text)!);

function packed(type: number, length: number, put: (view: DataView) => void): BsonValue {
  const value = new Uint8Array(length + 1);
  value[0] = type;
  put(new DataView(value.buffer, 1));
  return value;
}

export function doubleValue(value: number): BsonValue {
  return packed(Type.Double, 8, (view) => view.setFloat64(0, value, true));
}

export function int32Value(value: number): BsonValue {
  return packed(Type.Int32, 4, (view) => view.setInt32(0, value, true));
}

export function int64Value(value: bigint, type: number = Type.Int64): BsonValue {
  return packed(type, 8, (view) => view.setBigInt64(0, value, true));
}

export function decimalValue(text: string): BsonValue {
  return valueOf(Type.Decimal128, decimalBytes(text)!);
}

function textPayload(bytes: Uint8Array): Uint8Array {
  const payload = new Uint8Array(bytes.length + 5);
  new DataView(payload.buffer).setInt32(0, bytes.length + 1, true);
  payload.set(bytes, 4);
  return payload;
}

function joined(...parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function framed(...parts: Uint8Array[]): Uint8Array {
  const bytes = joined(new Uint8Array(4), ...parts);
  new DataView(bytes.buffer).setInt32(0, bytes.length, true);
  return bytes;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', 'a\0b', '} {', '\ufeffx', '😀'),
);
const textBytes = text.map((value) => utf8.encode(value));
const cstring = text.map((value) => utf8.encode(value.replaceAll('\0', '')));
const regex = fc
  .tuple(cstring, fc.constantFrom('', 'i', 'imx'))
  .map(([pattern, options]) =>
    valueOf(Type.Regex, joined(pattern, Uint8Array.of(0), utf8.encode(options), Uint8Array.of(0))),
  );

function binaryValue([subType, bytes]: [number, Uint8Array]): BsonValue {
  const inner = subType === 2 ? joined(new Uint8Array(Int32Array.of(bytes.length).buffer), bytes) : bytes;
  const length = new Uint8Array(Int32Array.of(inner.length).buffer);
  return valueOf(Type.Binary, joined(length, Uint8Array.of(subType), inner));
}

/** Values that every reader of BSON and Extended JSON agrees on. */
const ordinaryLeaf: fc.Arbitrary<BsonValue> = fc.oneof(
  doubles.map(doubleValue),
  text.map(stringValue),
  fc.tuple(fc.constantFrom(0, 2, 3, 4, 5, 6, 128), fc.uint8Array({ minLength: 16, maxLength: 16 })).map(binaryValue),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => valueOf(Type.ObjectId, bytes)),
  fc.boolean().map((yes) => Uint8Array.of(Type.Boolean, yes ? 1 : 0)),
  fc.integer({ min: -8e12, max: 8e14 }).map((millis) => int64Value(BigInt(millis), Type.Date)),
  fc.constantFrom(Type.Null, Type.MinKey, Type.MaxKey).map((type) => Uint8Array.of(type)),
  regex,
  textBytes.map((bytes) => valueOf(Type.Code, textPayload(bytes))),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(int32Value),
  fc.constantFrom(0, 5, 42).map(int32Value),
  longs.map((value) => int64Value(value, Type.Timestamp)),
  longs.map((value) => int64Value(value)),
  decimals.map((bytes) => valueOf(Type.Decimal128, bytes)),
);

const rawText = fc.oneof(textBytes, fc.uint8Array({ maxLength: 6 }));

/** What only the bytes can carry: deprecated types, invalid UTF-8, payloads that text has no form for. */
const oddLeaf: fc.Arbitrary<BsonValue> = fc.oneof(
  rawText.map((bytes) => valueOf(Type.String, textPayload(bytes))),
  rawText.map((bytes) => valueOf(Type.Symbol, textPayload(bytes))),
  fc.constant(Uint8Array.of(Type.Undefined)),
  fc
    .tuple(rawText, fc.uint8Array({ minLength: 12, maxLength: 12 }))
    .map(([name, id]) => valueOf(Type.DBPointer, joined(textPayload(name), id))),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => valueOf(Type.Decimal128, bytes)),
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => valueOf(Type.Double, bytes)),
  fc
    .tuple(fc.nat(255), fc.uint8Array({ maxLength: 8 }))
    .map(([subType, bytes]) =>
      valueOf(Type.Binary, joined(new Uint8Array(Int32Array.of(bytes.length).buffer), Uint8Array.of(subType), bytes)),
    ),
  longs.map((value) => int64Value(value, Type.Date)),
  fc.nat(255).map((byte) => Uint8Array.of(Type.Boolean, byte)),
);

const { ordinary, anything, parts } = fc.letrec<{ ordinary: BsonValue; anything: BsonValue; parts: Part[] }>((tie) => ({
  ordinary: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: ordinaryLeaf },
    {
      weight: 1,
      arbitrary: fc.array(tie('ordinary'), { maxLength: 4 }).map((values) => valueOf(Type.Array, buildArray(values))),
    },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.tuple(ordinaryName, tie('ordinary')), { maxLength: 5, selector: ([name]) => name })
        .map((fields) => documentOf(fields.map(([name, value]) => ({ nameBytes: utf8.encode(name), value })))),
    },
  ),
  anything: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: ordinaryLeaf },
    { weight: 2, arbitrary: oddLeaf },
    {
      weight: 1,
      arbitrary: fc.array(tie('anything'), { maxLength: 4 }).map((values) => valueOf(Type.Array, buildArray(values))),
    },
    { weight: 2, arbitrary: tie('parts').map(documentOf) },
    { weight: 1, arbitrary: tie('parts').map((fields) => valueOf(Type.Array, buildDocument(fields))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(rawText, tie('parts'))
        .map(([code, scope]) => valueOf(Type.CodeWScope, framed(textPayload(code), buildDocument(scope)))),
    },
  ),
  parts: fc.array(fc.record({ nameBytes: anyNameBytes, value: tie('anything') }), { maxLength: 5 }),
}));

function documentOf(fields: readonly Part[]): BsonValue {
  return documentValue(buildDocument(fields));
}

/** Any value that BSON can hold. */
export const anyValue: fc.Arbitrary<BsonValue> = anything;
/** Any document that BSON can hold. */
export const anyDocument: fc.Arbitrary<Uint8Array> = parts.map((fields) => buildDocument(fields));
/** A document without duplicate names, deprecated types, invalid UTF-8 or wrapper keys. */
export const ordinaryDocument: fc.Arbitrary<Uint8Array> = ordinary
  .filter((value) => value[0] === Type.Object)
  .map(documentBytes);
