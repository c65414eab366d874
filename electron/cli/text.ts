/** The words and small forms that commands print for people. */
import type { FieldPath } from '../../shared/api.ts';
import { shellText } from '../../shared/bson/ejson.ts';
import { fromBase64, typeName } from '../../shared/bson/value.ts';
import { formatDuration } from '../../shared/duration.ts';

/** `1 document`, `3 documents` */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** A value of the API as mongosh writes it. */
export function valueText(bson: string, maxLength = 100): string {
  return shellText(fromBase64(bson), maxLength);
}

/** `49 → 44.0 (Int32 → Double)`: the types where only or also they changed. */
export function moveText(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return to === undefined ? '' : valueText(to);
  if (to === undefined) return `${valueText(from)} → gone`;
  const [before, after] = [typeName(fromBase64(from)), typeName(fromBase64(to))];
  const types = before === after ? '' : ` (${before} → ${after})`;
  return `${valueText(from)} → ${valueText(to)}${types}`;
}

/** `lines[0].price`; a name that could be misread is quoted. */
export function pathText(path: FieldPath): string {
  const parts = path.map((part, at) => {
    if (typeof part === 'number') return `[${part}]`;
    const name = part === '' || /[.[\]"\s]/.test(part) ? JSON.stringify(part) : part;
    return at === 0 ? name : `.${name}`;
  });
  return parts.join('');
}

/** `in 59m 58s`, or `kept` */
export function expiryText(expiresAt: string | undefined, now = Date.now()): string {
  if (expiresAt === undefined) return 'kept';
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'now' : `in ${formatDuration(left)}`;
}

/** `1.2 GB`, in powers of ten as file managers count. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 || size >= 99.5 ? size.toFixed(0) : size.toFixed(1)} ${units[unit]}`;
}

/** Columns padded to their widest cell; numbers (given as such) to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number | undefined)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => (cell === undefined ? '' : String(cell))))];
  const widths = head.map((_, at) => Math.max(...cells.map((row) => [...(row[at] ?? '')].length)));
  const right = head.map((_, at) => rows.some((row) => typeof row[at] === 'number'));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => {
        const pad = ' '.repeat((widths[at] ?? 0) - [...cell].length);
        return right[at] === true ? pad + cell : cell + pad;
      })
      .join('  ')
      .trimEnd();
  return cells.map(line).join('\n');
}
