import { documentBytes, sameBytes, stringValue, Type, type BsonValue } from '../../../shared/bson/value.ts';
import { elements, rawElement, type Element } from '../../../shared/bson/walk.ts';

/** The names whose values differ, as `from` and `to` have them. */
function differences(from: BsonValue, to: BsonValue): Map<string, { from?: BsonValue; to?: BsonValue }> {
  const sides = [from, to].map(
    (value) => new Map(elements(documentBytes(value)).map(({ name, value: v }) => [name, v])),
  );
  const names = new Set(sides.flatMap((side) => [...side.keys()]));
  const found = new Map<string, { from?: BsonValue; to?: BsonValue }>();
  for (const name of names) {
    const [a, b] = sides.map((side) => side.get(name));
    if (!sameBytes(a, b)) found.set(name, { ...(a ? { from: a } : {}), ...(b ? { to: b } : {}) });
  }
  return found;
}

/**
 * What a `collMod` says to turn the options of a collection into others: the size of a capped one, the lifetime of what a
 * clustered or time-series one holds. Undefined where something else differs, which no command changes.
 */
export function changedOptions(from: BsonValue | undefined, to: BsonValue | undefined): Element[] | undefined {
  if (!from || !to) return undefined;
  const change: Element[] = [];
  for (const [name, side] of differences(from, to)) {
    if (name === 'size' && side.to) change.push(rawElement('cappedSize', side.to));
    else if (name === 'max') change.push(rawElement('cappedMax', side.to ?? int32(0)));
    else if (name === 'expireAfterSeconds') change.push(rawElement(name, side.to ?? stringValue('off')));
    else return undefined;
  }
  return change;
}

/** The `index` of a `collMod` that hides or shows it or changes its lifetime; undefined where more than that differs. */
export function changedIndex(from: BsonValue, to: BsonValue): Element[] | undefined {
  const change: Element[] = [];
  for (const [name, side] of differences(from, to)) {
    if (name === 'hidden') change.push(rawElement(name, side.to ?? new Uint8Array([Type.Boolean, 0])));
    else if (name === 'expireAfterSeconds' && side.from && side.to) change.push(rawElement(name, side.to));
    else return undefined;
  }
  const name = elements(documentBytes(to)).find((part) => part.name === 'name');
  return name ? [name, ...change] : undefined;
}

function int32(value: number): BsonValue {
  return new Uint8Array([Type.Int32, value & 0xff, 0, 0, 0]);
}
