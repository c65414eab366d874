import { Int32, serialize } from 'bson';
import type { Document } from 'bson';
import { describe, expect, it } from 'vitest';
import { documentValue, sameBytes, toBase64 } from '../../shared/bson/value.ts';
import { applyDelta, diffDocument } from '../../shared/changes/delta.ts';
import { ejsonLines } from './ejson-lines.ts';
import { linesOf } from './lines-job.ts';
import type { Line } from './line.ts';
import { sideRows } from './side-rows.ts';

const api = (bytes: Uint8Array): string => toBase64(documentValue(bytes));

function drawn(lines: readonly Line[]): string[] {
  const signs = { plain: ' ', fold: '…', add: '+', rem: '-', mod: '~', con: '!' };
  return lines.map((line) => {
    const text = line.pieces.map((piece) => piece.text).join('');
    const note = line.note === undefined ? '' : ` (${line.note})`;
    return `${signs[line.tone]} ${line.name === undefined ? '' : `${line.name}: `}${text}${note}`;
  });
}

function change(before: Document, after: Document, opened: readonly string[] = []): Line[] {
  const [base, target] = [serialize({ _id: 1, ...before }), serialize({ _id: 1, ...after })];
  // Whatever is drawn, what is written is the whole exact value.
  const delta = diffDocument(base, target);
  expect(sameBytes(applyDelta(base, delta)!, target)).toBe(true);
  const options = { opened: new Set(opened) };
  return linesOf({ base: api(base), target: api(target), form: 'tree', options });
}

describe('DF-05: moves and reorders', () => {
  it('numbers turned over are said to have moved', () => {
    expect(drawn(change({ list: [1, 2, 3] }, { list: [3, 2, 1] })).slice(1)).toEqual([
      '- list: [1, 2, 3]',
      '+ list: [3, 2, 1] (2 elements moved)',
    ]);
  });

  it('one of fifty objects at the front is one moved row', () => {
    const items = Array.from({ length: 50 }, (_, at) => ({ _id: `item-${String(at)}`, n: at }));
    const lines = change({ items }, { items: [items[49]!, ...items.slice(0, 49)] });
    const changed = lines.filter((line) => line.tone !== 'plain' && line.tone !== 'fold');
    expect(drawn(changed)).toEqual(['~ item-49 moved to the front (only the order)']);
  });

  it('a moved object that was edited as well shows both', () => {
    const items = ['a', 'b', 'c'].map((_id) => ({ _id, price: 10, text: 'a text that makes it longer than one line' }));
    const edited = [{ ...items[2]!, price: 12 }, items[0]!, items[1]!];
    const text = drawn(change({ items }, { items: edited }));
    expect(text).toContain('~ c moved to the front (only the order)');
    expect(text).toContain('- price: 10');
    expect(text).toContain('+ price: 12');
  });

  it('fields in another order are told by the one that moved', () => {
    const lines = change({ o: { a: 1, b: 2, c: 3 } }, { o: { c: 3, a: 1, b: 2 } });
    expect(drawn(lines)).toContain('~ c moved to the front (only the order)');
  });
});

describe('DF-07: huge arrays', () => {
  const numbers = Array.from({ length: 200_000 }, (_, at) => new Int32((at * 7_919) % 200_003));

  it('200,000 sorted numbers are a short summary within seconds', () => {
    const [before, after] = [{ list: numbers }, { list: [...numbers].sort((a, b) => a.valueOf() - b.valueOf()) }];
    // What it computes, whoever else uses the machine; microseconds.
    const began = process.cpuUsage();
    const lines = change(before, after);
    expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
    expect(lines.length).toBeLessThan(20);
    expect(drawn(lines).join('\n')).toMatch(
      /The same 200,000 elements in another order: [\d,]+ of 200,000 kept elements moved/,
    );
  });

  it('20,000 objects of which many changed show the first differences and open more', () => {
    const items = Array.from({ length: 20_000 }, (_, at) => ({ sku: `p${String(at)}`, stock: at }));
    const after = { items: items.map((item, at) => (at % 4 === 0 ? { ...item, stock: -at - 1 } : item)) };
    // What it computes, whoever else uses the machine; microseconds.
    const began = process.cpuUsage();
    const lines = change({ items }, after);
    expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
    expect(lines.length).toBeLessThan(500);
    const text = drawn(lines).join('\n');
    expect(text).toContain('5,000 elements removed, 5,000 elements added');
    const fold = lines.find((line) => line.tone === 'fold' && /more differences/.test(line.pieces[0]?.text ?? ''));
    expect(change({ items }, after, [fold!.key]).length).toBeGreaterThan(lines.length + 1_000);
  });

  it('a few changes in a huge array are shown in place', () => {
    const list = [...numbers];
    list.splice(100_000, 1);
    list.splice(150_000, 0, new Int32(-5));
    const text = drawn(change({ list: numbers }, { list }));
    expect(text.filter((line) => line.startsWith('-') || line.startsWith('+'))).toHaveLength(2);
    expect(text).toContain('… 100,000 unchanged elements');
  });

  it('a new huge array is drawn in parts', () => {
    const lines = change({}, { list: numbers });
    expect(lines.length).toBeLessThan(300);
    expect(drawn(lines)).toContain('… 199,800 more elements');
  });
});

describe('DF-08: a long string in a document', () => {
  it('shows its changed word, and all of it on demand', () => {
    const text = Array.from({ length: 3_000 }, (_, at) => `w${String(at)}`).join(' ');
    const [before, after] = [{ text }, { text: text.replace('w1500 ', 'HERE ') }];
    const lines = change(before, after);
    expect(drawn(lines).join('\n')).toContain('HERE');
    const fold = lines.find((line) => line.pieces[0]?.text.startsWith('Show the whole text'));
    const whole = change(before, after, [fold!.key]).filter((line) => line.key.includes('text1/'));
    expect(whole.map((line) => line.pieces[0]!.text).join('')).toBe(after.text);
  });

  it('with lines is compared line by line', () => {
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    const after = lines.map((line) => (line === 'seven' ? 'seven and a half' : line));
    expect(drawn(change({ text: lines.join('\n') }, { text: after.join('\n') })).slice(1)).toEqual([
      '~ text: text of 8 lines',
      '… 4 unchanged lines',
      '  five',
      '  six',
      '- seven',
      '+ seven and a half',
      '  eight',
    ]);
  });

  it('whose line ends alone changed says so', () => {
    const [dos, unix] = ['a line\r\nand another\r\n', 'a line\nand another\n'];
    const text = drawn(change({ text: dos }, { text: unix }));
    expect(text).toContain('- a line\\r');
    expect(text).toContain('+ a line');
  });
});

describe('DF-09: array edges', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['[null] to []', [null], [], ['- list: [null]', '+ list: []']],
    ['[] to {}', [], {}, ['- list: []', '+ list: {}']],
    ['[[1],[2]] to [[1,2]]', [[1], [2]], [[1, 2]], ['- [1]', '+ [1, 2]', '- [2] (element removed)']],
    ['array to scalar', [1, 2], 3, ['- list: [1, 2]', '+ list: 3']],
    ['scalar to array', 'x', ['x'], ['- list: "x"', '+ list: ["x"]']],
    ['[] to [undefined element]', [], [null], ['- list: []', '+ list: [null]']],
  ])('%s', (_, before, after, expected) => {
    const text = drawn(change({ list: before }, { list: after }));
    for (const line of expected) expect(text.map((one) => one.replace(' (new field)', ''))).toContain(line);
  });
});

describe('side by side', () => {
  it('puts what was beside what is, and every line in one row', () => {
    const lines = change({ a: 1, b: 'old', c: true }, { a: 2, b: 'new', d: false });
    const rows = sideRows(lines).map(({ left, right }) => [left && drawn([left])[0], right && drawn([right])[0]]);
    expect(rows).toContainEqual(['- a: 1', '+ a: 2']);
    expect(rows).toContainEqual(['- b: "old"', '+ b: "new"']);
    expect(rows).toContainEqual([undefined, '+ d: false (new field)']);
    const shown = sideRows(lines).flatMap(({ left, right }) => [left, right]);
    expect(lines.every((line) => shown.includes(line))).toBe(true);
  });
});

describe('the EJSON view', () => {
  it('shows both texts whole, with types, line by line', () => {
    const [base, target] = [
      serialize({ _id: 1, n: new Int32(1), l: [1, 2] }),
      serialize({ _id: 1, n: 1.5, l: [1, 2] }),
    ];
    expect(drawn(ejsonLines(documentValue(base), documentValue(target), new Set()))).toEqual([
      '  {',
      '    "_id": {"$numberInt":"1"},',
      '-   "n": {"$numberInt":"1"},',
      '+   "n": {"$numberDouble":"1.5"},',
      '    "l": [',
      '      {"$numberInt":"1"},',
      '      {"$numberInt":"2"}',
      '    ]',
      '  }',
    ]);
  });
});
