import { describe, expect, it } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { documentLines } from './document-lines.ts';

const document = parseEjson(
  '{"_id":"KB-104","price":{"amount":{"$numberDecimal":"135.45"},"currency":"EUR"},"tags":["wood","75%"],"empty":{}}',
);
const text = (lines: ReturnType<typeof documentLines>) =>
  lines.map(({ tone, depth, name, pieces, note }) =>
    [
      tone,
      '  '.repeat(depth) + (name === undefined ? '' : `${name}: `) + pieces.map((one) => one.text).join(''),
      note ?? '',
    ].join('|'),
  );

describe('the lines of a document', () => {
  it('say the type of each value; short arrays stand on one line', () => {
    expect(text(documentLines(document, []))).toEqual([
      'plain|_id: "KB-104"|String',
      'plain|price: {|Object',
      'plain|  amount: 135.45|Decimal128',
      'plain|  currency: "EUR"|String',
      'plain|}|',
      'plain|tags: ["wood", "75%"]|Array 2',
      'plain|empty: {}|Object',
    ]);
  });

  it('mark what differs from the parent: changed, new, and inside an array that has one line', () => {
    const lines = documentLines(document, [
      { path: ['price', 'amount'], parent: parseEjson('1') },
      { path: ['tags', 1], parent: parseEjson('"80%"') },
      { path: ['empty'] },
    ]);
    expect(lines.filter(({ tone }) => tone !== 'plain').map(({ name, tone }) => [name, tone])).toEqual([
      ['amount', 'mod'],
      ['tags', 'mod'],
      ['empty', 'add'],
    ]);
  });

  it('mark all of a document that the parent does not have', () => {
    expect(documentLines(document, [{ path: [] }]).every(({ tone }) => tone === 'add')).toBe(true);
  });
});
