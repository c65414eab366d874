/** What the readers of single wrappers share. */
import type { ByteWriter } from './byte-writer.ts';
import type { JsonCursor } from './json-cursor.ts';
import { fromBase64 } from './value.ts';

export interface WrapperSource {
  /** Behind the first key's colon. */
  readonly cursor: JsonCursor;
  readonly out: ByteWriter;
  /** Where the first key stands, for messages. */
  readonly nameAt: number;
  /** Writes the object at the cursor as a document. */
  readonly document: () => void;
}

/** Writes the payload and gives the type, the cursor before the closing brace; undefined where it is a plain object. */
export type Wrapper = (source: WrapperSource) => number | undefined;

const utf8 = new TextEncoder();
export const quote = 0x22;
export const brace = 0x7b;
export const comma = 0x2c;

export function base64Of({ cursor, nameAt }: WrapperSource, text: string): Uint8Array {
  try {
    return fromBase64(text.padEnd(Math.ceil(text.length / 4) * 4, '='));
  } catch {
    throw cursor.error('A binary value is no valid base64.', nameAt);
  }
}

/** The texts under these names, in any order and no others. */
export function strings<const N extends readonly [string, string]>(
  { cursor, nameAt }: WrapperSource,
  names: N,
  message: string,
): [string, string] {
  cursor.take(brace, 'an object');
  const found = new Map<string, string>();
  do {
    const name = cursor.string('a name');
    cursor.take(0x3a, 'a colon');
    found.set(name, cursor.string('a text in double quotes'));
  } while (another(cursor));
  cursor.take(0x7d, 'the end of the object');
  const [a, b] = [found.get(names[0]), found.get(names[1])];
  if (a === undefined || b === undefined || found.size !== 2) throw cursor.error(message, nameAt);
  return [a, b];
}

/** Takes a comma, if one comes next. */
export function another(cursor: JsonCursor): boolean {
  if (cursor.peek() !== comma) return false;
  cursor.pos++;
  return true;
}

export function putString(
  { cursor, out, nameAt }: Pick<WrapperSource, 'cursor' | 'out' | 'nameAt'>,
  text: string,
): void {
  const bytes = encode(cursor, nameAt, text);
  out.int32(bytes.length + 1);
  out.put(bytes);
  out.byte(0);
}

export function encode(cursor: JsonCursor, nameAt: number, text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text))
    throw cursor.error('Half a surrogate pair stands alone; it cannot be stored.', nameAt);
  return utf8.encode(text);
}

export function fromHex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(digits.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}
