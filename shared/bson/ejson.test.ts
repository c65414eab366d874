import { BSON } from 'mongodb';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyValue, decimalValue, doubleValue, int32Value, int64Value, ordinaryDocument } from './arbitrary.ts';
import { EjsonError, parseEjson, parseId, shellText, toEjson } from './ejson.ts';
import { type BsonValue, documentValue, sameBytes, stringValue, Type, valueOf } from './value.ts';
import { buildDocument, elements, rawElement } from './walk.ts';

function document(value: Record<string, unknown>): BsonValue {
  return documentValue(BSON.serialize(value, { ignoreUndefined: false }));
}

/** The value of the field a, read from `{"a": …}`. */
function parsedField(json: string): BsonValue {
  return elements(parseEjson(`{"a": ${json}}`).subarray(1))[0]!.value;
}

function failure(text: string): EjsonError {
  try {
    parseEjson(text);
  } catch (error) {
    if (error instanceof EjsonError) return error;
    throw error;
  }
  throw new Error(`${text} was read`);
}

describe('canonical Extended JSON', { timeout: 60_000 }, () => {
  test('every value comes back from its text byte for byte', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(sameBytes(parseEjson(toEjson(value)), value), toEjson(value)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('it is always JSON', () => {
    fc.assert(fc.property(anyValue, (value) => JSON.parse(toEjson(value)) !== undefined));
  });

  test('on ordinary documents it is what the driver writes', () => {
    fc.assert(
      fc.property(ordinaryDocument, (doc) => {
        const decoded = BSON.deserialize(doc, { promoteValues: false, bsonRegExp: true });
        const theirs = BSON.EJSON.stringify(decoded, { relaxed: false });
        expect(JSON.parse(toEjson(documentValue(doc)))).toEqual(JSON.parse(theirs));
      }),
      { numRuns: 500 },
    );
  });

  test('BS-05: -0, NaN and the infinities', () => {
    expect(toEjson(doubleValue(-0))).toBe('{"$numberDouble":"-0.0"}');
    expect(toEjson(doubleValue(44))).toBe('{"$numberDouble":"44.0"}');
    expect(toEjson(doubleValue(NaN))).toBe('{"$numberDouble":"NaN"}');
    expect(toEjson(doubleValue(-Infinity))).toBe('{"$numberDouble":"-Infinity"}');
  });

  test('BS-03: 64-bit integers keep all digits', () => {
    expect(toEjson(int64Value(9007199254740993n))).toBe('{"$numberLong":"9007199254740993"}');
    expect(toEjson(int64Value(-(2n ** 63n)))).toBe('{"$numberLong":"-9223372036854775808"}');
  });

  test('BS-12, BS-13: nasty names stay, in order', () => {
    const names = ['z', '10', '9', '__proto__', 'constructor', '$id', '$set', 'a.b', '', '$'];
    const value = documentValue(buildDocument(names.map((name, i) => rawElement(name, int32Value(i)))));
    const text = toEjson(value);
    expect([...text.matchAll(/"([^"]*)":\{/g)].map((found) => found[1])).toEqual(names);
    expect(sameBytes(parseEjson(text), value)).toBe(true);
  });

  test('BS-19: what text cannot carry is raw at the smallest value around it', () => {
    const twice = documentValue(buildDocument([rawElement('a', int32Value(1)), rawElement('a', int32Value(2))]));
    const outer = documentValue(buildDocument([rawElement('ok', int32Value(1)), rawElement('twice', twice)]));
    expect(toEjson(outer)).toMatch(/^\{"ok":\{"\$numberInt":"1"\},"twice":\{"\$raw":"[^"]+"\}\}$/);
    const badText = stringValue('x');
    badText[5] = 0xff;
    expect(toEjson(badText)).toMatch(/^\{"\$raw"/);
    expect(toEjson(documentValue(buildDocument([rawElement('$oid', stringValue('x'))])))).toMatch(/^\{"\$raw"/);
  });

  test('a validator with $regex and $type stays readable', () => {
    const rule = document({ email: { $regex: '^.+@' }, age: { $type: 'int' } });
    expect(toEjson(rule)).toBe('{"email":{"$regex":"^.+@"},"age":{"$type":"int"}}');
  });

  test('nesting far beyond what servers store is raw, not an overflow', () => {
    let doc = buildDocument([]);
    for (let i = 0; i < 3000; i++) doc = buildDocument([rawElement('a', documentValue(doc))]);
    const value = documentValue(doc);
    expect(sameBytes(parseEjson(toEjson(value)), value)).toBe(true);
  });
});

describe('reading Extended JSON', () => {
  test('BS-01: whole numbers take the smallest integer type, a dot or an exponent makes a Double', () => {
    expect(parseEjson('5')).toEqual(int32Value(5));
    expect(parseEjson('-2147483648')).toEqual(int32Value(-2147483648));
    expect(parseEjson('2147483648')).toEqual(int64Value(2147483648n));
    expect(parseEjson('-2147483649')).toEqual(int64Value(-2147483649n));
    expect(parseEjson('9007199254740993')).toEqual(int64Value(9007199254740993n));
    expect(parseEjson('9223372036854775808')).toEqual(doubleValue(2 ** 63));
    expect(parseEjson('5.0')).toEqual(doubleValue(5));
    expect(parseEjson('5e0')).toEqual(doubleValue(5));
    expect(parseEjson('-0')).toEqual(doubleValue(-0));
    expect(failure('9223372036854775809').message).toContain('numberDecimal');
    expect(failure('1e999').message).toContain('too large');
    expect(failure('{"$numberLong":"9223372036854775808"}').message).toContain('range');
  });

  test('any integer and any double is read exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (n) => {
        const value = parseEjson(String(n));
        const int32 = BigInt.asIntN(32, n) === n;
        return sameBytes(value, int32 ? int32Value(Number(n)) : int64Value(n));
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        const text = Number.isInteger(n) && Math.abs(n) < 1e21 ? `${n}.0` : String(n);
        return sameBytes(parseEjson(Object.is(n, -0) ? '-0.0' : text), doubleValue(n));
      }),
    );
  });

  test('any JSON text with strings is read as the driver would store it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        sameBytes(parseEjson(JSON.stringify(text)), stringValue(text)),
      ),
    );
    expect(parseEjson('"\\u0041\\ud83d\\ude00\\n"')).toEqual(stringValue('A😀\n'));
    expect(failure('"\\ud83d"').message).toContain('surrogate');
    expect(failure('"\\ude00\\ud83d"').message).toContain('surrogate');
  });

  test('IM-15: old forms are recovered', () => {
    expect(parsedField('{"$date": "2014-01-31T12:00:00.123+0100"}')).toEqual(int64Value(1391166000123n, Type.Date));
    expect(parsedField('{"$date": 1391166000123}')).toEqual(int64Value(1391166000123n, Type.Date));
    expect(parsedField('{"$date": {"$numberLong": "-1"}}')).toEqual(int64Value(-1n, Type.Date));
    const binary = valueOf(Type.Binary, Uint8Array.of(1, 0, 0, 0, 0, 65));
    expect(parsedField('{"$binary": "QQ==", "$type": "00"}')).toEqual(binary);
    expect(parsedField('{"$type": "0", "$binary": "QQ=="}')).toEqual(binary);
    const regex = valueOf(Type.Regex, Uint8Array.of(94, 97, 0, 105, 0));
    expect(parsedField('{"$regex": "^a", "$options": "i"}')).toEqual(regex);
    expect(parsedField('{"$options": "i", "$regex": "^a"}')).toEqual(regex);
    expect(parsedField('{"$undefined": true}')).toEqual(Uint8Array.of(Type.Undefined));
    expect(parsedField('{"$timestamp": {"i": 2, "t": 1}}')).toEqual(int64Value((1n << 32n) + 2n, Type.Timestamp));
    expect(parsedField('{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}')[5]).toBe(4);
  });

  test('IM-15: a query that is data stays as it is', () => {
    for (const query of [
      '{"$regex":"^a"}',
      '{"$regex":"^a","$options":"i","$exists":true}',
      '{"$regex":{"$regularExpression":{"pattern":"a","options":""}},"$options":"i"}',
      '{"$type":"string"}',
      '{"$ref":"c","$id":"x"}',
    ]) {
      expect(toEjson(parseEjson(query))).toBe(query);
    }
  });

  test('BS-07: dates before 1970 and behind the year 9999', () => {
    for (const [text, millis] of [
      ['1969-07-20T00:00:00Z', -14256000000n],
      ['9999-12-31T23:59:59.999Z', 253402300799999n],
      ['+010000-01-01T00:00:00.000Z', 253402300800000n],
      ['2024-02-29', 1709164800000n],
    ] as const) {
      expect(parsedField(`{"$date": "${text}"}`)).toEqual(int64Value(millis, Type.Date));
    }
    expect(failure('{"$date": "2023-02-29T00:00:00Z"}').message).toContain('$date');
    expect(failure('{"$date": "2024-01-01T00:00:00.0001Z"}').message).toContain('exactly');
  });

  test('IM-14: of a name that stands twice the last is kept and the line told', () => {
    const told: [string, number][] = [];
    const value = parseEjson('{"_id": 1,\n "a": 1,\n "b": {"x": 1, "x": 2},\n "a": 2}', (name, line) =>
      told.push([name, line]),
    );
    expect(told).toEqual([
      ['x', 3],
      ['a', 4],
    ]);
    expect(sameBytes(value, document({ _id: 1, b: { x: 2 }, a: 2 }))).toBe(true);
    const many = Array.from({ length: 100 }, (_, i) => `"k${i}":${i}`).join(',');
    const names: string[] = [];
    parseEjson(`{${many},"k7":0}`, (name) => names.push(name));
    expect(names).toEqual(['k7']);
  });

  test('IM-12: mongosh syntax gets a helpful message with its place', () => {
    expect(failure('{\n  "_id": ObjectId("507f1f77bcf86cd799439011")}')).toMatchObject({
      message: 'ObjectId(…) is mongosh syntax; in a JSON file write {"$oid": "…"}.',
      line: 2,
      column: 10,
    });
    expect(failure('{_id: 1}').message).toBe('The field name _id must stand in double quotes in a JSON file.');
    expect(failure("{'a': 1}").message).toContain('double quotes');
    expect(failure('{"a": \'x\'}').message).toContain('double quotes');
    expect(failure('{"at": new Date("2024-01-01")}').message).toContain('$date');
    expect(failure('{"a": undefined}').message).toContain('$undefined');
    expect(failure('{"a": -Infinity}').message).toContain('$numberDouble');
    expect(failure('{"a": None}').message).toContain('null');
    expect(failure('{"a": 1} // one').message).toContain('comments');
  });

  test('what is no JSON is refused in one sentence', () => {
    for (const text of [
      '',
      '{',
      '[1',
      '"a',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '[1,]',
      '{"a":1}}',
      '01',
      '1.',
      '.5',
      '+1',
      '1e',
      '--1',
      'nul',
      'truee',
      '"\\x"',
      '"\\u12"',
      '"a\nb"',
      '"\t"',
      '{"a":1 "b":2}',
      '[1 2]',
      '{,}',
      '{"a\\u0000b":1}',
      '1 2',
      '{"$oid":"xyz"}',
      '{"$oid":"507f1f77bcf86cd799439011","a":1}',
      '{"$numberInt":"2147483648"}',
      '{"$numberInt":5}',
      '{"$numberDouble":"x"}',
      '{"$numberDecimal":"x"}',
      '{"$binary":{"base64":"!","subType":"00"}}',
      '{"$binary":{"base64":""}}',
      '{"$raw":"AwAA"}',
      '{"$undefined":false}',
      '{"$minKey":2}',
      '{"$timestamp":{"t":1}}',
      '{"$timestamp":{"t":-1,"i":0}}',
      '{"$uuid":"x"}',
      '{"$code":1}',
      '{"$regularExpression":{"pattern":"a"}}',
      '{"$symbol":1}',
      '{"$dbPointer":{"$ref":"a"}}',
      '['.repeat(100_000),
      '{"a":'.repeat(100_000),
    ]) {
      const error = failure(text);
      expect(error.message, text.slice(0, 40)).toMatch(/^[^\n]+\.$/);
      expect(error.line).toBeGreaterThan(0);
    }
  });

  test('an id on the command line is Extended JSON or a text', () => {
    expect(parseId('"p1"')).toEqual(stringValue('p1'));
    expect(parseId('p1')).toEqual(stringValue('p1'));
    expect(parseId('42')).toEqual(int32Value(42));
    expect(parseId('42a')).toEqual(stringValue('42a'));
    expect(parseId('{"$oid":"507f1f77bcf86cd799439011"}')[0]).toBe(Type.ObjectId);
  });
});

describe('values for people', () => {
  test('types are told apart as in mongosh', () => {
    expect(shellText(decimalValue('129.00'))).toBe('129.00');
    expect(shellText(decimalValue('1.5E+3'))).toBe('1500');
    expect(shellText(decimalValue('-0.05'))).toBe('-0.05');
    expect(shellText(int32Value(5))).toBe('5');
    expect(shellText(doubleValue(5))).toBe('5.0');
    expect(shellText(doubleValue(-0))).toBe('-0.0');
    expect(shellText(int64Value(9007199254740993n))).toBe('Long("9007199254740993")');
    expect(shellText(int64Value(0n, Type.Date))).toBe('ISODate("1970-01-01T00:00:00.000Z")');
    expect(shellText(int64Value(2n ** 62n, Type.Date))).toBe('Date(4611686018427387904)');
    expect(shellText(parsedField('{"$oid":"507f1f77bcf86cd799439011"}'))).toBe('ObjectId("507f1f77bcf86cd799439011")');
    const doc = document({ a: 1, b: [true, null], 'c d': {}, e: 'x"y' });
    expect(shellText(doc)).toBe('{ a: 1, b: [ true, null ], "c d": {}, e: "x\\"y" }');
  });

  test('no longer than asked, whatever the value', () => {
    fc.assert(
      fc.property(
        anyValue,
        fc.integer({ min: 1, max: 60 }),
        (value, length) => shellText(value, length).length <= length,
      ),
    );
    expect(shellText(stringValue('x'.repeat(1e6)), 10)).toBe('"xxxxxxxx…');
  });
});
