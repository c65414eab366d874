/** Values as people read them: mongosh's notation, cut to a length. */
import { decimalDigits } from './decimal.ts';
import { hex, int64Text } from './ejson-write.ts';
import { decodeTolerant } from './text.ts';
import { elementsOf, payloadEnd, type Slice, valueSlice } from './walk.ts';
import { type BsonValue, toBase64, Type } from './value.ts';

/**
 * `ObjectId("…")`, `129.00` for a Decimal128, `ISODate("…")`, `"text"`, `{ a: 1, b: [ … ] }`: short and readable, not made
 * to be parsed. At most `maxLength` characters, the last an ellipsis where something was left out.
 */
export function shellText(value: BsonValue, maxLength = 200): string {
  const text = new Writer(maxLength).write(valueSlice(value), 0);
  if (text.length <= maxLength) return text;
  // Not through a surrogate pair.
  const cut = (text.charCodeAt(maxLength - 2) & 0xfc00) === 0xd800 ? maxLength - 2 : maxLength - 1;
  return `${text.slice(0, Math.max(0, cut))}…`;
}

const deepest = 20;

class Writer {
  constructor(private readonly room: number) {}

  write(slice: Slice, depth: number): string {
    const { bytes, type, start, end } = slice;
    const at = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
    switch (type) {
      case Type.Double:
        return doubleText(at.getFloat64(0, true));
      case Type.String:
        return this.quoted(bytes, start + 4, end - 1);
      case Type.Object:
        return this.list(slice, depth, '{', '}');
      case Type.Array:
        return this.list(slice, depth, '[', ']');
      case Type.Binary:
        return binaryText(slice, this.room);
      case Type.Undefined:
        return 'undefined';
      case Type.ObjectId:
        return `ObjectId("${hex(bytes, start, end)}")`;
      case Type.Boolean:
        return bytes[start] === 0 ? 'false' : 'true';
      case Type.Date:
        return dateText(slice, at);
      case Type.Null:
        return 'null';
      case Type.Regex: {
        const middle = bytes.indexOf(0, start);
        return `/${decodeTolerant(bytes, start, middle)}/${decodeTolerant(bytes, middle + 1, end - 1)}`;
      }
      case Type.DBPointer:
        return `DBPointer(${this.quoted(bytes, start + 4, end - 13)}, ObjectId("${hex(bytes, end - 12, end)}"))`;
      case Type.Code:
        return `Code(${this.quoted(bytes, start + 4, end - 1)})`;
      case Type.Symbol:
        return `Symbol(${this.quoted(bytes, start + 4, end - 1)})`;
      case Type.CodeWScope: {
        const scopeStart = payloadEnd(bytes, Type.String, start + 4, end);
        const scope = this.list({ bytes, type: Type.Object, start: scopeStart, end }, depth, '{', '}');
        return `Code(${this.quoted(bytes, start + 8, scopeStart - 1)}, ${scope})`;
      }
      case Type.Int32:
        return String(at.getInt32(0, true));
      case Type.Timestamp:
        return `Timestamp(${at.getUint32(4, true)}, ${at.getUint32(0, true)})`;
      case Type.Int64:
        return `Long("${int64Text(slice)}")`;
      case Type.Decimal128:
        return decimalDigits(bytes, start);
      case Type.MinKey:
        return 'MinKey';
      case Type.MaxKey:
        return 'MaxKey';
      default:
        return `<type 0x${type.toString(16)}>`;
    }
  }

  private list(slice: Slice, depth: number, open: string, close: string): string {
    if (depth >= deepest) return `${open} … ${close}`;
    const parts = elementsOf(slice);
    if (parts.length === 0) return open + close;
    let text = open;
    let separator = ' ';
    for (const part of parts) {
      // Nothing behind the cut is worth decoding.
      if (text.length > this.room) return text;
      const name = open === '[' ? '' : `${nameText(part.name)}: `;
      text += separator + name + this.write(part, depth + 1);
      separator = ', ';
    }
    return `${text} ${close}`;
  }

  /** Decodes no more of a long string than can be shown. */
  private quoted(bytes: Uint8Array, start: number, end: number): string {
    const shown = Math.min(end, start + this.room * 4 + 4);
    return JSON.stringify(decodeTolerant(bytes, start, shown));
  }
}

function nameText(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name);
}

/** A whole Double keeps its `.0`, so that it is told from an Int32. */
function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
}

function dateText(slice: Slice, at: DataView): string {
  const millis = at.getBigInt64(0, true);
  const inRange = millis >= -8_640_000_000_000_000n && millis <= 8_640_000_000_000_000n;
  return inRange ? `ISODate("${new Date(Number(millis)).toISOString()}")` : `Date(${int64Text(slice)})`;
}

function binaryText({ bytes, start, end }: Slice, room: number): string {
  const subType = bytes[start + 4]!;
  const from = start + 5;
  if (subType === 4 && end - from === 16) {
    const digits = hex(bytes, from, end);
    return `UUID("${digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}")`;
  }
  return `BinData(${subType}, "${toBase64(bytes.subarray(from, Math.min(end, from + room + 3)))}")`;
}
