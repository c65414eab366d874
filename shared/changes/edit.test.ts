import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDocument, anyValue, int32Value } from '../bson/arbitrary.ts';
import { parseEjson, shellText } from '../bson/ejson.ts';
import { documentBytes, documentValue, sameBytes } from '../bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../bson/walk.ts';
import { withValueAt } from './edit.ts';

const doc = (json: string) => documentBytes(parseEjson(json));
const put = (json: string, path: (string | number)[], value: string) => {
  const written = withValueAt(doc(json), path, parseEjson(value));
  return written && shellText(documentValue(written));
};

test('a value is put at a name, below objects, or in place of the whole document', () => {
  expect(put('{"_id":1,"a":1,"b":2}', ['a'], '5')).toBe('{ _id: 1, a: 5, b: 2 }');
  expect(put('{"a":{"b":{"c":1},"d":1}}', ['a', 'b', 'c'], '"x"')).toBe('{ a: { b: { c: "x" }, d: 1 } }');
  expect(put('{"a":{}}', ['a', 'new'], '1')).toBe('{ a: { new: 1 } }');
  expect(put('{"a":1}', [], '{"z":1}')).toBe('{ z: 1 }');
});

test('a name with a dot, and one of digits, is that name alone', () => {
  expect(put('{"a.b":1,"a":{"b":1,"0":1}}', ['a.b'], '2')).toBe('{ "a.b": 2, a: { b: 1, "0": 1 } }');
  expect(put('{"a.b":1,"a":{"b":1,"0":1}}', ['a', 0], '2')).toBe('{ "a.b": 1, a: { b: 1, "0": 2 } }');
});

test('where a path leads through no object, or through a name that stands twice, nothing is written', () => {
  expect(put('{"a":[1,2]}', ['a', 0], '5')).toBeUndefined();
  expect(put('{"a":1}', ['b', 'c'], '5')).toBeUndefined();
  expect(put('{"a":1}', [], '5')).toBeUndefined();
  const twice = buildDocument([rawElement('a', int32Value(1)), rawElement('a', int32Value(2))]);
  expect(withValueAt(twice, ['a'], int32Value(3))).toBeUndefined();
});

test('for any document: the value is there, and no other byte has changed', () => {
  fc.assert(
    fc.property(anyDocument, anyValue, fc.nat(9), (document, value, at) => {
      const parts = elements(document);
      const target = parts[at % (parts.length + 1)];
      const name = target?.name ?? 'a name that is not there';
      // A name that is no UTF-8 cannot be said in a path.
      fc.pre(!name.includes('\ufffd'));
      const written = withValueAt(document, [name], value);
      if (written === undefined) {
        expect(parts.filter((part) => part.name === name).length).toBeGreaterThan(1);
        return;
      }
      expect(sameBytes(field(written, name), value)).toBe(true);
      const others = (bytes: Uint8Array) => buildDocument(elements(bytes).filter((part) => part.name !== name));
      expect(sameBytes(others(written), others(document))).toBe(true);
    }),
  );
});
