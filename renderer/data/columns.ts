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
  /** How wide it is beside the others, in characters: as wide as most of its values are, and its name within bounds. */
  readonly chars: number;
}

const numbers: ReadonlySet<number | undefined> = new Set([Type.Int32, Type.Int64, Type.Double, Type.Decimal128]);
const sampled = 100;
/** One document may have 50,000 fields: so many are looked at for their width. */
const measured = 40;

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
 * The columns that say most about these documents and fit beside each other: `_id`, then plain values that most of them have,
 * in their order, also those one level down. What only repeats the `_id`, what is the same in all, and long texts are left
 * out while there is better; so is a wide one for a narrower that fits.
 * @param room for all of them, in characters; one beside the `_id` there is in any case
 */
export function columnsOf(rows: readonly Row[], room: number): Column[] {
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
  const best = [...seen]
    // Containers stand aside for what is in them.
    .filter(([name, { times }]) => times * 5 >= sample.length && !containers.has(name))
    .sort(([, a], [, b]) => worth(b) - worth(a) || a.order - b.order)
    .slice(0, measured);
  const id = { name: '_id', numeric: false, chars: columnChars(sample, '_id') };
  const chosen: { column: Column; order: number }[] = [];
  let left = room - id.chars;
  for (const [name, { times, numeric, order }] of best) {
    const chars = columnChars(sample, name);
    if (chosen.length > 0 && left < chars + gapChars) continue;
    chosen.push({ column: { name, numeric: numeric * 2 > times, chars }, order });
    left -= chars + gapChars;
  }
  return [id, ...chosen.sort((a, b) => a.order - b.order).map(({ column }) => column)];
}

const fewestChars = 7;
const mostChars = 24;
/** Between two columns. */
const gapChars = 2;
/** A column's name is set smaller, and narrower, than its values. */
const nameScale = 0.9;

function columnChars(sample: readonly Row[], name: string): number {
  const lengths = sample
    .flatMap(({ fields }) => {
      const value = fields.get(name);
      if (value === undefined) return [];
      const { length } = plainText(value, mostChars);
      // The quotes of a text are not shown.
      return [value[0] === Type.String ? length - 2 : length];
    })
    .sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.9)] ?? 0;
  return Math.min(mostChars, Math.max(fewestChars, typical, Math.ceil(name.length * nameScale)));
}

/** `a` and `a.b` of `a.b.c`: looked up for each of the names, of which one document may have 50,000. */
function prefixesOf(name: string): string[] {
  const prefixes: string[] = [];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) prefixes.push(name.slice(0, dot));
  return prefixes;
}
