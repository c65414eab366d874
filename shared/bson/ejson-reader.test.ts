import { BSON } from 'mongodb';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyDocument } from './arbitrary.ts';
import { EjsonError, EjsonReader, toEjson } from './ejson.ts';
import { type BsonValue, documentValue, sameBytes } from './value.ts';

interface Outcome {
  documents: BsonValue[];
  lines: number[];
  error?: EjsonError;
}

/** Reads a text in chunks of `size` characters. */
function readAll(text: string, size = 7): Outcome {
  const reader = new EjsonReader();
  const outcome: Outcome = { documents: [], lines: [] };
  const take = (documents: BsonValue[]): void => {
    outcome.documents.push(...documents);
    outcome.lines.push(...reader.lines);
    expect(reader.lines.length).toBe(documents.length);
  };
  try {
    for (let at = 0; at < text.length; at += size) take(reader.push(text.slice(at, at + size)));
    take(reader.end());
  } catch (error) {
    if (!(error instanceof EjsonError)) throw error;
    outcome.error = error;
  }
  return outcome;
}

const texts = (outcome: Outcome): string[] => outcome.documents.map((document) => toEjson(document));
const a = '{"a":{"$numberInt":"1"}}';
const b = '{"b":"} {"}';

describe('a stream of documents', { timeout: 60_000 }, () => {
  test('IM-12: an array, lines, documents in a row, pretty print, BOM, CRLF, blank lines', () => {
    for (const [text, lines] of [
      ['{"a":1}\n{"b":"} {"}\n', [1, 2]],
      ['{"a":1}\r\n\r\n{"b":"} {"}', [1, 3]],
      ['\ufeff{"a":1}{"b":"} {"}', [1, 1]],
      ['[{"a":1},{"b":"} {"}]', [1, 1]],
      ['\ufeff[\r\n  {"a":1},\r\n  {"b":"} {"}\r\n]\r\n', [2, 3]],
      ['{\n  "a": 1\n}\n{\n  "b": "} {"\n}', [1, 4]],
    ] as const) {
      for (const size of [1, 2, 7, 1000]) {
        const outcome = readAll(text, size);
        expect(outcome.error, text).toBeUndefined();
        expect(texts(outcome)).toEqual([a, b]);
        expect(outcome.lines).toEqual(lines);
      }
    }
  });

  test('nothing at all, and an empty array, hold no documents', () => {
    for (const text of ['', '\ufeff', '\n\n', '[]', ' [ ] '])
      expect(readAll(text)).toEqual({ documents: [], lines: [] });
  });

  test('a bad line is named, and what came before it is given first', () => {
    for (const [text, line, count] of [
      ['{"a":1}\n{"b":}\n{"c":1}', 2, 1],
      ['{"a":1}\n{"b":1\n{"c":1}', 3, 1],
      ['{"a":1}\n\n{"b":"x}\n{"c":1}', 3, 1],
      ['{"a":1},\n{"b":1}', 1, 1],
      ['[{"a":1},\n]', 2, 1],
      ['[{"a":1}\n{"b":1}]', 2, 1],
      ['[{"a":1}', 1, 1],
      ['[]\n{"a":1}', 2, 0],
      ['{"a":1}\n5', 2, 1],
      ['{"a":1}\n[{"b":1}]', 2, 1],
      ['{"a":1}\n{"$oid":"507f1f77bcf86cd799439011"}', 2, 1],
      ['{"a":1}\n{"b":[1,2', 2, 1],
      ['{"a":1}\n{_id: ObjectId("x")}', 2, 1],
      ['name,price\n1,2', 1, 0],
    ] as const) {
      for (const size of [1, 5, 1000]) {
        const outcome = readAll(text, size);
        expect(outcome.error?.line, `${text} by ${size}`).toBe(line);
        expect(outcome.error?.message).toMatch(/\.$/);
        if (size === 1000) expect(outcome.documents.length, text).toBe(count);
      }
    }
  });

  test('an error stays: nothing is read behind it', () => {
    const reader = new EjsonReader();
    expect(reader.push('{"a":1} x').length).toBe(1);
    expect(() => reader.push('{"a":1}')).toThrow(EjsonError);
    expect(() => reader.end()).toThrow(EjsonError);
  });

  test('a broken document is refused where it breaks, not when the text ends', () => {
    const reader = new EjsonReader();
    reader.push('{"a": 1\n');
    expect(() => reader.push(`{"b": 2}\n${'{"c": 3}\n'.repeat(10)}`)).toThrow(EjsonError);
  });

  test('duplicate names are told once, with their line', () => {
    const told: [string, number][] = [];
    const reader = new EjsonReader((name, line) => told.push([name, line]));
    for (const character of '{"a":1}\n{"b":1,"b":2,\n"c":3}\n') reader.push(character);
    reader.end();
    expect(told).toEqual([['b', 2]]);
  });

  test('every wrapper may be cut at every character', () => {
    const text =
      '{"u":{"$undefined":true},"m":{"$minKey":1},"d":{"$date":{"$numberLong":"-1"}},"t":{"$timestamp":{"t":1,"i":2}},' +
      '"b":{"$binary":{"base64":"AQ==","subType":"00"}},"n":null,"f":false,"y":true,"k":{"$maxKey":1}}';
    for (let size = 1; size < text.length; size += 1) expect(readAll(text, size).error).toBeUndefined();
  });

  test('any documents, in any of the layouts, cut anywhere, are read exactly', () => {
    const layout = fc.constantFrom(
      (list: string[]) => list.join('\n'),
      (list: string[]) => list.join(''),
      (list: string[]) => `[${list.join(',\r\n')}]`,
    );
    const documents = fc.array(
      anyDocument.map(documentValue).filter((value) => toEjson(value)[1] !== '$'),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(documents, layout, fc.integer({ min: 1, max: 50 }), (values, lay, size) => {
        const outcome = readAll(lay(values.map(toEjson)), size);
        expect(outcome.error).toBeUndefined();
        expect(outcome.documents.length).toBe(values.length);
        expect(outcome.documents.every((value, i) => sameBytes(value, values[i]))).toBe(true);
      }),
    );
  });

  test('a document far longer than a chunk is read in time that grows with its length', () => {
    const reader = new EjsonReader();
    const long = `{"a":[${'{"b":"some text"},'.repeat(200_000)}0]}`;
    let count = 0;
    for (let at = 0; at < long.length; at += 4096) count += reader.push(long.slice(at, at + 4096)).length;
    count += reader.end().length;
    expect(count).toBe(1);
  });

  test('reads 20 MB in a second of processor time, and more', () => {
    const line = BSON.EJSON.stringify({
      _id: new BSON.ObjectId(),
      name: 'Product number five, with a name of usual length',
      description:
        'A short text that describes the product in about a hundred characters, as shops have them everywhere.',
      price: 129.5,
      quantity: 5,
      tags: ['red', 'blue', 'green'],
      dimensions: { width: 10, height: 20, unit: 'cm' },
      active: true,
    });
    const chunk = `${line}\n`.repeat(500);
    const reader = new EjsonReader();
    let best = 0;
    for (let round = 0; round < 30; round++) {
      const start = process.cpuUsage();
      expect(reader.push(chunk).length).toBe(500);
      const { user, system } = process.cpuUsage(start);
      best = Math.max(best, chunk.length / (user + system));
    }
    expect(best).toBeGreaterThan(20);
  });
});
