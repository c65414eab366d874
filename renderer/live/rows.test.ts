import { describe, expect, it } from 'vitest';
import type { Change } from '../../shared/api.ts';
import { feedRows, noFilter, passes } from './rows.ts';

const start = Date.parse('2026-11-29T12:00:00Z');

function change(seq: number, more: Partial<Change> = {}): Change {
  return { seq, time: new Date(start + seq * 1000).toISOString(), op: 'update', ns: 'shop.products', ...more };
}

describe('the rows of a feed', () => {
  it('stand newest first', () => {
    const rows = feedRows([change(1), change(2), change(3)], new Set());
    expect(rows.map((row) => row.key)).toEqual(['3', '2', '1']);
  });

  it('group the writes of a transaction, oldest first inside', () => {
    const inside = { transaction: 't1' };
    const rows = feedRows([change(1), change(2, inside), change(3, inside), change(4)], new Set());
    expect(rows.map((row) => row.key)).toEqual(['4', 'group-t1', '2', '3', '1']);
    const closed = feedRows([change(2, inside), change(3, inside)], new Set(['group-t1']));
    expect(closed.map((row) => row.key)).toEqual(['group-t1']);
  });

  it('leave a transaction of one write as a write', () => {
    expect(feedRows([change(1, { transaction: 't1' })], new Set()).map((row) => row.kind)).toEqual(['change']);
  });

  it('close many alike writes in a short time into a burst, but not the four of a small script', () => {
    const fast = (seq: number) => change(seq, { time: new Date(start + seq * 10).toISOString() });
    const many = Array.from({ length: 20 }, (_, index) => fast(index + 1));
    expect(feedRows(many, new Set()).map((row) => row.kind)).toEqual(['group']);
    expect(feedRows(many.slice(0, 4), new Set())).toHaveLength(4);
  });

  it('keep a burst apart from a gap and from other collections', () => {
    const fast = (seq: number, more: Partial<Change> = {}) =>
      change(seq, { time: new Date(start + seq).toISOString(), ...more });
    const rows = feedRows(
      [
        ...Array.from({ length: 12 }, (_, index) => fast(index + 1)),
        fast(13, { op: 'gap' }),
        fast(14, { ns: 'shop.orders' }),
      ],
      new Set(),
    );
    expect(rows.map((row) => row.kind)).toEqual(['change', 'gap', 'group']);
  });
});

describe('the filter', () => {
  const text = (one: Change) => `${one.ns ?? ''} kb-104`;
  it('finds by kind, collection, actor and text', () => {
    const one = change(1, { actor: 'claude-code' });
    expect(passes(one, noFilter, text)).toBe(true);
    expect(passes(one, { ...noFilter, hidden: new Set(['modified']) }, text)).toBe(false);
    expect(passes(one, { ...noFilter, collection: 'shop.orders' }, text)).toBe(false);
    expect(passes(one, { ...noFilter, actor: 'cursor' }, text)).toBe(false);
    expect(passes(one, { ...noFilter, text: 'kb-104' }, text)).toBe(true);
  });

  it('takes "one of" actors for each of them', () => {
    const one = change(1, { actors: ['claude-code', 'cursor'] });
    expect(passes(one, { ...noFilter, actor: 'cursor' }, text)).toBe(true);
  });

  it('never hides a gap', () => {
    expect(passes(change(1, { op: 'gap' }), { ...noFilter, text: 'nothing' }, text)).toBe(true);
  });
});
