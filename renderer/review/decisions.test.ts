import { describe, expect, it } from 'vitest';
import type { DocumentChange } from '../../shared/api.ts';
import { changesParent, conflictPlaces, isDecided, keepDecisions, planDecisions, withDecision } from './decisions.ts';
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
const none: Decisions = new Map();

describe('decisions', () => {
  it('are asked for fields that both sides changed otherwise, and for no others', () => {
    expect(conflictPlaces(document).map(({ path }) => path)).toEqual([['price']]);
    expect(isDecided(none, document)).toBe(false);
    expect(isDecided(withDecision(none, place!, 'parent'), document)).toBe(true);
  });

  it('are handed on by the names of the branches', () => {
    const names = { parent: 'main', branch: 'price-update' };
    expect(planDecisions(withDecision(none, place!, 'branch'), [document], names)).toEqual([
      { target: { ns: 'shop.products', id: 'cDE=', path: ['price'] }, take: { side: 'price-update' } },
    ]);
    expect(planDecisions(none, [document], names)).toEqual([]);
  });

  it('are kept while their sides stay, and asked for again when one moves', () => {
    const decided = withDecision(none, place!, 'branch');
    expect(keepDecisions(decided, [document]).size).toBe(1);
    const moved = { ...document, fields: [{ ...document.fields[0]!, parent: 'ZQ==' }] };
    expect(keepDecisions(decided, [moved]).size).toBe(0);
  });

  it('count as a change unless they leave the parent as it is', () => {
    const only = { ...document, fields: [document.fields[0]!] };
    expect(changesParent(withDecision(none, place!, 'parent'), only)).toBe(false);
    expect(changesParent(withDecision(none, place!, 'branch'), only)).toBe(true);
    expect(changesParent(withDecision(none, place!, 'parent'), document)).toBe(true);
  });
});
