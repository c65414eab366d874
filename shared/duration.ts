import { ForkyardError } from './errors.ts';

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 3650 * units.d;

/**
 * A time to live as people write it: `30s 45m 1h 2d 7d` in milliseconds, `keep` as null. Throws `ttl_invalid` for
 * everything else, zero and negative ones among them.
 */
export function parseTtl(text: string): number | null {
  if (text === 'keep') return null;
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(amount) * units[unit as keyof typeof units];
  if (ms > 0 && ms <= longestMs) return ms;
  throw new ForkyardError('ttl_invalid', `"${text}" is not a time to live.`, {
    hint: 'Write a whole number and a unit, as in 30s, 45m, 1h or 7d (at most 3650d), or keep.',
  });
}

/** `90_000` as `1m 30s`: the two largest units that are not zero. */
export function formatDuration(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1000)) * 1000;
  const parts: string[] = [];
  for (const [unit, size] of Object.entries(units).reverse()) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0 && parts.length < 2) parts.push(`${amount}${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}
