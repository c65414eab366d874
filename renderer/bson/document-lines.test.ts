import { Decimal128, Double, Int32, serialize } from 'bson';
import type { Document } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentValue } from '../../shared/bson/value.ts';
import { diffDocument } from '../../shared/changes/delta.ts';
import { diffLines, imageLines } from './document-lines.ts';
import type { Line } from './line.ts';

function linesOf(before: Document | undefined, after: Document | undefined, opened: readonly string[] = []): Line[] {
  const [old, fresh] = [before && serialize(before), after && serialize(after)];
  const { fields } = diffDocument(old, fresh);
  return diffLines(old && documentValue(old), fresh && documentValue(fresh), fields, { opened: new Set(opened) });
}

function drawn(lines: readonly Line[]): string[] {
  const signs = { plain: ' ', fold: '…', add: '+', rem: '-', mod: '~', con: '!' };
  return lines.map((line) => {
    const text = line.pieces.map((piece) => (piece.mark === undefined ? piece.text : `[${piece.text}]`)).join('');
    const types = line.types === undefined ? '' : ` ${line.types.join(' → ')}`;
    return `${signs[line.tone]} ${'  '.repeat(line.depth)}${line.name === undefined ? '' : `${line.name}: `}${text}${types}`;
  });
}

describe('the lines of a change', () => {
  it('show old and new, and fold what is alike', () => {
    const before = { _id: 'p1', name: 'Lamp', price: new Int32(49), stock: new Int32(3) };
    expect(drawn(linesOf(before, { ...before, price: new Int32(44) }))).toEqual([
      '… 2 unchanged fields: _id, name',
      '- price: 49',
      '+ price: 44',
      '  stock: 3',
    ]);
  });

  it('open a fold in place', () => {
    const before = { _id: 'p1', name: 'Lamp', price: new Int32(49) };
    const closed = linesOf(before, { ...before, price: new Int32(44) });
    const opened = linesOf(before, { ...before, price: new Int32(44) }, [closed[0]!.key]);
    expect(drawn(opened).slice(0, 2)).toEqual(['  _id: "p1"', '  name: "Lamp"']);
  });

  it('say that only the type changed in one line', () => {
    expect(drawn(linesOf({ _id: 1, n: new Int32(14) }, { _id: 1, n: new Double(14) }))[1]).toBe(
      '~ n: 14 Int32 → Double',
    );
  });

  it('go into objects, with new and removed fields', () => {
    const before = { _id: 1, price: { amount: Decimal128.fromString('420.00'), was: 1 } };
    const after = { _id: 1, price: { amount: Decimal128.fromString('441.00'), from: 'December' } };
    expect(drawn(linesOf(before, after))).toEqual([
      '  _id: 1',
      '  price: {',
      '-   amount: 420.00',
      '+   amount: 441.00',
      '-   was: 1',
      '+   from: "December"',
      '  }',
    ]);
  });

  it('show a short array as one choice with its changed elements marked', () => {
    const lines = linesOf({ _id: 1, tags: ['oak', 'sale'] }, { _id: 1, tags: ['oak', 'new'] });
    expect(drawn(lines).slice(1)).toEqual(['- tags: ["oak", ["sale"]]', '+ tags: ["oak", ["new"]]']);
    expect(lines[1]?.box).toBe(true);
    expect(lines[2]?.box).toBe(false);
  });

  it('match array elements by _id where they have one', () => {
    const element = (id: string, finish: string) => ({
      _id: id,
      finish,
      note: 'a longer text so that it does not fit a line at all',
    });
    const before = { _id: 1, variants: [element('a', 'oiled'), element('b', 'natural'), element('c', 'white')] };
    const after = { _id: 1, variants: [element('c', 'white'), element('b', 'black')] };
    const text = drawn(linesOf(before, after)).map((line) => line.replace(/ +/g, ' '));
    expect(text).toContain('- _id: "a"');
    expect(text).not.toContain('+ _id: "c"');
    const at = text.indexOf('- finish: "natural"');
    expect(text.slice(at - 1, at + 2)).toEqual([' _id: "b"', '- finish: "natural"', '+ finish: "black"']);
  });

  it('show an inserted element as one line, not as everything behind it changed', () => {
    const long = (text: string) => `${text} ${'x'.repeat(60)}`;
    const lines = linesOf(
      { _id: 1, steps: [long('a'), long('b')] },
      { _id: 1, steps: [long('a'), long('new'), long('b')] },
    );
    expect(lines.filter((line) => line.tone === 'add')).toHaveLength(1);
    expect(lines.filter((line) => line.tone === 'rem')).toHaveLength(0);
  });

  it('mark the words that changed in a sentence', () => {
    const lines = linesOf(
      { _id: 1, d: 'Solid oak top on an electric frame' },
      { _id: 1, d: 'Solid oak top on a dual-motor frame' },
    );
    expect(drawn(lines).slice(1)).toEqual([
      '- d: "Solid oak top on [an electric] frame"',
      '+ d: "Solid oak top on [a dual-motor] frame"',
    ]);
  });

  it('show a document that came or went as a whole with one box', () => {
    const added = linesOf(undefined, { _id: 1, a: 'x' });
    expect(drawn(added)).toEqual(['+ _id: 1', '+ a: "x"']);
    expect(added.filter((line) => line.box)).toHaveLength(1);
    expect(drawn(linesOf({ _id: 1 }, undefined))).toEqual(['- _id: 1']);
  });

  it('say that only the order changed', () => {
    expect(drawn(linesOf({ _id: 1, a: 1, b: 2 }, { _id: 1, b: 2, a: 1 }))[0]).toBe('~ b [moved behind _id]');
  });

  it('keep names that mean something to JavaScript', () => {
    const before = JSON.parse('{"_id":1,"__proto__":{"x":1},"constructor":1}') as Document;
    const after = JSON.parse('{"_id":1,"__proto__":{"x":2},"constructor":2}') as Document;
    const text = drawn(linesOf(before, after)).join('\n');
    expect(text).toContain('__proto__');
    expect(text).toContain('- constructor: 1');
  });

  it('lay a conflict out as base and both sides', () => {
    const text = (value: string) => documentValue(serialize({ v: value }));
    const change = { path: ['v'], base: text('a'), parent: text('b'), branch: text('c'), class: 'divergent' as const };
    const document = documentValue(serialize({ _id: 1, v: 'c' }));
    const lines = diffLines(document, document, [change], {
      opened: new Set(),
      names: { parent: 'main', branch: 'price-update' },
    });
    const sides = lines.filter((line) => line.tone === 'con').map((line) => [line.note, line.side]);
    expect(sides).toEqual([
      ['base', undefined],
      ['main', 'parent'],
      ['price-update', 'branch'],
    ]);
  });

  it('give each change a line, whatever the documents are', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true }));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', '_id'), tie('value'), { maxKeys: 3 }),
      ),
    }));
    const document = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { maxKeys: 4 });
    fc.assert(
      fc.property(document, document, (before, after) => {
        const [old, fresh] = [serialize({ _id: 1, ...before }), serialize({ _id: 1, ...after })];
        const { fields } = diffDocument(old, fresh);
        const lines = diffLines(documentValue(old), documentValue(fresh), fields, { opened: new Set() });
        const told = new Set(lines.flatMap((line) => line.changes));
        expect([...told].sort((a, b) => a - b)).toEqual(fields.map((_, index) => index));
        expect(new Set(lines.map((line) => line.key)).size).toBe(lines.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the lines of one image', () => {
  it('keep the order of fields and open what does not fit a line', () => {
    const image = documentValue(serialize({ b: 1, a: { text: 'x'.repeat(70) }, c: [] }));
    expect(drawn(imageLines(image))).toEqual(['  b: 1', '  a: {', `    text: "${'x'.repeat(70)}"`, '  }', '  c: []']);
  });
});
