import { describe, expect, it } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { columnsOf, rowOf } from './columns.ts';

const rows = (...texts: string[]) =>
  texts.map((text) => {
    const value = parseEjson(text);
    return rowOf(toBase64(value), value);
  });

const names = (documents: ReturnType<typeof rows>, room: number) => columnsOf(documents, room).map(({ name }) => name);
/** Of columns as narrow as they come, so many beside the _id. */
const narrow = (count: number) => 7 + count * 9;

describe('the columns of a table', () => {
  it('begin with _id, follow the documents, and leave out what few have', () => {
    const documents = rows(
      ...Array.from({ length: 9 }, (_, id) => `{"_id":${id},"name":"n","stock":${id}}`),
      '{"_id":9,"odd":1,"name":"n","stock":9}',
    );
    expect(columnsOf(documents, narrow(6))).toEqual([
      { name: '_id', numeric: false, chars: 7 },
      { name: 'name', numeric: false, chars: 7 },
      { name: 'stock', numeric: true, chars: 7 },
    ]);
  });

  it('are those that most have where there is no room for all', () => {
    const documents = rows('{"_id":1,"a":1,"b":1,"c":1}', '{"_id":2,"b":1,"c":1}');
    expect(names(documents, narrow(2))).toEqual(['_id', 'b', 'c']);
  });

  it('look into objects, and leave out what repeats the _id', () => {
    const documents = rows(
      '{"_id":"a","sku":"a","price":{"amount":1,"currency":"EUR"},"tags":[1]}',
      '{"_id":"b","sku":"b","price":{"amount":2,"currency":"EUR"},"tags":[2]}',
    );
    expect(columnsOf(documents, 40)).toEqual([
      { name: '_id', numeric: false, chars: 7 },
      { name: 'price.amount', numeric: true, chars: 11 },
      { name: 'price.currency', numeric: false, chars: 13 },
    ]);
  });

  it('are not those that are the same in all, while there is better', () => {
    const documents = rows('{"_id":1,"kind":"a","n":7,"on":true}', '{"_id":2,"kind":"a","n":8,"on":false}');
    expect(names(documents, narrow(2))).toEqual(['_id', 'n', 'on']);
  });

  it('of no documents are _id alone', () => {
    expect(columnsOf([], 40)).toEqual([{ name: '_id', numeric: false, chars: 7 }]);
  });

  it('are as wide as most of their values, within bounds', () => {
    const documents = rows(
      ...Array.from({ length: 20 }, (_, at) => `{"_id":${String(at)},"name":"${'x'.repeat(at === 7 ? 60 : 10)}"}`),
    );
    expect(columnsOf(documents, 40).map(({ chars }) => chars)).toEqual([7, 10]);
    const long = rows(`{"_id":1,"text":"${'y'.repeat(90)}"}`);
    expect(columnsOf(long, 40)[1]?.chars).toBe(22);
  });

  it('that are too wide leave their place to narrower ones; one beside the _id is there in any case', () => {
    const documents = rows('{"_id":1,"name":"Walnut standing desk","note":"also quite long","stock":3}');
    expect(names(documents, 40)).toEqual(['_id', 'name', 'stock']);
    expect(names(documents, 60)).toEqual(['_id', 'name', 'note', 'stock']);
    expect(names(documents, 10)).toEqual(['_id', 'name']);
  });
});
