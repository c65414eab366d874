const shape =
  /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Milliseconds since 1970 of an ISO 8601 date, also as old mongoexports wrote it (`+0000`); without an offset it is UTC,
 * as in mongosh. Undefined where it is no date or more precise than a millisecond.
 */
export function isoMillis(text: string): number | undefined {
  const found = shape.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = found;
  if (/[1-9]/.test(fraction.slice(3))) return undefined;
  const millis = fraction.slice(0, 3).padEnd(3, '0');
  const zone = offset === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(-2)}`;
  const value = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}${zone}`);
  if (Number.isNaN(value)) return undefined;
  // Date.parse rolls 31 February over into March.
  return Number(day) > 28 && Number(day) > daysIn(Number(year), Number(month)) ? undefined : value;
}

function daysIn(year: number, month: number): number {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
}
