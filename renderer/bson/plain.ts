import { toEjson } from '../../shared/bson/ejson.ts';
import { documentBytes, fromBase64, Type, typeName } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, field, valueSlice } from '../../shared/bson/walk.ts';
import { plural } from '../shell/numbers.ts';

/**
 * A value as a person reads it, on one line: `135.45`, `"gold"`, `2026-12-01T00:00:00Z`, `["oak", "sale"]`. The type is
 * not in it: whoever shows the value says it where it matters. At most `max` characters, cut with an ellipsis.
 */
export function plainText(value: BsonValue, max = 120): string {
  const text = untilFull(value, max);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** The same of a value as it comes over the API. */
export function plainBson(bson: string, max?: number): string {
  return plainText(fromBase64(bson), max);
}

/** An `_id` for a list: strings without quotes, ObjectIds by their ends. */
export function idText(id: string, max = 40): string {
  const value = fromBase64(id);
  const text = plainText(value, 200);
  if (value[0] === Type.ObjectId) return `${text.slice(0, 6)}…${text.slice(-3)}`;
  const bare = value[0] === Type.String ? unquoted(text) : text;
  return bare.length <= max ? bare : `${bare.slice(0, max - 1)}…`;
}

/** What a person calls a document: its name, title, label or e-mail, where it has one. */
export function titleOf(document: BsonValue | undefined): string | undefined {
  if (document === undefined || document[0] !== Type.Object) return undefined;
  const bytes = documentBytes(document);
  for (const name of ['name', 'title', 'label', 'email']) {
    const value = field(bytes, name);
    if (value?.[0] === Type.String) return unquoted(plainText(value, 80));
  }
  return undefined;
}

/** How many fields a document has at its top. */
export function fieldCount(document: BsonValue): number {
  return elementsOf(valueSlice(document)).length;
}

/** `price.amount`; a name that holds a dot or is empty is quoted, so that paths stay apart. */
export function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'whole document';
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${String(part)}]`;
    else {
      const name = part === '' || /[.[\]"]/.test(part) ? JSON.stringify(part) : part;
      text += text === '' ? name : `.${name}`;
    }
  }
  return text;
}

/** `products`, or `shop.products` where more than one database is shown. */
export function collectionName(ns: string, withDatabase = false): string {
  const dot = ns.indexOf('.');
  return withDatabase || dot < 0 ? ns : ns.slice(dot + 1);
}

export { typeName };

/** Stops walking once the text is longer than anyone asked for. */
function untilFull(value: BsonValue, max: number): string {
  const type = value[0];
  if (type !== Type.Object && type !== Type.Array) return scalarText(value);
  const parts: string[] = [];
  let length = 0;
  for (const element of elementsOf(valueSlice(value))) {
    const text = untilFull(element.value, max - length);
    const part = type === Type.Array ? text : `${element.name}: ${text}`;
    parts.push(part);
    length += part.length + 2;
    if (length > max) break;
  }
  const inner = parts.join(', ');
  if (type === Type.Array) return `[${inner}]`;
  return inner === '' ? '{}' : `{ ${inner} }`;
}

/** Read from canonical Extended JSON, the one place that decodes numbers, dates and the like. */
function scalarText(value: BsonValue): string {
  switch (value[0]) {
    case Type.Null:
      return 'null';
    case Type.Undefined:
      return 'undefined';
    case Type.Boolean:
      return value[1] === 0 ? 'false' : 'true';
    case Type.MinKey:
      return 'MinKey';
    case Type.MaxKey:
      return 'MaxKey';
    default:
      return extendedText(JSON.parse(toEjson(value)) as unknown, value);
  }
}

interface Extended {
  $numberInt?: string;
  $numberLong?: string;
  $numberDouble?: string;
  $numberDecimal?: string;
  $oid?: string;
  $date?: { $numberLong?: string };
  $timestamp?: { t: number; i: number };
  $binary?: { base64: string; subType: string };
  $regularExpression?: { pattern: string; options: string };
  $code?: string;
  $symbol?: string;
  $raw?: string;
}

function extendedText(parsed: unknown, value: BsonValue): string {
  if (typeof parsed === 'string') return JSON.stringify(parsed);
  const extended = parsed as Extended;
  const number = extended.$numberInt ?? extended.$numberLong ?? extended.$numberDecimal;
  if (number !== undefined) return number;
  if (extended.$numberDouble !== undefined) return extended.$numberDouble.replace(/\.0$/, '');
  if (extended.$oid !== undefined) return extended.$oid;
  if (extended.$date?.$numberLong !== undefined) return dateText(extended.$date.$numberLong);
  if (extended.$timestamp !== undefined) return `${String(extended.$timestamp.t)}:${String(extended.$timestamp.i)}`;
  if (extended.$binary !== undefined) return binaryText(extended.$binary);
  if (extended.$regularExpression !== undefined) {
    return `/${extended.$regularExpression.pattern}/${extended.$regularExpression.options}`;
  }
  if (extended.$symbol !== undefined) return extended.$symbol;
  if (extended.$code !== undefined) return extended.$code;
  return `${typeName(value)}, ${plural(value.length - 1, 'byte')}`;
}

/** Beyond the years that JavaScript can write, the milliseconds themselves. */
function dateText(ms: string): string {
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  return date.toISOString().replace('.000Z', 'Z');
}

function binaryText({ base64, subType }: { base64: string; subType: string }): string {
  const bytes = fromBase64(base64);
  const hex = [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (subType === '04' && bytes.length === 16) {
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }
  return `binary ${subType}, ${plural(bytes.length, 'byte')}, ${hex}${bytes.length > 16 ? '…' : ''}`;
}

function unquoted(text: string): string {
  if (text.endsWith('…')) return text.replace(/^"/, '');
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
