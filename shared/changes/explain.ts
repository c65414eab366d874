/** Why a document must be decided, in words. Sides are named by their branches. */
import { shellText } from '../bson/ejson.ts';
import { type BsonValue, sameBytes, Type, typeName } from '../bson/value.ts';
import type { FieldDelta } from './sides.ts';

/** `"p1" of shop.products` */
export function documentName(ns: string, key: BsonValue): string {
  return `${shellText(key, 80)} of ${ns}`;
}

/** A path as a JSON pointer, as `--only` and `--take` want it. */
export function pointerText(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** At most `shown` of the texts, and how many more there are. */
export function firstOf(texts: readonly string[], shown = 3): string {
  const more = texts.length - shown;
  return more > 0 ? `${texts.slice(0, shown).join(', ')} and ${more} more` : texts.join(', ');
}

/**
 * One sentence on a document in conflict: `main and price-update changed /price of "p2" of shop.products differently (85, 80).`
 * Undefined where it is in none.
 */
export function explainConflict(
  { ns, key, fields }: { readonly ns: string; readonly key: BsonValue; readonly fields: readonly FieldDelta[] },
  names: { readonly parent: string; readonly branch: string },
): string | undefined {
  const divergent = fields.filter((delta) => delta.class === 'divergent');
  const [first] = divergent;
  if (first === undefined) return undefined;
  const { parent, branch } = names;
  const what = documentName(ns, key);
  if (first.path.length === 0 && first.order !== true) {
    if (first.parent === undefined) return `${parent} removed ${what}, ${branch} changed it.`;
    if (first.branch === undefined) return `${branch} removed ${what}, ${parent} changed it.`;
    if (first.base === undefined) return `${parent} and ${branch} both added ${what}, with different fields.`;
  }
  const [only] = divergent.length === 1 ? divergent : [];
  if (only === undefined) {
    return `${parent} and ${branch} changed ${firstOf(divergent.map(placeText))} of ${what} differently.`;
  }
  const place = placeText(only);
  if (only.order === true) return `${parent} and ${branch} put ${place} of ${what} in different orders.`;
  if (only.parent === undefined) return `${parent} removed ${place} of ${what}, ${branch} changed it.`;
  if (only.branch === undefined) return `${branch} removed ${place} of ${what}, ${parent} changed it.`;
  if (sameBytes(only.parent, only.base))
    return `${branch} changed ${place} of ${what}, ${parent} changed other fields of it.`;
  const whole = only.parent[0] === Type.Array && only.branch[0] === Type.Array;
  const why = whole ? '; what became of which element cannot be told' : `, to ${valuesText(only.parent, only.branch)}`;
  return `${parent} and ${branch} changed ${place} of ${what} differently${why}.`;
}

/** Both values; with their types where those differ. */
function valuesText(a: BsonValue, b: BsonValue): string {
  const [left, right] = [shellText(a, 40), shellText(b, 40)];
  return a[0] === b[0] ? `${left} and ${right}` : `${left} (${typeName(a)}) and ${right} (${typeName(b)})`;
}

function placeText({ path, order }: FieldDelta): string {
  if (path.length === 0) return order === true ? 'the fields' : 'the whole';
  return pointerText(path);
}
