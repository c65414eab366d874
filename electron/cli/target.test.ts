import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ordinaryDocument } from '../../shared/bson/arbitrary.ts';
import { parseEjson, toEjson } from '../../shared/bson/ejson.ts';
import { documentValue, fromBase64, stringValue, toBase64 } from '../../shared/bson/value.ts';
import { parseTake, parseTarget } from './target.ts';

/** A target with its id as text. */
function read(text: string) {
  const { ns, id, path } = parseTarget(text);
  return { ns, ...(id === undefined ? {} : { id: toEjson(fromBase64(id)) }), ...(path === undefined ? {} : { path }) };
}

test.each([
  ['schema:shop.products', { ns: 'shop.products', schema: {} }],
  ['schema:shop.products:collection', { ns: 'shop.products', schema: { type: 'collection' } }],
  ['schema:shop.products:index:a:b_1', { ns: 'shop.products', schema: { type: 'index', name: 'a:b_1' } }],
])('%s names schema items', (text, wanted) => {
  expect(parseTarget(text)).toEqual(wanted);
  expect(parseTake(`${text}=main`)).toEqual({ target: wanted, take: { side: 'main' } });
});

test('a schema item of a kind that does not exist is refused', () => {
  expect(() => parseTarget('schema:shop.products:field')).toThrow(/field/);
});

test.each([
  ['shop.products', { ns: 'shop.products' }],
  ['shop.a.b', { ns: 'shop.a.b' }],
  ['shop.products:p1', { ns: 'shop.products', id: '"p1"' }],
  ['shop.products:"p1"', { ns: 'shop.products', id: '"p1"' }],
  ['shop.products:42', { ns: 'shop.products', id: '{"$numberInt":"42"}' }],
  ['shop.products:"42"', { ns: 'shop.products', id: '"42"' }],
  ['shop.products:p1:/price', { ns: 'shop.products', id: '"p1"', path: ['price'] }],
  [
    'shop.products:42:/lines/0/price',
    { ns: 'shop.products', id: '{"$numberInt":"42"}', path: ['lines', '0', 'price'] },
  ],
  ['a.b:"x:/y":/z', { ns: 'a.b', id: '"x:/y"', path: ['z'] }],
  ['a.b:"a\\":/b":/z', { ns: 'a.b', id: '"a\\":/b"', path: ['z'] }],
  ['a.b:urn:isbn:1', { ns: 'a.b', id: '"urn:isbn:1"' }],
  ['a.b:http://x/y', { ns: 'a.b', id: '"http://x/y"' }],
  ['a.b:http://x/y:/title', { ns: 'a.b', id: '"http://x/y"', path: ['title'] }],
  [
    'a.b:{"$oid":"0123456789abcdef01234567"}:/a~1b/~0',
    { ns: 'a.b', id: '{"$oid":"0123456789abcdef01234567"}', path: ['a/b', '~'] },
  ],
  ['a.b:{"x":{"y":"}:/z"}}:/w', { ns: 'a.b', id: '{"x":{"y":"}:/z"}}', path: ['w'] }],
  ['a.b:"p1":/', { ns: 'a.b', id: '"p1"', path: [''] }],
  ['a.b:"p1":', { ns: 'a.b', id: '"p1"' }],
])('%s', (text, wanted) => {
  expect(read(text)).toEqual(wanted);
});

test.each(['', 'shop', '.products', 'shop.', ':p1', 'shop.products:', 'a.b:p1:/x~2'])('"%s" is refused', (text) => {
  expect(() => parseTarget(text)).toThrow(expect.objectContaining({ code: 'usage' }));
});

test('a decision takes the side behind the last equals sign', () => {
  const id = { ns: 'a.b', id: toBase64(stringValue('p=1')) };
  expect(parseTake('a.b:p=1=main')).toEqual({ target: id, take: { side: 'main' } });
  expect(parseTake('a.b:"p=1":/x=price-update')).toEqual({
    target: { ...id, path: ['x'] },
    take: { side: 'price-update' },
  });
});

test.each(['a.b:p1', 'a.b:p1=', 'a.b=main', 'a.b:{"x":"="}', '=main', ''])('"%s" is no decision', (text) => {
  expect(() => parseTake(text)).toThrow(expect.objectContaining({ code: 'usage' }));
});

test.each([
  ['a.b:p1:/x=@{"$numberInt":"5"}', '{"$numberInt":"5"}', ['x']],
  ['a.b:p1:/x=@5', '{"$numberInt":"5"}', ['x']],
  ['a.b:"p1":/x=@5.0', '{"$numberDouble":"5.0"}', ['x']],
  ['a.b:"p1"=@{"a":"=@1"}', '{"a":"=@1"}', undefined],
  ['a.b:"a=@b":/x=@"y"', '"y"', ['x']],
])('%s is an edited value', (text, value, path) => {
  const { target, take } = parseTake(text);
  expect(target.path).toEqual(path);
  expect('value' in take && toEjson(fromBase64(take.value))).toBe(value);
});

test.each(['a.b:p1=@', 'a.b:p1=@main', 'a.b:p1:/x=@{"a":', 'a.b=@1', 'schema:a.b:validator=@{}'])(
  '"%s" is no edited value',
  (text) => {
    expect(() => parseTake(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  },
);

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.integer().map(String),
  ordinaryDocument.map((document) => toEjson(documentValue(document))),
);

test('any value comes back as it went in', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), anyText, (id, name, json) => {
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const value = parseEjson(json);
      const decision = parseTake(`a.b:${JSON.stringify(id)}:${pointer}=@${toEjson(value)}`);
      const target = { ns: 'a.b', id: toBase64(stringValue(id)), path: [name] };
      expect(decision).toEqual({ target, take: { value: toBase64(value) } });
    }),
  );
});

test('any quoted id and any path come back as they went in', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }),
      (id, path) => {
        const pointer = path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
        const target = { ns: 'a.b', id: toBase64(stringValue(id)), path };
        expect(parseTarget(`a.b:${JSON.stringify(id)}:${pointer}`)).toEqual(target);
        expect(parseTake(`a.b:${JSON.stringify(id)}:${pointer}=main`)).toEqual({ target, take: { side: 'main' } });
      },
    ),
  );
});
