/** The order of names on several sides. */

/**
 * `primary`, with each name that only another list has put right behind its nearest predecessor there; a name without one comes
 * first. Earlier lists go before later ones.
 */
export function interleave(primary: readonly string[], ...others: (readonly string[])[]): readonly string[] {
  let merged = primary;
  for (const other of others) merged = insertMissing(merged, other);
  return merged;
}

function insertMissing(list: readonly string[], other: readonly string[]): readonly string[] {
  const known = new Set(list);
  if (other.every((name) => known.has(name))) return list;
  const first: string[] = [];
  const behind = new Map<string, string[]>();
  let group = first;
  for (const name of other) {
    if (known.has(name)) {
      group = behind.get(name) ?? [];
      behind.set(name, group);
    } else group.push(name);
  }
  return [...first, ...list.flatMap((name) => [name, ...(behind.get(name) ?? [])])];
}

export function sameOrder(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, index) => name === b[index]));
}
