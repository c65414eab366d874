import { BSON } from 'mongodb';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyDocument, anyValue, int32Value } from './arbitrary.ts';
import {
  documentBytes,
  documentValue,
  fromBase64,
  sameBytes,
  stringValue,
  toBase64,
  Type,
  typeName,
  valueOf,
} from './value.ts';
import { buildArray, buildDocument, elements, elementsOf, field, MalformedBson, rawElement } from './walk.ts';

describe('walking BSON', () => {
  test('taking a document apart and building it again gives the same bytes', () => {
    fc.assert(
      fc.property(anyDocument, (doc) => {
        expect(sameBytes(buildDocument(elements(doc)), doc)).toBe(true);
      }),
    );
  });

  test('every cut, and every byte changed, is either read or refused, never read beyond its end', () => {
    fc.assert(
      fc.property(anyDocument, fc.nat(), fc.nat(255), (doc, at, byte) => {
        const cut = doc.subarray(0, at % doc.length);
        expect(() => elements(cut)).toThrow(MalformedBson);
        const changed = doc.slice();
        changed[at % doc.length] = byte;
        try {
          for (const element of elements(changed)) expect(element.end).toBeLessThan(changed.length);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedBson);
        }
      }),
    );
  });

  test('a field is found without decoding the others, the first of two with the same name', () => {
    const doc = buildDocument([
      rawElement('é', int32Value(0)),
      rawElement('a', int32Value(1)),
      rawElement('a', int32Value(2)),
      rawElement('', int32Value(3)),
    ]);
    expect(field(doc, 'a')).toEqual(int32Value(1));
    expect(field(doc, '')).toEqual(int32Value(3));
    expect(field(doc, 'é')).toEqual(int32Value(0));
    expect(field(doc, 'A')).toBeUndefined();
  });

  test('names keep their bytes where they are no UTF-8, and a byte order mark', () => {
    const doc = buildDocument([
      { nameBytes: Uint8Array.of(0xff, 0x41), value: int32Value(1) },
      rawElement('\ufeffa', int32Value(2)),
    ]);
    expect(elements(doc).map((element) => element.name)).toEqual(['\ufffdA', '\ufeffa']);
    expect(elements(doc)[0]!.nameBytes).toEqual(Uint8Array.of(0xff, 0x41));
  });

  test('BS-19: duplicate names are all there, in order', () => {
    const doc = buildDocument([rawElement('a', int32Value(1)), rawElement('a', int32Value(2))]);
    expect(elements(doc).map((element) => element.value)).toEqual([int32Value(1), int32Value(2)]);
  });

  test('reads what the driver writes, also from a Buffer inside a larger one', () => {
    const bytes = BSON.serialize({ a: 1, b: [true, 'x'], c: { d: null } });
    const padded = Buffer.concat([Buffer.from('xyz'), bytes, Buffer.from('tail')]);
    const doc = padded.subarray(3, 3 + bytes.length);
    expect(elements(doc).map((element) => [element.name, typeName(element.value)])).toEqual([
      ['a', 'Int32'],
      ['b', 'Array'],
      ['c', 'Object'],
    ]);
    expect(elementsOf(elements(doc)[1]!).map((element) => element.value)).toEqual([
      Uint8Array.of(Type.Boolean, 1),
      stringValue('x'),
    ]);
  });

  test('200 levels of nesting are walked a level at a time', () => {
    let doc = buildDocument([]);
    for (let i = 0; i < 200; i++) doc = buildDocument([rawElement('a', documentValue(doc))]);
    let depth = 0;
    for (let at = elements(doc); at.length > 0; at = elementsOf(at[0]!)) depth++;
    expect(depth).toBe(200);
  });

  test('arrays are named by their indexes', () => {
    const array = buildArray(Array.from({ length: 12 }, (_, i) => int32Value(i)));
    expect(elements(array).map((element) => element.name)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
      '11',
    ]);
  });

  test('a name with a NUL cannot be built', () => {
    expect(() => rawElement('a\0b', int32Value(1))).toThrow(/NUL/);
  });
});

describe('values', () => {
  test('base64 and back', () => {
    fc.assert(fc.property(anyValue, (value) => sameBytes(fromBase64(toBase64(value)), value)));
    expect(() => fromBase64('abc')).toThrow(SyntaxError);
    expect(() => fromBase64('ab!=')).toThrow(SyntaxError);
  });

  test('bytes are the same by content, also when long; absent is the same as absent', () => {
    const [a, b] = [new Uint8Array(1000).fill(7), new Uint8Array(1000).fill(7)];
    expect(sameBytes(a, b)).toBe(true);
    b[999] = 8;
    expect(sameBytes(a, b)).toBe(false);
    expect(sameBytes(undefined, undefined)).toBe(true);
    expect(sameBytes(a, undefined)).toBe(false);
  });

  test('only a document has document bytes', () => {
    expect(documentBytes(documentValue(buildDocument([])))).toEqual(buildDocument([]));
    expect(() => documentBytes(int32Value(1))).toThrow(/Int32/);
    expect(typeName(valueOf(0x42, new Uint8Array()))).toBe('Unknown');
  });
});
