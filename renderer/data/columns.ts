import { documentBytes, sameBytes, Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elements } from '../../shared/bson/walk.ts';
import { plainText } from '../bson/plain.ts';

/** One document of a page, taken apart at its top. */
export interface Row {
  /** The whole document as it came, base64. */
  readonly bson: string;
  readonly value: BsonValue;
  /** By name, those of objects also as `price.amount`; of a name that stands twice the first. */
  readonly fields: ReadonlyMap<string, BsonValue>;
}

export interface Column {
  readonly name: string;
  /** Most of its values are numbers: they stand at the right. */
  readonly numeric: boolean;
}

const numbers: ReadonlySet<number | undefined> = new Set([Type.Int32, Type.Int64, Type.Double, Type.Decimal128]);
const sampled = 100;

/** Texts longer than this on average say little in a column. */
const longText = 48;

export function rowOf(bson: string, value: BsonValue): Row {
  const fields = new Map<string, BsonValue>();
  const add = (name: string, own: BsonValue): void => {
    if (!fields.has(name)) fields.set(name, own);
  };
  for (const { name, value: own } of elements(documentBytes(value))) {
    add(name, own);
    if (own[0] !== Type.Object) continue;
    for (const inner of elements(documentBytes(own))) add(`${name}.${inner.name}`, inner.value);
  }
  return { bson, value, fields };
}

interface Seen {
  times: number;
  numeric: number;
  plain: number;
  bytes: number;
  sameAsId: number;
  readonly first: BsonValue;
  sameAsFirst: number;
  readonly order: number;
}

/**
 * The columns that say most about these documents: `_id`, then plain values that most of them have, in their order, also
 * those one level down. What only repeats the `_id`, what is the same in all, and long texts are left out while there is
 * better.
 */
export function columnsOf(rows: readonly Row[], most: number): Column[] {
  const sample = rows.slice(0, sampled);
  const seen = new Map<string, Seen>();
  for (const row of sample) {
    const id = row.fields.get('_id');
    let order = 0;
    for (const [name, value] of row.fields) {
      const known = seen.get(name) ?? {
        ...{ times: 0, numeric: 0, plain: 0, bytes: 0, sameAsId: 0, sameAsFirst: 0 },
        first: value,
        order,
      };
      known.times += 1;
      if (numbers.has(value[0])) known.numeric += 1;
      if (value[0] !== Type.Object && value[0] !== Type.Array) known.plain += 1;
      if (sameBytes(value, id)) known.sameAsId += 1;
      if (sameBytes(value, known.first)) known.sameAsFirst += 1;
      known.bytes += value.length;
      seen.set(name, known);
      order += 1;
    }
  }
  seen.delete('_id');
  const worth = ({ times, plain, bytes, sameAsId, sameAsFirst }: Seen): number =>
    times *
    (plain * 2 > times ? 1 : 0.2) *
    (bytes / times > longText ? 0.3 : 1) *
    (sameAsId === times ? 0.1 : 1) *
    (times > 1 && sameAsFirst === times ? 0.25 : 1);
  const containers = new Set([...seen.keys()].flatMap(prefixesOf));
  const chosen = [...seen]
    // Containers stand aside for what is in them.
    .filter(([name, { times }]) => times * 5 >= sample.length && !containers.has(name))
    .sort(([, a], [, b]) => worth(b) - worth(a) || a.order - b.order)
    .slice(0, most)
    .sort(([, a], [, b]) => a.order - b.order)
    .map(([name, { times, numeric }]) => ({ name, numeric: numeric * 2 > times }));
  return [{ name: '_id', numeric: false }, ...chosen];
}

const fewestChars = 7;
const mostChars = 24;

/** How wide a column is beside the others, in characters: as wide as most of its values are. */
export function columnChars(rows: readonly Row[], name: string): number {
  const lengths = rows
    .slice(0, sampled)
    .flatMap(({ fields }) => {
      const value = fields.get(name);
      return value === undefined ? [] : [plainText(value, mostChars).length];
    })
    .sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.9)] ?? 0;
  return Math.min(mostChars, Math.max(fewestChars, typical));
}

/** `a` and `a.b` of `a.b.c`: looked up for each of the names, of which one document may have 50,000. */
function prefixesOf(name: string): string[] {
  const prefixes: string[] = [];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) prefixes.push(name.slice(0, dot));
  return prefixes;
}
