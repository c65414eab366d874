import { Decimal128 } from 'bson';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyValue, decimalValue, doubleValue, int32Value, int64Value } from './arbitrary.ts';
import { decimalBytes, decimalDigits, decimalParts, decimalText } from './decimal.ts';
import { parseEjson } from './ejson.ts';
import { keyOf, keyText } from './key.ts';
import { type BsonValue, documentValue, sameBytes, stringValue, Type, valueOf } from './value.ts';
import { buildArray, buildDocument, rawElement } from './walk.ts';

/** A number as an exact fraction, or a word for what is none. */
type Exact = string | { readonly top: bigint; readonly bottom: bigint };

function exact(value: BsonValue): Exact {
  const view = new DataView(value.buffer, value.byteOffset + 1);
  switch (value[0]) {
    case Type.Int32:
      return { top: BigInt(view.getInt32(0, true)), bottom: 1n };
    case Type.Int64:
      return { top: view.getBigInt64(0, true), bottom: 1n };
    case Type.Double: {
      let number = view.getFloat64(0, true);
      if (!Number.isFinite(number)) return String(number);
      let bottom = 1n;
      while (!Number.isInteger(number)) {
        number *= 2;
        bottom *= 2n;
      }
      return { top: BigInt(number), bottom };
    }
    default: {
      const parts = decimalParts(value, 1);
      if (parts.kind === 'nan') return 'NaN';
      if (parts.kind === 'infinity') return parts.negative ? '-Infinity' : 'Infinity';
      const top = parts.negative ? -parts.coefficient : parts.coefficient;
      return parts.exponent < 0
        ? { top, bottom: 10n ** BigInt(-parts.exponent) }
        : { top: top * 10n ** BigInt(parts.exponent), bottom: 1n };
    }
  }
}

function equal(a: Exact, b: Exact): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  return a.top * b.bottom === b.top * a.bottom;
}

const number = fc.oneof(
  fc
    .oneof(
      fc.double(),
      fc.integer({ min: -20, max: 20 }).map((n) => n / 4),
    )
    .map(doubleValue),
  fc.integer({ min: -20, max: 20 }).map(int32Value),
  fc.integer().map(int32Value),
  fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 5n, -5n, 0n).map((n) => int64Value(n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => int64Value(n)),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 2 ** 53, 2 ** 63, -(2 ** 63), 1e300, 0.1).map(doubleValue),
  fc
    .constantFrom(...['0', '-0', '0E+100', '5', '5.00', '500E-2', '-5', '2.5', '0.1', 'NaN', 'Infinity', '-Infinity'])
    .map(decimalValue),
  fc
    .constantFrom('9007199254740993', '9223372036854775807', '9223372036854775808', '1E+300', '1E-6176')
    .map(decimalValue),
  fc
    .tuple(fc.integer({ min: -80, max: 80 }), fc.integer({ min: -3, max: 3 }))
    .map(([n, e]) => decimalValue(`${n}E${e}`)),
);

describe('decimals', () => {
  const written = fc.oneof(
    fc.tuple(fc.integer(), fc.nat(999_999)).map(([whole, fraction]) => `${whole}.${fraction}`),
    fc.tuple(fc.nat(99), fc.nat(99)).map(([whole, fraction]) => `-${whole}.0${fraction}0`),
    fc.constantFrom('0', '-0', '0.00', '-0.000000', '999999999.999999', '1234567890', '00.5', '.5', '5.', '1E2'),
  );

  test('every text gives the bytes that the driver gives', () => {
    fc.assert(
      fc.property(written, (text) => {
        expect(sameBytes(decimalBytes(text), Decimal128.fromString(text).bytes)).toBe(true);
      }),
    );
  });

  test('plain digits are the same number', () => {
    fc.assert(
      fc.property(written, (text) => {
        const bytes = decimalBytes(text)!;
        expect(sameBytes(decimalBytes(decimalDigits(bytes, 0)), bytes) || text === '1E2').toBe(true);
        expect(sameBytes(decimalBytes(decimalText(bytes, 0)!), bytes)).toBe(true);
      }),
    );
  });
});

describe('keys of values', { timeout: 60_000 }, () => {
  test('two numbers have the same key exactly when they are the same number, whatever their types', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(sameBytes(keyOf(a), keyOf(b))).toBe(equal(exact(a), exact(b)));
      }),
      { numRuns: 3000 },
    );
  });

  test('BS-03: 64-bit integers next to each other stay apart', () => {
    expect(keyText(int64Value(2n ** 53n + 1n))).not.toBe(keyText(int64Value(2n ** 53n)));
    expect(keyText(int64Value(2n ** 53n + 1n))).not.toBe(keyText(doubleValue(2 ** 53)));
    expect(keyText(int64Value(2n ** 53n))).toBe(keyText(doubleValue(2 ** 53)));
    expect(keyText(int64Value(2n ** 53n + 1n))).toBe(keyText(decimalValue('9007199254740993')));
  });

  test('0.1 as a Double is not 0.1 as a Decimal128', () => {
    expect(keyText(doubleValue(0.1))).not.toBe(keyText(decimalValue('0.1')));
    expect(keyText(doubleValue(0.5))).toBe(keyText(decimalValue('0.50')));
  });

  test('inside documents and arrays numbers count by value, names and order count', () => {
    const doc = (...fields: [string, BsonValue][]): BsonValue =>
      documentValue(buildDocument(fields.map(([name, value]) => rawElement(name, value))));
    const list = (...values: BsonValue[]): BsonValue => valueOf(Type.Array, buildArray(values));
    const [one, oneAgain, two] = [int32Value(1), doubleValue(1), int32Value(2)];
    expect(keyText(doc(['a', one], ['b', list(two)]))).toBe(keyText(doc(['a', oneAgain], ['b', list(int64Value(2n))])));
    expect(keyText(doc(['a', one], ['b', two]))).not.toBe(keyText(doc(['b', two], ['a', one])));
    expect(keyText(doc(['a', one]))).not.toBe(keyText(doc(['b', one])));
    expect(keyText(doc(['0', one]))).not.toBe(keyText(list(one)));
    expect(keyText(doc(['a', doc()], ['b', one]))).not.toBe(keyText(doc(['a', doc(['b', one])])));
  });

  test('a Symbol is the String, everything else counts by type and bytes', () => {
    const scoped = (scope: string): BsonValue => parseEjson(`{"$code": "x", "$scope": {"a": ${scope}}}`);
    expect(keyText(scoped('1'))).toBe(keyText(scoped('1.0')));
    expect(keyText(scoped('1'))).not.toBe(keyText(scoped('2')));
    const symbol = stringValue('x');
    symbol[0] = Type.Symbol;
    expect(keyText(symbol)).toBe(keyText(stringValue('x')));
    expect(keyText(Uint8Array.of(Type.Null))).not.toBe(keyText(Uint8Array.of(Type.Undefined)));
    expect(keyText(int64Value(5n, Type.Date))).not.toBe(keyText(int64Value(5n)));
  });

  test('other values have the same key only where they are the same bytes', () => {
    const other = anyValue.filter((value) => ![1, 3, 4, 14, 15, 16, 18, 19].includes(value[0]!));
    fc.assert(fc.property(other, other, (a, b) => (keyText(a) === keyText(b)) === sameBytes(a, b)));
  });
});
