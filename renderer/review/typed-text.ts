import { EjsonError, parseEjson, toEjson } from '../../shared/bson/ejson.ts';
import { parseShell } from '../../shared/bson/shell-reader.ts';
import { sameBytes, stringValue, Type, typeName } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { stringOf } from '../bson/text-lines.ts';
import { ejsonText } from '../bson/ejson-lines.ts';
import { plainText } from '../bson/plain.ts';

/** What a typed text means. */
export type Typed = { readonly value: BsonValue; readonly type: string } | { readonly problem: string };

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const whole = /^[+-]?\d+$/;
const day = /^\d{4}-\d{2}-\d{2}$/;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** What a value is written as to be edited: as a person writes it where its type is `expected`, else in full. */
export function textToEdit(value: BsonValue, expected: number | undefined): string {
  if (value[0] === Type.Object || value[0] === Type.Array) return ejsonText(value);
  const string = stringOf(value);
  const plain = string === undefined ? plainText(value, 4_000) : quotedIfNeeded(string);
  // Only what would be read back as the very same value.
  const typed = value[0] === expected ? typedValue(plain, expected) : undefined;
  return typed !== undefined && 'value' in typed && sameBytes(typed.value, value) ? plain : toEjson(value);
}

/**
 * The value of a typed text. Where both sides hold the type `expected`, a plain text of that kind is of that type: `130` is a
 * Decimal128 among Decimal128s. Anything else is shell notation or Extended JSON, and says its own type.
 */
export function typedValue(text: string, expected: number | undefined): Typed {
  const trimmed = text.trim();
  if (trimmed === '' && expected !== Type.String) return { problem: 'Type a value.' };
  try {
    const value = plainValue(trimmed, text, expected) ?? parseShell(trimmed);
    return { value, type: typeName(value) };
  } catch (error) {
    if (!(error instanceof EjsonError)) throw error;
    return { problem: error.message };
  }
}

function plainValue(trimmed: string, text: string, expected: number | undefined): BsonValue | undefined {
  const wrap = (name: string, inner: string): BsonValue => parseEjson(`{"${name}":${inner}}`);
  const quoted = JSON.stringify(trimmed);
  switch (expected) {
    case Type.String:
      return /^["']/.test(trimmed) ? undefined : stringValue(text);
    case Type.Decimal128:
      return number.test(trimmed) ? wrap('$numberDecimal', quoted) : undefined;
    case Type.Double:
      return number.test(trimmed) ? wrap('$numberDouble', quoted) : undefined;
    case Type.Int32:
      return whole.test(trimmed) ? wrap('$numberInt', quoted) : undefined;
    case Type.Int64:
      return whole.test(trimmed) ? wrap('$numberLong', quoted) : undefined;
    case Type.ObjectId:
      return /^[0-9a-f]{24}$/i.test(trimmed) ? wrap('$oid', quoted) : undefined;
    case Type.Date:
      if (day.test(trimmed)) return wrap('$date', JSON.stringify(`${trimmed}T00:00:00Z`));
      return moment.test(trimmed) ? wrap('$date', quoted) : undefined;
    default:
      return undefined;
  }
}

/** A text that would be read as something else, or has ends that do not show, is put in quotes. */
function quotedIfNeeded(text: string): string {
  return text.trim() === text && text !== '' && !/^["']|[\n\r\t]/.test(text) ? text : JSON.stringify(text);
}
