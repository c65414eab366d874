import { Binary, Decimal128, Double, Int32, Long, ObjectId, serialize } from 'bson';
import { describe, expect, it } from 'vitest';
import { toEjson } from '../../shared/bson/ejson.ts';
import { elements } from '../../shared/bson/walk.ts';
import { textToEdit, typedValue } from './typed-text.ts';

function valueOf(value: unknown): Uint8Array {
  return elements(serialize({ value }))[0]!.value;
}

describe('a typed result', () => {
  it.each([
    [new Int32(5)],
    [new Double(44)],
    [new Double(-0)],
    [new Double(NaN)],
    [Long.fromString('9007199254740993')],
    [Decimal128.fromString('129.00')],
    [Decimal128.fromString('Infinity')],
    ['gold'],
    [''],
    [' padded '],
    ['"quoted"'],
    ['two\nlines'],
    ['5'],
    [true],
    [null],
    [new Date('2026-12-01T00:00:00Z')],
    [new Date(-1)],
    [new ObjectId('6749c1aa00000000000000e0')],
    [new Binary(new Uint8Array([1, 255]), 128)],
    [['oak', new Int32(1)]],
    [{ a: new Double(1), b: { c: [] } }],
  ])('%s is read back as the very bytes it was shown from', (given) => {
    const value = valueOf(given);
    for (const expected of [value[0], undefined]) {
      const typed = typedValue(textToEdit(value, expected), expected);
      expect('value' in typed ? toEjson(typed.value) : typed).toBe(toEjson(value));
    }
  });

  it('has the type that both sides have, without being told', () => {
    const decimal = valueOf(Decimal128.fromString('1'))[0];
    const typed = typedValue('130.50', decimal);
    expect(typed).toMatchObject({ type: 'Decimal128' });
    expect('value' in typed && toEjson(typed.value)).toBe('{"$numberDecimal":"130.50"}');
    expect(typedValue('2026-12-24', valueOf(new Date())[0])).toMatchObject({ type: 'Date' });
  });

  it('keeps a type of its own where it names one', () => {
    expect(typedValue('"130"', valueOf(new Int32(1))[0])).toMatchObject({ type: 'String' });
    expect(typedValue('NumberLong(7)', valueOf(new Int32(1))[0])).toMatchObject({ type: 'Int64' });
  });

  it('says what is wrong', () => {
    expect(typedValue('', valueOf(1)[0])).toEqual({ problem: 'Type a value.' });
    expect(typedValue('99999999999', valueOf(new Int32(1))[0])).toHaveProperty('problem');
    expect(typedValue('{ a: ', undefined)).toHaveProperty('problem');
    expect(typedValue('db.drop()', undefined)).toHaveProperty('problem');
  });
});
