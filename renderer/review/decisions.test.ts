import { describe, expect, it } from 'vitest';
import type { DocumentChange } from '../../shared/api.ts';
import {
  changesParent,
  conflictPlaces,
  isDecided,
  keepDecisions,
  planDecisions,
  schemaPlace,
  withDecision,
} from './decisions.ts';
import type { Decisions } from './decisions.ts';

const document: DocumentChange = {
  ns: 'shop.products',
  id: 'cDE=',
  kind: 'modified',
  conflict: true,
  fields: [
    { path: ['price'], base: 'YQ==', parent: 'Yg==', branch: 'Yw==', class: 'divergent' },
    { path: ['stock'], base: 'YQ==', parent: 'YQ==', branch: 'ZA==', class: 'clean' },
  ],
};
const [place] = conflictPlaces(document);
const places = conflictPlaces(document);
const names = { parent: 'main', branch: 'price-update' };
const none: Decisions = new Map();

describe('decisions', () => {
  it('are asked for fields that both sides changed otherwise, and for no others', () => {
    expect(conflictPlaces(document).map(({ path }) => path)).toEqual([['price']]);
    expect(isDecided(none, document)).toBe(false);
    expect(isDecided(withDecision(none, place!, { side: 'parent' }), document)).toBe(true);
  });

  it('are handed on by the names of the branches', () => {
    expect(planDecisions(withDecision(none, place!, { side: 'branch' }), places, names)).toEqual([
      { target: { ns: 'shop.products', id: 'cDE=', path: ['price'] }, take: { side: 'price-update' } },
    ]);
    expect(planDecisions(none, places, names)).toEqual([]);
  });

  it('hand on a typed value as it is, and a schema item by what it is', () => {
    const item = { type: 'validator', kind: 'modified', ns: 'shop.orders', conflict: true } as const;
    const schema = schemaPlace(item)!;
    const decided = withDecision(withDecision(none, place!, { value: 'EAUAAAA=' }), schema, { side: 'parent' });
    expect(planDecisions(decided, [schema, ...places], names)).toEqual([
      { target: { ns: 'shop.orders', schema: { type: 'validator', kind: 'modified' } }, take: { side: 'main' } },
      { target: { ns: 'shop.products', id: 'cDE=', path: ['price'] }, take: { value: 'EAUAAAA=' } },
    ]);
    expect(schemaPlace({ ...item, conflict: false })).toBeUndefined();
  });

  it('are kept while their sides stay, and asked for again when one moves', () => {
    const decided = withDecision(none, place!, { side: 'branch' });
    expect(keepDecisions(decided, places, 'now')).toEqual({ decisions: decided, reopened: new Map() });
    const moved = { ...document, fields: [{ ...document.fields[0]!, parent: 'ZQ==' }] };
    const { decisions, reopened } = keepDecisions(decided, conflictPlaces(moved), '14:41');
    expect(decisions.size).toBe(0);
    expect([...reopened.values()]).toEqual([{ side: 'parent', at: '14:41' }]);
  });

  it('count as a change unless they leave the parent as it is', () => {
    const only = { ...document, fields: [document.fields[0]!] };
    expect(changesParent(withDecision(none, place!, { side: 'parent' }), only)).toBe(false);
    expect(changesParent(withDecision(none, place!, { side: 'branch' }), only)).toBe(true);
    expect(changesParent(withDecision(none, place!, { side: 'parent' }), document)).toBe(true);
    expect(changesParent(withDecision(none, place!, { value: place!.parent! }), only)).toBe(false);
    expect(changesParent(withDecision(none, place!, { value: 'ZZ==' }), only)).toBe(true);
  });
});
