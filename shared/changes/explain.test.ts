import { expect, test } from 'vitest';
import { parseEjson } from '../bson/ejson.ts';
import { documentBytes } from '../bson/value.ts';
import { compareDocument } from './compare.ts';
import { explainConflict } from './explain.ts';

const names = { parent: 'main', branch: 'cheaper' };

function explained(base: string | undefined, parent: string | undefined, branch: string | undefined, strict = false) {
  const side = (json: string | undefined) => (json === undefined ? undefined : documentBytes(parseEjson(json)));
  const fields = compareDocument({ base: side(base), parent: side(parent), branch: side(branch) }, { strict })?.fields;
  return explainConflict({ ns: 'shop.p', key: parseEjson('"p2"'), fields: fields ?? [] }, names);
}

test.each([
  ['{"a":1}', '{"a":2}', '{"a":3}', 'main and cheaper changed /a of "p2" of shop.p differently, to 2 and 3.'],
  [
    '{"a":1}',
    '{"a":5}',
    '{"a":5.0}',
    'main and cheaper changed /a of "p2" of shop.p differently, to 5 (Int32) and 5.0 (Double).',
  ],
  ['{"a":null}', '{"a":3}', '{}', 'cheaper removed /a of "p2" of shop.p, main changed it.'],
  ['{"a":{"b":1}}', '{}', '{"a":{"b":2}}', 'main removed /a of "p2" of shop.p, cheaper changed it.'],
  ['{"a":1,"b":1}', '{"a":2,"b":2}', '{"a":3,"b":3}', 'main and cheaper changed /a, /b of "p2" of shop.p differently.'],
  [
    '{"a":[1]}',
    '{"a":[1,3]}',
    '{"a":[1,2]}',
    'main and cheaper changed /a of "p2" of shop.p differently; what became of which element cannot be told.',
  ],
  [
    '{"a":1,"b":2,"c":3}',
    '{"b":2,"a":1,"c":3}',
    '{"c":3,"b":2,"a":1}',
    'main and cheaper put the fields of "p2" of shop.p in different orders.',
  ],
  ['{"a":1}', undefined, '{"a":2}', 'main removed "p2" of shop.p, cheaper changed it.'],
  ['{"a":1}', '{"a":2}', undefined, 'cheaper removed "p2" of shop.p, main changed it.'],
  [undefined, '{"a":2}', '{"a":3}', 'main and cheaper both added "p2" of shop.p, with different fields.'],
])('%s became %s and %s', (base, parent, branch, sentence) => {
  expect(explained(base, parent, branch)).toBe(sentence);
});

test('a strict conflict says that the fields differ, and a document in none says nothing', () => {
  const sides = ['{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":2}'] as const;
  expect(explained(...sides)).toBeUndefined();
  expect(explained(...sides, true)).toBe('cheaper changed /b of "p2" of shop.p, main changed other fields of it.');
});
