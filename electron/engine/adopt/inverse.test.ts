import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDocument, anyValue } from '../../../shared/bson/arbitrary.ts';
import { parseEjson, shellText } from '../../../shared/bson/ejson.ts';
import { documentBytes, documentValue, sameBytes } from '../../../shared/bson/value.ts';
import { buildDocument, rawElement } from '../../../shared/bson/walk.ts';
import { editedDocuments } from '../../../shared/changes/arbitrary.ts';
import { inverseOf } from './inverse.ts';

const doc = (json: string | undefined) => (json === undefined ? undefined : documentBytes(parseEjson(json)));

function inverse(current: string | undefined, ...changes: [string | undefined, string | undefined][]) {
  const pairs = changes.map(([before, after]) => ({ before: doc(before), after: doc(after) }));
  const { result, clashes } = inverseOf(doc(current), pairs);
  return [
    result === undefined ? 'absent' : shellText(documentValue(result)),
    ...clashes.map(({ path }) => path.join('/')),
  ];
}

test('some of a document’s changes are taken back, newest first, and the ones between them stay', () => {
  const [v0, v1, v2, v3] = ['{"a":0,"b":0}', '{"a":1,"b":0}', '{"a":1,"b":1}', '{"a":2,"b":1}'];
  expect(inverse(v3, [v2, v3], [v0, v1])).toEqual(['{ a: 0, b: 1 }']);
  expect(inverse(v3, [v1, v2])).toEqual(['{ a: 2, b: 0 }']);
});

test('a field changed again since clashes and stays', () => {
  expect(inverse('{"a":2,"b":1}', ['{"a":0,"b":0}', '{"a":1,"b":1}'])).toEqual(['{ a: 2, b: 0 }', 'a']);
});

test('coming and going is taken back too', () => {
  expect(inverse('{"a":1}', [undefined, '{"a":1}'])).toEqual(['absent']);
  expect(inverse(undefined, ['{"a":1}', undefined])).toEqual(['{ a: 1 }']);
  // Deleted by hand since: what it was inserted as is gone already.
  expect(inverse(undefined, [undefined, '{"a":1}'])).toEqual(['absent']);
  expect(inverse('{"a":2}', [undefined, '{"a":1}'])).toEqual(['{ a: 2 }', '']);
});

test('for any document and any edits: taking a change back at once gives what was there, and nothing clashes', () => {
  fc.assert(
    fc.property(editedDocuments(1), ([before, after]) => {
      const { result, clashes } = inverseOf(after, [{ before, after }]);
      expect(sameBytes(result, before)).toBe(true);
      expect(clashes).toEqual([]);
    }),
  );
});

test('for any history: all changes, newest first, lead back to its beginning', () => {
  fc.assert(
    fc.property(fc.array(fc.option(anyDocument, { nil: undefined }), { minLength: 2, maxLength: 6 }), (versions) => {
      const changes = versions.slice(1).map((after, at) => ({ before: versions[at], after }));
      const { result, clashes } = inverseOf(versions.at(-1), changes.reverse());
      expect(sameBytes(result, versions[0])).toBe(true);
      expect(clashes).toEqual([]);
    }),
  );
});

test('for any two changes of different fields: the first is taken back, the second stays', () => {
  const write = (a: Uint8Array, b: Uint8Array) => buildDocument([rawElement('a', a), rawElement('b', b)]);
  fc.assert(
    fc.property(anyValue, anyValue, anyValue, anyValue, (a0, a1, b0, b1) => {
      const { result, clashes } = inverseOf(write(a1, b1), [{ before: write(a0, b0), after: write(a1, b0) }]);
      expect(sameBytes(result, write(a0, b1))).toBe(true);
      expect(clashes).toEqual([]);
    }),
  );
});
