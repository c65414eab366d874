/** Hard cases by name, at the level of one document. */
import { BSON } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { parseEjson, shellText, toEjson } from '../bson/ejson.ts';
import { documentBytes, documentValue, sameBytes, typeName } from '../bson/value.ts';
import { buildDocument, rawElement } from '../bson/walk.ts';
import { compareDocument, type FieldDelta, mergeDocument, parentChanges, type Sides } from './compare.ts';
import { applyDelta, diffDocument, reverseDelta } from './delta.ts';

/** A document from relaxed Extended JSON, or from bytes. */
function doc(json: string | Uint8Array): Uint8Array {
  return typeof json === 'string' ? documentBytes(parseEjson(json)) : json;
}

function sides(base: string | undefined, parent: string | undefined, branch: string | undefined): Sides {
  const side = (json: string | undefined): Uint8Array | undefined => (json === undefined ? undefined : doc(json));
  return { base: side(base), parent: side(parent), branch: side(branch) };
}

/** `path: base | parent | branch class`, a dash where a side has none. */
function line(entry: FieldDelta): string {
  const shown = [entry.base, entry.parent, entry.branch].map((value) => (value === undefined ? '-' : shellText(value)));
  return `${JSON.stringify(entry.path)}: ${shown.join(' | ')} ${entry.order ? 'order ' : ''}${entry.class}`;
}

function lines(given: Sides): string[] {
  return compareDocument(given)?.fields.map(line) ?? [];
}

/** One side edits: the rows, old and new, and that both ways are exact. */
function rows(before: string | Uint8Array, after: string | Uint8Array): string[] {
  const delta = diffDocument(doc(before), doc(after));
  expect(sameBytes(applyDelta(doc(before), delta), doc(after))).toBe(true);
  expect(sameBytes(applyDelta(doc(after), reverseDelta(delta)), doc(before))).toBe(true);
  return delta.fields.map((entry) => {
    const shown = [entry.base, entry.branch].map((value) => (value === undefined ? '-' : shellText(value, 60)));
    return `${JSON.stringify(entry.path)}: ${shown.join(' → ')}${entry.order ? ' order' : ''}`;
  });
}

function merged(given: Sides, choice: 'branch' | 'parent' = 'branch'): string {
  const { result } = mergeDocument(given, () => choice);
  return result === undefined ? 'absent' : shellText(documentValue(result));
}

/** Processor time of this process in milliseconds: unlike the clock, it does not count what else the machine does. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

describe('bytes and types', () => {
  test('BS-01: a small Long stays a Long when another field is edited', () => {
    const before = '{"_id":{"$numberLong":"3"},"a":5,"b":{"$numberLong":"5"},"c":5.0,"d":{"$numberDecimal":"5"},"e":1}';
    expect(rows(before, before.replace('"e":1', '"e":2'))).toEqual(['["e"]: 1 → 2']);
    const other = before.replace('"a":5', '"a":6');
    const given = sides(before, other, before.replace('"e":1', '"e":2'));
    const { result } = mergeDocument(given, () => 'branch');
    expect(toEjson(documentValue(result!))).toContain('"b":{"$numberLong":"5"},"c":{"$numberDouble":"5.0"}');
  });

  test('BS-02: a type-only change is a change, with both types', () => {
    const forms = ['5', '5.0', '{"$numberLong":"5"}', '{"$numberDecimal":"5"}'];
    const types = forms.slice(1).map((form, i) => {
      const delta = diffDocument(doc(`{"a":${forms[i]}}`), doc(`{"a":${form}}`));
      return delta.fields.map((entry) => `${typeName(entry.base!)} → ${typeName(entry.branch!)}`).join();
    });
    expect(types).toEqual(['Int32 → Double', 'Double → Int64', 'Int64 → Decimal128']);
  });

  test('BS-03: 64-bit integers next to each other differ, with all digits', () => {
    expect(rows('{"a":9007199254740992}', '{"a":9007199254740993}')).toEqual([
      '["a"]: Long("9007199254740992") → Long("9007199254740993")',
    ]);
    const [least, most] = ['{"a":-9223372036854775808}', '{"a":9223372036854775807}'];
    expect(rows(least, most)).toEqual(['["a"]: Long("-9223372036854775808") → Long("9223372036854775807")']);
  });

  test('BS-05: NaN is as NaN, -0 is not as 0', () => {
    const of = (a: string, x: number): string =>
      `{"a":${a},"b":{"$numberDouble":"NaN"},"c":{"$numberDouble":"Infinity"},"d":{"$numberDouble":"-Infinity"},"x":${x}}`;
    expect(rows(of('-0.0', 1), of('-0.0', 2))).toEqual(['["x"]: 1 → 2']);
    expect(rows(of('-0.0', 1), of('0.0', 1))).toEqual(['["a"]: -0.0 → 0.0']);
  });

  test('BS-10: the binary subtype alone is a change', () => {
    const of = (subType: string): string =>
      `{"a":{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"${subType}"}}}`;
    expect(rows(of('03'), of('04'))).toEqual([
      '["a"]: BinData(3, "ABEiM0RVZneImaq7zN3u/w==") → UUID("00112233-4455-6677-8899-aabbccddeeff")',
    ]);
  });

  test('BS-12: fields called __proto__, constructor, hasOwnProperty are fields', () => {
    const of = (n: number): string => `{"__proto__":{"x":${n}},"constructor":{"y":${n}},"hasOwnProperty":${n}}`;
    expect(rows(of(1), of(2))).toEqual([
      '["__proto__","x"]: 1 → 2',
      '["constructor","y"]: 1 → 2',
      '["hasOwnProperty"]: 1 → 2',
    ]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('BS-13: dollar, dot and empty names; a.b the name and a → b the path', () => {
    const of = (n: number): string => `{"$id":${n},"$set":{"a":${n}},"a.b":${n},"a":{"b":${n}},"":${n},"$":${n}}`;
    expect(rows(of(1), of(2))).toEqual([
      '["$id"]: 1 → 2',
      '["$set","a"]: 1 → 2',
      '["a.b"]: 1 → 2',
      '["a","b"]: 1 → 2',
      '[""]: 1 → 2',
      '["$"]: 1 → 2',
    ]);
  });

  test('BS-16: order alone is one entry at the object, not nothing and not removal and addition', () => {
    expect(rows('{"a":1,"b":{"x":1,"y":2}}', '{"b":{"y":2,"x":1},"a":1}')).toEqual([
      '["b"]: [ "x", "y" ] → [ "y", "x" ] order',
      '[]: [ "a", "b" ] → [ "b", "a" ] order',
    ]);
  });

  test('BS-19: an object with a name that stands twice is one value, kept exactly in edits of other fields', () => {
    const twice = (value: number): Uint8Array =>
      buildDocument(['a', 'a', 'b'].map((name, i) => rawElement(name, parseEjson(String(i === 1 ? value : i)))));
    const outer = (inner: Uint8Array, n: number): Uint8Array =>
      buildDocument([rawElement('in', documentValue(inner)), rawElement('n', parseEjson(String(n)))]);
    expect(rows(outer(twice(7), 1), outer(twice(7), 2))).toEqual(['["n"]: 1 → 2']);
    expect(rows(outer(twice(7), 1), outer(twice(8), 1))).toEqual([
      '["in"]: { a: 0, a: 7, b: 2 } → { a: 0, a: 8, b: 2 }',
    ]);
    expect(rows(twice(7), twice(8))).toEqual(['[]: { a: 0, a: 7, b: 2 } → { a: 0, a: 8, b: 2 }']);
  });

  test('BS-24: a nested field called _id is a field', () => {
    const before = '{"_id":1,"items":[{"_id":7,"q":1},{"_id":8,"q":2}],"ref":{"_id":9}}';
    const after = '{"_id":1,"items":[{"_id":70,"q":1},{"_id":8,"q":2}],"ref":{"_id":90}}';
    expect(rows(before, after)).toEqual(['["items",0,"_id"]: 7 → 70', '["ref","_id"]: 9 → 90']);
  });

  test('BS-25: null, missing and undefined are three things', () => {
    expect(rows('{"_id":1,"a":null}', '{"_id":1}')).toEqual(['["a"]: null → -']);
    expect(rows('{"_id":1}', '{"_id":1,"a":null}')).toEqual(['["a"]: - → null']);
    expect(rows('{"_id":1,"a":null}', '{"_id":1,"a":{"$undefined":true}}')).toEqual(['["a"]: null → undefined']);
    expect(rows('{"_id":1}', '{"_id":1,"a":{"$undefined":true}}')).toEqual(['["a"]: - → undefined']);
    expect(rows('{"a":[1,2]}', '{"a":[1,null]}')).toEqual(['["a",1]: 2 → null']);
  });

  test('CS-10: an index, a numeric name and a name with a dot are told apart', () => {
    const of = (a: number, dotted: number, b: number): string =>
      `{"_id":1,"a":{"0":${a}},"a.0":${dotted},"b":[{"0":${b}}]}`;
    expect(rows(of(1, 2, 5), of(9, 2, 5))).toEqual(['["a","0"]: 1 → 9']);
    expect(rows(of(1, 2, 5), of(1, 9, 5))).toEqual(['["a.0"]: 2 → 9']);
    expect(rows(of(1, 2, 5), of(1, 2, 9))).toEqual(['["b",0,"0"]: 5 → 9']);
  });
});

describe('rows of a change', () => {
  test('DF-01: one row per field, never inside a value', () => {
    const big = new Uint8Array(1 << 20);
    const other = big.slice();
    other[1 << 19] = 1;
    const make = (n: number, data: Uint8Array): Uint8Array =>
      BSON.serialize({
        id: new BSON.ObjectId(n.toString(16).padStart(24, '0')),
        price: BSON.Decimal128.fromString(`${n}.00`),
        data: new BSON.Binary(data),
        at: new BSON.Timestamp({ t: n, i: 1 }),
        when: new Date(n),
        n: n === 1 ? new BSON.Int32(5) : new BSON.Long(5),
      });
    expect(rows(make(1, big), make(2, other)).map((row) => row.slice(0, row.indexOf(':')))).toEqual([
      '["id"]',
      '["price"]',
      '["data"]',
      '["at"]',
      '["when"]',
      '["n"]',
    ]);
  });

  test('DF-03: a Long from 1 to 2 is a change', () => {
    expect(rows('{"a":{"$numberLong":"1"}}', '{"a":{"$numberLong":"2"}}')).toEqual(['["a"]: Long("1") → Long("2")']);
  });

  test('DF-04: an element removed and its neighbour edited', () => {
    expect(rows('{"l":[{"id":1,"v":1},{"id":2,"v":2}]}', '{"l":[{"id":2,"v":2.1}]}')).toEqual([
      '["l",0]: { id: 1, v: 1 } → -',
      '["l",0,"v"]: 2 → 2.1',
    ]);
  });

  test('DF-05: a move of matched elements is one order entry, beside the edits', () => {
    expect(rows('{"l":[{"_id":1,"v":1},{"_id":2},{"_id":3}]}', '{"l":[{"_id":3},{"_id":1,"v":9},{"_id":2}]}')).toEqual([
      '["l",1,"v"]: 1 → 9',
      '["l"]: [ 1, 2, 3 ] → [ 3, 1, 2 ] order',
    ]);
    expect(rows('{"l":[1,2,3]}', '{"l":[3,2,1]}')).toEqual(['["l",0]: 1 → 3', '["l",2]: 3 → 1']);
  });

  test('DF-09: array edges', () => {
    expect(rows('{"a":[null]}', '{"a":[]}')).toEqual(['["a",0]: null → -']);
    expect(rows('{"a":[]}', '{"a":{}}')).toEqual(['["a"]: [] → {}']);
    expect(rows('{"a":[[1],[2]]}', '{"a":[[1,2]]}')).toEqual(['["a",0,1]: - → 2', '["a",1]: [ 2 ] → -']);
    expect(rows('{"a":[1]}', '{"a":1}')).toEqual(['["a"]: [ 1 ] → 1']);
  });

  test('CS-09: an array cut short by a pipeline', () => {
    expect(rows('{"_id":1,"arr":["a","b","c"],"keep":"v"}', '{"_id":1,"arr":["a"],"keep":"v"}')).toEqual([
      '["arr",1]: "b" → -',
      '["arr",2]: "c" → -',
    ]);
  });

  test('an element put in the middle is one row', () => {
    expect(rows('{"a":[1,2,3]}', '{"a":[1,9,2,3]}')).toEqual(['["a",1]: - → 9']);
  });

  test('an array whose names are not its indexes is one value', () => {
    const odd = (name: string): Uint8Array => {
      const inner = documentValue(buildDocument([rawElement(name, parseEjson('1'))]));
      inner[0] = 4;
      return buildDocument([rawElement('a', inner)]);
    };
    expect(rows(odd('0'), odd('7'))).toEqual(['["a"]: [ 1 ] → [ 1 ]']);
  });
});

describe('both sides', () => {
  test('MG-03: delete against modify is divergent, both versions are there', () => {
    expect(lines(sides('{"_id":1,"a":1}', '{"_id":1,"a":2}', undefined))).toEqual([
      '[]: { _id: 1, a: 1 } | { _id: 1, a: 2 } | - divergent',
    ]);
    const other = sides('{"_id":1,"a":1}', undefined, '{"_id":1,"a":2}');
    expect(lines(other)).toEqual(['[]: { _id: 1, a: 1 } | - | { _id: 1, a: 2 } divergent']);
    expect(compareDocument(other)?.kind).toBe('modified');
    expect(merged(other)).toBe('{ _id: 1, a: 2 }');
    expect(merged(other, 'parent')).toBe('absent');
  });

  test('MG-04: a field removed against a field edited', () => {
    expect(lines(sides('{"_id":1,"a":null}', '{"_id":1,"a":3}', '{"_id":1}'))).toEqual([
      '["a"]: null | 3 | - divergent',
    ]);
    const inside = sides('{"a":{"b":1}}', '{"a":{"b":1,"c":2}}', '{}');
    expect(lines(inside)).toEqual(['["a"]: { b: 1 } | { b: 1, c: 2 } | - divergent']);
    expect(lines({ base: inside.base, parent: inside.branch, branch: inside.parent })).toEqual([
      '["a"]: { b: 1 } | - | { b: 1, c: 2 } divergent',
    ]);
  });

  test('MG-05: the same change on both sides is none', () => {
    expect(compareDocument(sides('{"a":1}', '{"a":2}', '{"a":2}'))).toBeUndefined();
    expect(compareDocument(sides('{"a":1}', undefined, undefined))).toBeUndefined();
    const added = sides(undefined, '{"_id":4,"a":{"x":1,"y":2},"b":2}', '{"_id":4,"b":2,"a":{"y":2,"x":1}}');
    expect(compareDocument(added)).toBeUndefined();
    expect(merged(added)).toBe('{ _id: 4, a: { x: 1, y: 2 }, b: 2 }');
    expect(compareDocument(sides('{"a":1,"b":1}', '{"a":2,"b":2}', '{"a":2,"b":1}'))).toBeUndefined();
  });

  test('a convergent field is listed only beside others', () => {
    const given = sides('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":2,"b":3}');
    expect(lines(given)).toEqual(['["a"]: 1 | 2 | 2 convergent', '["b"]: 1 | 1 | 3 clean']);
    expect(merged(given)).toBe('{ a: 2, b: 3 }');
  });

  test('MG-07: both sides push to one array', () => {
    const pushed = sides('{"a":[1]}', '{"a":[1,3]}', '{"a":[1,2]}');
    expect(lines(pushed)).toEqual(['["a"]: [ 1 ] | [ 1, 3 ] | [ 1, 2 ] divergent']);
    const shifted = sides('{"a":["a","b","c"]}', '{"a":["a","b","d"]}', '{"a":["b","c"]}');
    expect(lines(shifted)).toEqual(['["a"]: [ "a", "b", "c" ] | [ "a", "b", "d" ] | [ "b", "c" ] divergent']);
  });

  test('MG-07: matched elements merge by element', () => {
    const given = sides(
      '{"a":[{"_id":1,"v":1},{"_id":2,"v":2},{"_id":3,"v":3}]}',
      '{"a":[{"_id":1,"v":1},{"_id":2,"v":2},{"_id":3,"v":30},{"_id":4}]}',
      '{"a":[{"_id":5},{"_id":2,"v":20},{"_id":3,"v":3}]}',
    );
    expect(compareDocument(given)?.conflict).toBe(false);
    expect(merged(given)).toBe('{ a: [ { _id: 5 }, { _id: 2, v: 20 }, { _id: 3, v: 30 }, { _id: 4 } ] }');
    const removed = sides('{"a":[{"_id":1,"v":1}]}', '{"a":[{"_id":1,"v":2}]}', '{"a":[]}');
    expect(lines(removed)).toEqual(['["a",0]: { _id: 1, v: 1 } | { _id: 1, v: 2 } | - divergent']);
  });

  test('equal lengths merge by position, an element edited on both sides is one value', () => {
    const scalars = sides('{"a":[1,2,3]}', '{"a":[1,2,30]}', '{"a":[10,2,3]}');
    expect(lines(scalars)).toEqual(['["a",0]: 1 | 1 | 10 clean']);
    expect(merged(scalars)).toBe('{ a: [ 10, 2, 30 ] }');
    const objects = sides('{"a":[{"x":1,"y":1}]}', '{"a":[{"x":1,"y":2}]}', '{"a":[{"x":2,"y":1}]}');
    expect(lines(objects)).toEqual(['["a",0]: { x: 1, y: 1 } | { x: 1, y: 2 } | { x: 2, y: 1 } divergent']);
  });

  test('both added, differently: one entry for the whole document', () => {
    const given = sides(undefined, '{"_id":1,"a":1}', '{"_id":1,"a":2}');
    expect(compareDocument(given)).toMatchObject({ kind: 'added', conflict: true });
    expect(lines(given)).toEqual(['[]: - | { _id: 1, a: 1 } | { _id: 1, a: 2 } divergent']);
  });

  test('a removed document shows what is lost', () => {
    const given = sides('{"_id":1,"a":1}', '{"_id":1,"a":1}', undefined);
    expect(compareDocument(given)).toMatchObject({ kind: 'removed', conflict: false });
    expect(lines(given)).toEqual(['[]: { _id: 1, a: 1 } | { _id: 1, a: 1 } | - clean']);
    expect(merged(given)).toBe('absent');
  });

  test('different fields merge, new ones stand where the branch has them', () => {
    const given = sides('{"a":1,"b":1,"c":1}', '{"a":1,"b":9,"p":1,"c":1}', '{"n":0,"a":1,"m":1,"b":1,"c":2}');
    expect(compareDocument(given)?.conflict).toBe(false);
    expect(merged(given)).toBe('{ n: 0, a: 1, m: 1, b: 9, p: 1, c: 2 }');
  });

  test('order: on one side clean, on both differently divergent, alike convergent', () => {
    const base = '{"a":1,"b":1,"c":1}';
    const clean = sides(base, '{"a":1,"b":2,"c":1}', '{"c":1,"b":1,"a":1}');
    expect(lines(clean)).toEqual(['[]: [ "a", "b", "c" ] | [ "a", "b", "c" ] | [ "c", "b", "a" ] order clean']);
    expect(merged(clean)).toBe('{ c: 1, b: 2, a: 1 }');
    const both = sides(base, '{"b":1,"a":1,"c":1}', '{"c":1,"b":1,"a":1}');
    expect(lines(both)).toEqual(['[]: [ "a", "b", "c" ] | [ "b", "a", "c" ] | [ "c", "b", "a" ] order divergent']);
    expect(merged(both)).toBe('{ c: 1, b: 1, a: 1 }');
    expect(merged(both, 'parent')).toBe('{ b: 1, a: 1, c: 1 }');
    const edited = mergeDocument(both, () => ({ value: parseEjson('["a","c","b"]') }));
    expect(shellText(documentValue(edited.result!))).toBe('{ a: 1, c: 1, b: 1 }');
    const alike = sides(base, '{"c":1,"b":1,"a":2}', '{"c":1,"b":1,"a":1}');
    expect(compareDocument(alike)).toBeUndefined();
  });

  test('MG-14: undo of an older change keeps a newer one of another field, and refuses one of the same', () => {
    const first = diffDocument(doc('{"a":1,"b":1}'), doc('{"a":2,"b":1}'));
    const undone = applyDelta(doc('{"a":2,"b":5}'), reverseDelta(first));
    expect(shellText(documentValue(undone!))).toBe('{ a: 1, b: 5 }');
    expect(() => applyDelta(doc('{"a":3,"b":1}'), reverseDelta(first))).toThrow(/The field a was changed again/);
  });

  test('strict: any edit on both sides must be decided', () => {
    const given = sides('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":2}');
    expect(compareDocument(given)?.conflict).toBe(false);
    expect(compareDocument(given, { strict: true })).toMatchObject({
      conflict: true,
      fields: [{ class: 'divergent' }],
    });
    expect(compareDocument({ ...given, parent: given.base }, { strict: true })?.conflict).toBe(false);
  });
});

describe('what the parent alone changed', () => {
  test('is told by field, beside what is adopted and what must be decided', () => {
    const given = sides(
      '{"a":1,"b":1,"c":1,"d":1,"gone":1,"list":[{"_id":1,"n":1},{"_id":2,"n":1}]}',
      '{"a":2,"b":1,"c":2,"d":2,"new":1,"list":[{"_id":0},{"_id":1,"n":1},{"_id":2,"n":5}]}',
      '{"a":1,"b":3,"c":2,"d":3,"gone":1,"list":[{"_id":1,"n":9},{"_id":2,"n":1}]}',
    );
    expect(parentChanges(given).map(line)).toEqual([
      '["a"]: 1 | 2 | 1 clean',
      '["gone"]: 1 | - | 1 clean',
      '["new"]: - | 1 | - clean',
      '["list",0]: - | { _id: 0 } | - clean',
      '["list",2,"n"]: 1 | 5 | 1 clean',
    ]);
  });

  test('is nothing where the document itself is what must be decided', () => {
    expect(parentChanges(sides('{"a":1}', '{"a":2}', undefined))).toEqual([]);
    expect(parentChanges(sides('{"a":1}', undefined, '{"a":2}'))).toEqual([]);
    expect(parentChanges(sides(undefined, '{"a":1}', '{"a":2}'))).toEqual([]);
    expect(parentChanges(sides('{"a":1}', '{"a":1}', '{"a":2}'))).toEqual([]);
  });
});

describe('large and deep documents', { timeout: 120_000 }, () => {
  test('10,000 documents of 1 KB with one changed field each compare in less than 300 ms', () => {
    const documents = Array.from({ length: 10_000 }, (_, i) => {
      const fields = Object.fromEntries(
        Array.from({ length: 30 }, (__, n) => [`field${n}`, n % 3 ? `some text ${i}` : n * i]),
      );
      const value = { _id: i, ...fields, address: { street: 'Long Road 1', city: 'Town' }, tags: ['a', 'b', 'c'] };
      const base = BSON.serialize({ ...value, text: 'x'.repeat(200), changed: 1 });
      const branch = BSON.serialize({ ...value, text: 'x'.repeat(200), changed: 2 });
      return { base, parent: base.slice(), branch };
    });
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
      const start = cpuMs();
      let entries = 0;
      for (const document of documents) entries += compareDocument(document)?.fields.length ?? 0;
      best = Math.min(best, cpuMs() - start);
      expect(entries).toBe(10_000);
    }
    expect(best).toBeLessThan(300);
  });

  test('DF-07: 200,000 numbers sorted are one change, one of them edited is one element', () => {
    const numbers = Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 200_003);
    const of = (list: number[]): Uint8Array => BSON.serialize({ _id: 1, list });
    const [before, sorted] = [of(numbers), of([...numbers].sort((a, b) => a - b))];
    const start = cpuMs();
    const memory = process.memoryUsage().heapUsed;
    const delta = compareDocument({ base: before, parent: before, branch: sorted });
    // The three sides of the one entry lie outside the heap; offsets of elements do too.
    expect(process.memoryUsage().heapUsed - memory).toBeLessThan(32 * 1024 * 1024);
    expect(cpuMs() - start).toBeLessThan(2000);
    expect(delta?.fields.map((entry) => entry.path)).toEqual([['list']]);
    const edited = of(numbers.map((n, i) => (i === 150_000 ? -1 : n)));
    expect(rows(before, edited)).toEqual([`["list",150000]: ${numbers[150_000]} → -1`]);
  });

  test('20,000 subdocuments reversed are one change', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({ _id: i, v: `value ${i}` }));
    const before = BSON.serialize({ list });
    const after = BSON.serialize({ list: [...list].reverse() });
    expect(compareDocument({ base: before, parent: before, branch: after })?.fields.length).toBe(1);
  });

  test('nesting as deep as bytes allow is compared without overflow', () => {
    const nest = (leaf: string): Uint8Array => {
      let inner = doc(`{"a":${leaf}}`);
      for (let i = 0; i < 3000; i++) inner = buildDocument([rawElement('a', documentValue(inner))]);
      return inner;
    };
    const [base, parent, branch] = [nest('1'), nest('2'), nest('3')];
    expect(compareDocument({ base, parent, branch })).toMatchObject({
      conflict: true,
      fields: [{ class: 'divergent' }],
    });
    expect(sameBytes(mergeDocument({ base, parent: base, branch }, () => 'branch').result, branch)).toBe(true);
  });
});
