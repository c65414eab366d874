import { Int32, serialize } from 'bson';
import type { Document } from 'bson';
import { describe, expect, it } from 'vitest';
import { documentValue, toBase64 } from '../../shared/bson/value.ts';
import { linesOf } from '../bson/lines-job.ts';
import { withDecision } from './decisions.ts';
import type { Choice, Decisions } from './decisions.ts';
import { mergedDocument } from './merged-document.ts';
import { resultLines } from './result-lines.ts';
import { everything, withFields } from './selection.ts';

const [ns, id] = ['shop.items', 'cDE='];
type Path = (string | number)[];

function bson(document: Document | undefined): string | undefined {
  return document === undefined ? undefined : toBase64(documentValue(serialize(document)));
}

function number(value: number): string {
  return toBase64(Uint8Array.of(0x10, ...new Uint8Array(new Int32Array([value]).buffer)));
}

/** The lines of the result as text: sign, name and value, and the source. */
function drawn(
  [base, parent, branch]: readonly (Document | undefined)[],
  choices: readonly (readonly [Path, Choice])[] = [],
  selection = everything,
): string[] {
  const sides = { base: bson(base), parent: bson(parent), branch: bson(branch), writes: { count: 0, actors: [] } };
  const decisions = choices.reduce(
    (all: Decisions, [path, choice]) =>
      withDecision(all, { ns, id, path, base: undefined, parent: undefined, branch: undefined }, choice),
    new Map(),
  );
  const { result, before, fields, sources } = mergedDocument(
    Object.fromEntries(Object.entries(sides).filter(([, side]) => side !== undefined)) as typeof sides & object,
    { ns, id, decisions, selection, strict: false },
  );
  const lines = linesOf({ base: before, target: result, fields, form: 'tree', options: { opened: new Set() } });
  const signs = { plain: ' ', fold: '…', add: '+', rem: '-', mod: '~', con: '!' };
  return resultLines(lines, sources).map(
    ({ tone, name, pieces, source }) =>
      `${signs[tone]} ${name === undefined ? '' : `${name}: `}${pieces.map(({ text }) => text).join('')}${source === undefined ? '' : ` (${source})`}`,
  );
}

const int = (value: number) => new Int32(value);

describe('a document as it would be', () => {
  const base = { _id: 1, price: int(1), stock: int(1), tags: ['a'], kind: 'x', old: true };
  const parent = { _id: 1, price: int(2), stock: int(9), tags: ['a'], kind: 'y', old: true };
  const branch = { _id: 1, price: int(3), stock: int(1), tags: ['a', 'b'], kind: 'y' };

  it('says of each new value which side it comes from, and what is not decided', () => {
    expect(drawn([base, parent, branch])).toEqual([
      '  _id: 1',
      '! price: not decided (open)',
      '~ stock: 9 (parent)',
      '~ tags: ["a", "b"] (branch)',
      '~ kind: "y" (both)',
      '- old: true (branch)',
    ]);
  });

  it('follows what is decided, typed and left out', () => {
    expect(drawn([base, parent, branch], [[['price'], { side: 'parent' }]])).toContain('~ price: 2 (parent)');
    expect(drawn([base, parent, branch], [[['price'], { side: 'branch' }]])).toContain('~ price: 3 (branch)');
    expect(drawn([base, parent, branch], [[['price'], { value: number(7) }]])).toContain('~ price: 7 (edited)');
    const without = withFields(everything, ns, id, [['tags', 1]], false, [['tags', 1], ['old'], ['kind']]);
    expect(drawn([base, parent, branch], [], without)).not.toContain('~ tags: ["a", "b"] (branch)');
  });

  it('finds elements by their ids, wherever they stand on the sides', () => {
    const list = (...numbers: number[][]) => ({ list: numbers.map(([_id, n]) => ({ _id, n: int(n ?? 0) })) });
    const lines = drawn([list([1, 1], [2, 1], [3, 1]), list([0, 5], [1, 1], [2, 4], [3, 1]), list([1, 8], [2, 1])]);
    expect(lines.filter((line) => line.endsWith(')'))).toEqual([
      '+ { _id: 0, n: 5 } (parent)',
      '~ n: 8 (branch)',
      '~ n: 4 (parent)',
      '- { _id: 3, n: 1 } (branch)',
    ]);
  });

  it('has one line for a document that is decided as a whole', () => {
    expect(drawn([base, undefined, branch])).toEqual(['! document: not decided (open)']);
    expect(drawn([base, parent, undefined]).slice(0, 3)).toEqual([
      '! document: not decided (open)',
      '  _id: 1',
      '  price: 2',
    ]);
    expect(drawn([base, parent, undefined], [[[], { side: 'branch' }]])[0]).toBe('- _id: 1 (branch)');
    expect(drawn([undefined, { _id: 1, n: 1 }, { _id: 1, n: 2 }], [[[], { side: 'branch' }]])).toEqual([
      '+ _id: 1 (branch)',
      '+ n: 2',
    ]);
  });

  it('asks for a decision at the element that it is about', () => {
    const list = (...numbers: number[][]) => ({ list: numbers.map(([_id, n]) => ({ _id, n: int(n ?? 0) })) });
    const lines = drawn([list([1, 1], [2, 1]), list([0, 5], [1, 2], [2, 1]), list([1, 3], [2, 1])]);
    expect(lines).toEqual([
      '  list: [',
      '+ { _id: 0, n: 5 } (parent)',
      '  {',
      '  _id: 1',
      '! n: not decided (open)',
      '  }',
      '  { _id: 2, n: 1 }',
      '  ]',
    ]);
  });
});
