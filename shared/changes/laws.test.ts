/** What holds for any documents: compare, merge and delta over arbitrary BSON and arbitrary edits of it. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyDocument, anyValue } from '../bson/arbitrary.ts';
import { editedDocuments } from './arbitrary.ts';
import { documentValue, sameBytes } from '../bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../bson/walk.ts';
import { toEjson } from '../bson/ejson.ts';
import { compareDocument, type FieldDelta, mergeDocument, type Sides } from './compare.ts';
import { applyDelta, diffDocument, isEmptyDelta, reverseDelta } from './delta.ts';

const runs = { numRuns: 400 };
/** Two versions of one document, either of which may not exist. */
const pair = fc.oneof(
  { weight: 8, arbitrary: editedDocuments(1) },
  { weight: 2, arbitrary: fc.tuple(anyDocument, anyDocument) },
  { weight: 1, arbitrary: fc.tuple(fc.constant(undefined), anyDocument) },
  { weight: 1, arbitrary: fc.tuple(anyDocument, fc.constant(undefined)) },
) as fc.Arbitrary<[Uint8Array | undefined, Uint8Array | undefined]>;
const three: fc.Arbitrary<Sides> = fc
  .tuple(editedDocuments(2), fc.nat(11))
  .map(([[base, parent, branch], missing]) => ({
    base: missing === 0 ? undefined : base,
    parent: missing === 1 ? undefined : parent,
    branch: missing === 2 ? undefined : branch,
  }));

function shown(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'absent' : toEjson(documentValue(bytes));
}

function expectSame(actual: Uint8Array | undefined, expected: Uint8Array | undefined): void {
  if (!sameBytes(actual, expected)) expect(shown(actual)).toBe(shown(expected));
  expect(sameBytes(actual, expected)).toBe(true);
}

describe('deltas', { timeout: 60_000 }, () => {
  test('applied to the one image a delta gives the other, and reversed leads back', () => {
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const delta = diffDocument(before, after);
        const there = applyDelta(before, delta);
        expectSame(there, after);
        expectSame(applyDelta(there, reverseDelta(delta)), before);
      }),
      runs,
    );
  });

  test('a delta is empty exactly where both images have the same bytes', () => {
    fc.assert(
      fc.property(pair, ([before, after]) => {
        expect(isEmptyDelta(diffDocument(before, after))).toBe(sameBytes(before, after));
        expect(isEmptyDelta(diffDocument(after, after))).toBe(true);
      }),
      runs,
    );
  });
});

describe('compare and merge', { timeout: 60_000 }, () => {
  test('taking every change into an untouched parent gives the branch, taking none leaves the parent', () => {
    fc.assert(
      fc.property(pair, ([base, branch]) => {
        const sides = { base, parent: base, branch };
        expectSame(mergeDocument(sides, () => 'branch').result, branch);
        expectSame(mergeDocument(sides, () => 'parent').result, base);
        const compared = compareDocument(sides);
        expect(compared === undefined).toBe(sameBytes(base, branch));
        expect(compared?.fields.every((entry) => entry.class === 'clean') ?? true).toBe(true);
        expect(compared?.conflict ?? false).toBe(false);
      }),
      runs,
    );
  });

  test('any of the changes can be taken alone: what is not chosen stays, and what results has the rest still to take', () => {
    fc.assert(
      fc.property(pair, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), ([base, branch], picks) => {
        let asked = 0;
        const some = mergeDocument({ base, parent: base, branch }, () => (picks[asked++ % 12] ? 'branch' : 'parent'));
        expect(asked).toBe(compareDocument({ base, parent: base, branch })?.fields.length ?? 0);
        if (some.result !== undefined) elements(some.result);
      }),
      runs,
    );
  });

  test('three sides: leaving everything as the parent has it gives exactly its bytes', () => {
    fc.assert(
      fc.property(three, fc.boolean(), (sides, strict) => {
        expectSame(mergeDocument(sides, () => 'parent', { strict }).result, sides.parent);
      }),
      runs,
    );
  });

  test('three sides: merge asks about exactly the entries that compare lists, and every one has what its class says', () => {
    fc.assert(
      fc.property(three, (sides) => {
        const compared = compareDocument(sides);
        const asked: FieldDelta[] = [];
        mergeDocument(sides, (entry) => {
          asked.push(entry);
          return 'branch';
        });
        const text = (entry: FieldDelta): string => JSON.stringify([entry.path, entry.order === true, entry.class]);
        expect(asked.map(text).sort()).toEqual((compared?.fields ?? []).map(text).sort());
        expect(compared?.conflict ?? false).toBe(asked.some((entry) => entry.class === 'divergent'));
        for (const entry of asked) {
          if (entry.order) continue;
          expect(sameBytes(entry.branch, entry.base)).toBe(false);
          if (entry.class === 'clean') expect(sameBytes(entry.parent, entry.base)).toBe(true);
          if (entry.class === 'divergent') expect(sameBytes(entry.parent, entry.branch)).toBe(false);
        }
        if (compared !== undefined) expect(asked.some((entry) => entry.class !== 'convergent')).toBe(true);
      }),
      runs,
    );
  });

  test('nothing is to be adopted where the branch is as the base or as the parent', () => {
    fc.assert(
      fc.property(editedDocuments(1), ([one, two]) => {
        expect(compareDocument({ base: one, parent: two, branch: one })).toBeUndefined();
        expect(compareDocument({ base: one, parent: two, branch: two })).toBeUndefined();
      }),
    );
  });

  test('adopted changes are there: with no conflict, comparing again finds nothing that the branch alone has', () => {
    fc.assert(
      fc.property(three, (sides) => {
        const compared = compareDocument(sides);
        if (compared === undefined || compared.conflict) return;
        const { result } = mergeDocument(sides, () => 'branch');
        const again = compareDocument({ ...sides, parent: result });
        for (const entry of again?.fields ?? []) expect(entry.order === true || entry.class !== 'clean').toBe(true);
      }),
      runs,
    );
  });

  test('edits of different fields never conflict, and the merge has both', () => {
    const names = ['a', 'b', 'c', 'd', '__proto__', ''];
    const fields = fc.tuple(...names.map(() => anyValue));
    const doc = (values: readonly Uint8Array[]): Uint8Array =>
      buildDocument(names.map((name, i) => rawElement(name, values[i]!)));
    fc.assert(
      fc.property(fields, fields, fields, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), (b, p, x, mine) => {
        const nest = (values: readonly Uint8Array[]): Uint8Array =>
          buildDocument([rawElement('_id', b[0]!), rawElement('nested', documentValue(doc(values)))]);
        const parent = b.map((value, i) => (mine[i] ? value : p[i]!));
        const branch = b.map((value, i) => (mine[i] ? x[i]! : value));
        const both = b.map((_, i) => (mine[i] ? x[i]! : p[i]!));
        const sides = { base: nest(b), parent: nest(parent), branch: nest(branch) };
        expect(compareDocument(sides)?.conflict ?? false).toBe(false);
        expectSame(mergeDocument(sides, () => 'branch').result, nest(both));
      }),
      runs,
    );
  });

  test('merging the other way round meets the same conflicts', () => {
    fc.assert(
      fc.property(three, ({ base, parent, branch }) => {
        const places = (sides: Sides): string[] =>
          (compareDocument(sides)?.fields ?? [])
            .filter((entry) => entry.class === 'divergent' && entry.order !== true)
            .map((entry) => JSON.stringify(entry.path.map((step) => (typeof step === 'number' ? '#' : step))))
            .sort();
        expect(places({ base, parent: branch, branch: parent })).toEqual(places({ base, parent, branch }));
      }),
      runs,
    );
  });

  test('strict: every edit of one document on both sides must be decided', () => {
    fc.assert(
      fc.property(three, (sides) => {
        const compared = compareDocument(sides, { strict: true });
        if (compared === undefined) return;
        const untouched = sameBytes(sides.parent, sides.base);
        expect(compared.conflict).toBe(!untouched);
        expect(compareDocument(sides)).toBeDefined();
      }),
      runs,
    );
  });

  test('an edited value is what the result has', () => {
    fc.assert(
      fc.property(anyValue, anyValue, anyValue, anyValue, (b, p, x, edited) => {
        const doc = (value: Uint8Array): Uint8Array => buildDocument([rawElement('a', value)]);
        const sides = { base: doc(b), parent: doc(p), branch: doc(x) };
        const compared = compareDocument(sides);
        if (compared?.fields.length !== 1 || compared.fields[0]!.path.length !== 1 || compared.fields[0]!.order) return;
        const { result } = mergeDocument(sides, () => ({ value: edited }));
        expect(sameBytes(field(result!, 'a'), edited)).toBe(true);
      }),
    );
  });
});
