const grouped = new Intl.NumberFormat('en-US');

/** `1842` -> `1,842` */
export function count(value: number): string {
  return grouped.format(value);
}

/** `2 documents`, `1 index`; the plural is given where it is not the word with an `s`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `1.2 GB`, `684 MB`, decimal units as file managers show them. */
export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${units[unit] ?? 'B'}`;
}

/** Names in a sentence: `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? '';
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1] ?? ''}`;
}
