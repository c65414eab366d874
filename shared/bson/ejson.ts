/** Extended JSON: the text form of values on the command line, in files and for people. */
import { EjsonError, type OnDuplicate } from './ejson-error.ts';
import { EjsonParser } from './ejson-parser.ts';
import { type BsonValue, stringValue } from './value.ts';

export { EjsonError } from './ejson-error.ts';
export { EjsonReader } from './ejson-reader.ts';
export { toEjson } from './ejson-write.ts';
export { shellText } from './shell-text.ts';

/**
 * One complete Extended JSON value. Whole numbers become Int32, Int64 where they are larger, Double beyond that if it
 * holds them exactly; with a dot or exponent they are Double. Of fields that stand twice the last one is kept and
 * `onDuplicate` told. Throws {@link EjsonError}.
 */
export function parseEjson(text: string, onDuplicate?: OnDuplicate): BsonValue {
  const parser = new EjsonParser(text, text.charCodeAt(0) === 0xfeff ? 1 : 0, { line: 1, column: 1 });
  const value = parser.read();
  if (!Number.isNaN(parser.peek())) parser.failExpected('nothing more');
  parser.report(onDuplicate);
  return value;
}

/** A complete Extended JSON value, or the text itself as a String: how ids are written on a command line. */
export function parseId(text: string): BsonValue {
  try {
    return parseEjson(text);
  } catch (error) {
    if (error instanceof EjsonError) return stringValue(text);
    throw error;
  }
}
