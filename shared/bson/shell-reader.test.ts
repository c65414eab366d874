import { describe, expect, it } from 'vitest';
import { EjsonError, parseEjson, toEjson } from './ejson.ts';
import { parseShell } from './shell-reader.ts';

const read = (text: string) => toEjson(parseShell(text));
const problem = (text: string) => {
  try {
    return `read as ${read(text)}`;
  } catch (error) {
    if (error instanceof EjsonError) return error.message;
    throw error;
  }
};

describe('shell notation', () => {
  it.each([
    ['{price: {$gt: 5}}', '{"price":{"$gt":{"$numberInt":"5"}}}'],
    ['{price: 5.0}', '{"price":{"$numberDouble":"5.0"}}'],
    ['{n: 9007199254740993}', '{"n":{"$numberLong":"9007199254740993"}}'],
    ['{n: -.5, m: +7, o: 1e3}', '{"n":{"$numberDouble":"-0.5"},"m":{"$numberInt":"7"},"o":{"$numberDouble":"1000.0"}}'],
    ["{'a.b': 'it\\'s', \"c\": \"d\"}", '{"a.b":"it\'s","c":"d"}'],
    ['{_id: ObjectId("64b7f1f77bcf86cd79943901")}', '{"_id":{"$oid":"64b7f1f77bcf86cd79943901"}}'],
    ['{_id: {"$oid": "64b7f1f77bcf86cd79943901"}}', '{"_id":{"$oid":"64b7f1f77bcf86cd79943901"}}'],
    ['{at: ISODate("2024-01-31")}', '{"at":{"$date":{"$numberLong":"1706659200000"}}}'],
    ['{at: new Date("2024-01-31T12:00:00Z")}', '{"at":{"$date":{"$numberLong":"1706702400000"}}}'],
    ['{at: new Date(0)}', '{"at":{"$date":{"$numberLong":"0"}}}'],
    [
      '[NumberLong("5"), Long(5), NumberInt(5), Int32("5")]',
      '[{"$numberLong":"5"},{"$numberLong":"5"},{"$numberInt":"5"},{"$numberInt":"5"}]',
    ],
    ['{p: NumberDecimal("1.10")}', '{"p":{"$numberDecimal":"1.10"}}'],
    ['{p: Decimal128.fromString("1.10")}', '{"p":{"$numberDecimal":"1.10"}}'],
    ['Double(5)', '{"$numberDouble":"5.0"}'],
    ['{t: Timestamp(7, 1)}', '{"t":{"$timestamp":{"t":7,"i":1}}}'],
    [
      'UUID("00112233-4455-6677-8899-aabbccddeeff")',
      '{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}}',
    ],
    ['BinData(0, "AAE=")', '{"$binary":{"base64":"AAE=","subType":"00"}}'],
    ['HexData(5, "00ff")', '{"$binary":{"base64":"AP8=","subType":"05"}}'],
    ['{s: /^a\\/b[/]\\d/im}', '{"s":{"$regularExpression":{"pattern":"^a/b[/]\\\\d","options":"im"}}}'],
    [
      '{s: {$regex: /x/, $options: "i"}}',
      '{"s":{"$regex":{"$regularExpression":{"pattern":"x","options":""}},"$options":"i"}}',
    ],
    ['{t: {$type: "string"}}', '{"t":{"$type":"string"}}'],
    [
      '{a: MinKey, b: MaxKey(), c: undefined, d: null, e: NaN, f: -Infinity}',
      '{"a":{"$minKey":1},"b":{"$maxKey":1},"c":{"$undefined":true},"d":null,"e":{"$numberDouble":"NaN"},"f":{"$numberDouble":"-Infinity"}}',
    ],
    ['{ // why\n a: [1, 2,], /* and\n so */ }', '{"a":[{"$numberInt":"1"},{"$numberInt":"2"}]}'],
    ['{10: 1, 2: 1}', '{"10":{"$numberInt":"1"},"2":{"$numberInt":"1"}}'],
    ['{__proto__: 1, constructor: 2}', '{"__proto__":{"$numberInt":"1"},"constructor":{"$numberInt":"2"}}'],
    ['{}', '{}'],
  ])('%s', (text, expected) => {
    expect(JSON.parse(read(text))).toEqual(JSON.parse(expected));
    // Order of fields.
    expect(read(text).replaceAll(/\s/g, '')).toBe(expected.replaceAll(/\s/g, ''));
  });

  it('reads canonical Extended JSON as that itself is read', () => {
    const text =
      '{"a": {"$numberDouble": "-0.0"}, "b": {"$date": {"$numberLong": "-9999999999999999"}}, "\\u0041": "\\n"}';
    expect(parseShell(text)).toEqual(parseEjson(text));
  });

  it.each([
    ['{a: 1', 'The text ends before its value is complete.'],
    ['{a: foo}', 'foo is no value; text stands in quotes.'],
    ['{a: process.exit()}', 'process.exit(…) cannot be used here: nothing is run.'],
    ['{a: function() { return 1 }}', 'function(…) cannot be used here: nothing is run.'],
    ['{a: ObjectId("xyz")}', '$oid needs 24 hexadecimal digits.'],
    ['{a: ObjectId(1, 2)}', 'ObjectId(1, 2) is not understood.'],
    ['{a: 1 + 1}', 'Expected a comma or }, found +.'],
    ['{a: 12abc}', '12abc is no number.'],
    ['{a: "x}', 'A text in quotes does not end on its line.'],
    ['{a 1}', 'Expected a colon behind a.'],
    ['{} {}', 'Expected nothing more, found {.'],
    ['', 'The text ends before its value is complete.'],
    ['['.repeat(500), 'This is nested too deeply.'],
  ])('refuses %s', (text, message) => {
    expect(problem(text)).toBe(message);
  });

  it('says where', () => {
    expect(() => parseShell('{a: 1,\n  b: foo}')).toThrow(expect.objectContaining({ line: 2, column: 6 }));
  });
});
