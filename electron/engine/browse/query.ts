import { EjsonError } from '../../../shared/bson/ejson.ts';
import { parseShell } from '../../../shared/bson/shell-reader.ts';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import { elementsOf, valueSlice, type Slice } from '../../../shared/bson/walk.ts';
import { ForkyardError } from '../../../shared/errors.ts';

/** They run code inside the server. */
const refused = new Set(['$where', '$function', '$accumulator']);

/**
 * A filter as it was typed, as bytes; undefined where nothing was.
 * @throws ForkyardError `query_invalid`, with `line` and `column` in its details where the text cannot be read
 */
export function parseFilter(text: string | undefined): BsonValue | undefined {
  const filter = parseObject(text, 'filter', '{ price: { $gt: 5 } }');
  if (filter) requireHarmless(valueSlice(filter));
  return filter;
}

/** A sort as it was typed: 1 and -1 by field, or `{ $meta: "textScore" }`. @throws ForkyardError `query_invalid` */
export function parseSort(text: string | undefined): BsonValue | undefined {
  return parseObject(text, 'sort', '{ price: -1 }');
}

function parseObject(text: string | undefined, what: string, example: string): BsonValue | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = parse(text, what, example);
  if (value[0] !== Type.Object) {
    throw new ForkyardError('query_invalid', `The ${what} is not an object.`, { hint: `Write it as ${example}.` });
  }
  return elementsOf(valueSlice(value)).length === 0 ? undefined : value;
}

function parse(text: string, what: string, example: string): BsonValue {
  try {
    return parseShell(text);
  } catch (error) {
    if (!(error instanceof EjsonError)) throw error;
    const { line, column } = error;
    const place = text.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`;
    throw new ForkyardError('query_invalid', `The ${what} cannot be read at ${place}: ${error.message}`, {
      hint: `Write it as ${example}.`,
      details: { what, line, column },
      cause: error,
    });
  }
}

function requireHarmless(slice: Slice): void {
  const pending: Slice[] = [slice];
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const element of elementsOf(next)) {
      if (next.type === Type.Object && refused.has(element.name)) {
        throw new ForkyardError(
          'query_invalid',
          `${element.name} runs code in the server, so it cannot be used here.`,
          {
            hint: 'Use query operators such as $gt, $in, $regex or $expr.',
          },
        );
      }
      if (element.type === Type.Object || element.type === Type.Array) pending.push(element);
    }
  }
}
