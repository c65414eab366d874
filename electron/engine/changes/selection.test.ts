import { expect, it } from 'vitest';
import { parseId } from '../../../shared/bson/ejson.ts';
import { toBase64 } from '../../../shared/bson/value.ts';
import type { FieldDelta } from '../../../shared/changes/compare.ts';
import { Selection, type SelectionInput } from './selection.ts';

const ns = 'shop.products';
const at = (id: string, ...path: string[]) => ({ ns, id: toBase64(parseId(id)), ...(path.length > 0 ? { path } : {}) });
const value = { value: toBase64(parseId('1')) };

/** What a selection names without effect where `/price/net` of `p1` and the index `sku` are all that changed. */
function unused(input: SelectionInput): string[] {
  const selection = new Selection(input, 'b', 'main');
  const place = { ns, key: parseId('p1') };
  const deltas = [{ path: ['price', 'net'], class: 'clean' } as unknown as FieldDelta];
  for (const delta of deltas) selection.choose(place, delta);
  selection.editsWithoutChange(place, deltas);
  selection.includesSchema({ type: 'index', kind: 'added', ns, name: 'sku', conflict: false });
  return selection.unusedTargets;
}

it('what is chosen or decided where a change stands is used, however it is named', () => {
  const only = [{ ns }, at('p1'), at('p1', 'price'), at('p1', 'price', 'net'), { ns, schema: { name: 'sku' } }];
  expect(unused({ only })).toEqual([]);
  const take = [
    { target: at('p1', 'price'), take: { side: 'main' } },
    { target: at('p1', 'price', 'net'), take: value },
  ];
  expect(unused({ take })).toEqual([]);
  expect(unused({})).toEqual([]);
});

it('what is chosen or decided where none stands is told by its place', () => {
  const only = [
    at('p2'),
    at('p1', 'a/b'),
    { ns: 'shop.nothing' },
    { ns, schema: { type: 'index', name: 'x' } },
  ] as const;
  const take = [
    { target: at('p9', 'price'), take: { side: 'b' } },
    { target: at('p8'), take: value },
  ];
  expect(unused({ only, take })).toEqual([
    '"p2" of shop.products',
    '/a~1b of "p1" of shop.products',
    'shop.nothing',
    'the index x of shop.products',
    '/price of "p9" of shop.products',
    '"p8" of shop.products',
  ]);
});
