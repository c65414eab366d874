import { describe, expect, it } from 'vitest';
import { parseShell } from '../../shared/bson/shell-reader.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { amongIds, mistakeIn, nextSort, sortDirection } from './query.ts';

describe('a filter', () => {
  it('is right in shell notation and in Extended JSON, and when nothing was typed', () => {
    for (const text of ['', '{ "price.amount": { $gt: 100 } }', '{_id: ObjectId("6748aa0000000000000000ff")}', '{}']) {
      expect(mistakeIn(text)).toBeUndefined();
    }
  });

  it('says where it cannot be read', () => {
    expect(mistakeIn('{ price: { $gt: } }')).toMatchObject({ at: 16 });
    expect(mistakeIn('{ a: 1,\n  b: @ }')?.at).toBe(13);
    expect(mistakeIn('5')).toEqual({ message: 'Write an object: { … }.', at: undefined });
  });

  it('is narrowed to documents whatever type their ids have', () => {
    const ids = ['"a"', '{"$oid":"6748aa0000000000000000ff"}', '{"$numberLong":"3"}'].map((text) =>
      toBase64(parseShell(text)),
    );
    expect(toEjson(parseShell(amongIds('{ stock: 0 }', ids)))).toBe(
      '{"$and":[{"_id":{"$in":["a",{"$oid":"6748aa0000000000000000ff"},{"$numberLong":"3"}]}},{"stock":{"$numberInt":"0"}}]}',
    );
    expect(toEjson(parseShell(amongIds('', ids.slice(0, 1))))).toBe('{"_id":{"$in":["a"]}}');
  });
});

describe('a sort', () => {
  it('goes from ascending over descending to none', () => {
    expect(nextSort('', 'price.amount')).toBe('{ "price.amount": 1 }');
    expect(nextSort('{ "price.amount": 1 }', 'price.amount')).toBe('{ "price.amount": -1 }');
    expect(nextSort("{ 'price.amount': -1 }", 'price.amount')).toBe('');
    expect(nextSort('{ stock: 1 }', 'name')).toBe('{ "name": 1 }');
  });

  it('is told of a column only where that is all it orders by', () => {
    expect(sortDirection('{ stock: -1 }', 'stock')).toBe('descending');
    expect(sortDirection('{ stock: -1, name: 1 }', 'stock')).toBeUndefined();
  });
});
