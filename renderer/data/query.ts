import { EjsonError } from '../../shared/bson/ejson.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { parseShell } from '../../shared/bson/shell-reader.ts';
import { fromBase64, Type } from '../../shared/bson/value.ts';

export interface Mistake {
  readonly message: string;
  /** Where in the text, from 0; undefined where it is about the whole. */
  readonly at: number | undefined;
}

/** What is wrong with a filter or a sort as it is typed; undefined where nothing is, and where nothing was typed. */
export function mistakeIn(text: string): Mistake | undefined {
  if (text.trim() === '') return undefined;
  try {
    return parseShell(text)[0] === Type.Object ? undefined : { message: 'Write an object: { … }.', at: undefined };
  } catch (error) {
    if (!(error instanceof EjsonError)) throw error;
    return { message: error.message, at: positionOf(text, error.line, error.column) };
  }
}

/** A filter for these documents only, by their `_id`s in base64. */
export function amongIds(filter: string, ids: readonly string[]): string {
  const among = `{"_id": {"$in": [${ids.map((id) => toEjson(fromBase64(id))).join(', ')}]}}`;
  return filter.trim() === '' ? among : `{"$and": [${among}, ${filter}]}`;
}

/** The sort after a click on a column: ascending, descending, none. */
export function nextSort(sort: string, column: string): string {
  switch (sortDirection(sort, column)) {
    case 'ascending':
      return `{ ${JSON.stringify(column)}: -1 }`;
    case 'descending':
      return '';
    default:
      return `{ ${JSON.stringify(column)}: 1 }`;
  }
}

/** How a sort orders by a column where it is the only one. */
export function sortDirection(sort: string, column: string): 'ascending' | 'descending' | undefined {
  const text = sort.replace(/\s/g, '');
  for (const name of [JSON.stringify(column), `'${column}'`, column]) {
    if (text === `{${name}:1}`) return 'ascending';
    if (text === `{${name}:-1}`) return 'descending';
  }
  return undefined;
}

function positionOf(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}
