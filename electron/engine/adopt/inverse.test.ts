import { expect, test } from 'vitest';
import { parseEjson, shellText } from '../../../shared/bson/ejson.ts';
import { documentBytes, documentValue } from '../../../shared/bson/value.ts';
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
