import { Binary, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, serialize, Timestamp } from 'bson';
import { describe, expect, it } from 'vitest';
import { documentValue, toBase64 } from '../../shared/bson/value.ts';
import { elements } from '../../shared/bson/walk.ts';
import { collectionName, idText, pathText, plainText, titleOf } from './plain.ts';

function valueOf(value: unknown): Uint8Array {
  return elements(serialize({ value }))[0]!.value;
}

describe('a value in plain text', () => {
  it.each([
    [new Int32(5), '5'],
    [new Double(44), '44'],
    [new Double(-0), '-0'],
    [new Double(NaN), 'NaN'],
    [Long.fromString('9007199254740993'), '9007199254740993'],
    [Decimal128.fromString('129.00'), '129.00'],
    ['gold', '"gold"'],
    [true, 'true'],
    [null, 'null'],
    [new Date('2026-12-01T00:00:00Z'), '2026-12-01T00:00:00Z'],
    [new Date(-1), '1969-12-31T23:59:59.999Z'],
    [new ObjectId('6749c1aa00000000000000e0'), '6749c1aa00000000000000e0'],
    [new Timestamp({ t: 7, i: 2 }), '7:2'],
    [/a b/i, '/a b/i'],
    [new MinKey(), 'MinKey'],
    [new MaxKey(), 'MaxKey'],
    [new Binary(new Uint8Array([1, 255]), 128), 'binary 80, 2 bytes, 01ff'],
    [['oak', 'sale'], '["oak", "sale"]'],
    [{ a: 1, b: { c: [] } }, '{ a: 1, b: { c: [] } }'],
    [{}, '{}'],
  ])('%s', (value, text) => {
    expect(plainText(valueOf(value))).toBe(text);
  });

  it('writes dates beyond the years of JavaScript by their milliseconds', () => {
    const value = valueOf(new Date(0));
    new DataView(value.buffer, value.byteOffset).setBigInt64(1, 9_000_000_000_000_000n, true);
    expect(plainText(value)).toBe('9000000000000000 ms');
  });

  it('is cut with an ellipsis', () => {
    expect(plainText(valueOf('x'.repeat(500)), 10)).toBe(`"${'x'.repeat(8)}…`);
    expect(plainText(valueOf(Array.from({ length: 9_000 }, () => 1)), 20)).toHaveLength(20);
  });
});

describe('names', () => {
  it('show an _id without quotes, an ObjectId by its ends', () => {
    expect(idText(toBase64(valueOf('KB-104')))).toBe('KB-104');
    expect(idText(toBase64(valueOf(new ObjectId('6749c1aa00000000000000e0'))))).toBe('6749c1…0e0');
    expect(idText(toBase64(valueOf(42)))).toBe('42');
  });

  it('tell a dotted name from a path', () => {
    expect(pathText(['price', 'amount'])).toBe('price.amount');
    expect(pathText(['a.b'])).toBe('"a.b"');
    expect(pathText(['tags', 1, 'x'])).toBe('tags[1].x');
    expect(pathText([''])).toBe('""');
    expect(pathText([])).toBe('whole document');
  });

  it('find what a person calls a document', () => {
    expect(titleOf(documentValue(serialize({ _id: 1, title: 'Oak desk' })))).toBe('Oak desk');
    expect(titleOf(documentValue(serialize({ _id: 1, name: { first: 'A' } })))).toBeUndefined();
  });

  it('leave the database out until it is needed', () => {
    expect(collectionName('shop.order.items')).toBe('order.items');
    expect(collectionName('shop.orders', true)).toBe('shop.orders');
  });
});
