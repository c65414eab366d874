import { describe, expect, it } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { columnChars, columnsOf, rowOf } from './columns.ts';

const rows = (...texts: string[]) =>
  texts.map((text) => {
    const value = parseEjson(text);
    return rowOf(toBase64(value), value);
  });

describe('the columns of a table', () => {
  it('begin with _id, follow the documents, and leave out what few have', () => {
    const documents = rows(
      ...Array.from({ length: 9 }, (_, id) => `{"_id":${id},"name":"n","stock":${id}}`),
      '{"_id":9,"odd":1,"name":"n","stock":9}',
    );
    expect(columnsOf(documents, 6)).toEqual([
      { name: '_id', numeric: false },
      { name: 'name', numeric: false },
      { name: 'stock', numeric: true },
    ]);
  });

  it('are those that most have where there is no room for all', () => {
    const documents = rows('{"_id":1,"a":1,"b":1,"c":1}', '{"_id":2,"b":1,"c":1}');
    expect(columnsOf(documents, 2).map(({ name }) => name)).toEqual(['_id', 'b', 'c']);
  });

  it('look into objects, and leave out what repeats the _id', () => {
    const documents = rows(
      '{"_id":"a","sku":"a","price":{"amount":1,"currency":"EUR"},"tags":[1]}',
      '{"_id":"b","sku":"b","price":{"amount":2,"currency":"EUR"},"tags":[2]}',
    );
    expect(columnsOf(documents, 2)).toEqual([
      { name: '_id', numeric: false },
      { name: 'price.amount', numeric: true },
      { name: 'price.currency', numeric: false },
    ]);
  });

  it('are not those that are the same in all, while there is better', () => {
    const documents = rows('{"_id":1,"kind":"a","n":7,"on":true}', '{"_id":2,"kind":"a","n":8,"on":false}');
    expect(columnsOf(documents, 2).map(({ name }) => name)).toEqual(['_id', 'n', 'on']);
  });

  it('of no documents are _id alone', () => {
    expect(columnsOf([], 4)).toEqual([{ name: '_id', numeric: false }]);
  });

  it('are as wide as most of their values, within bounds', () => {
    const documents = rows(
      ...Array.from({ length: 20 }, (_, at) => `{"_id":${String(at)},"name":"${'x'.repeat(at === 7 ? 60 : 10)}"}`),
    );
    expect(columnChars(documents, 'name')).toBe(12);
    expect(columnChars(documents, '_id')).toBe(7);
    expect(columnChars(rows(`{"_id":1,"text":"${'y'.repeat(90)}"}`), 'text')).toBe(24);
    expect(columnChars([], 'name')).toBe(7);
  });
});
