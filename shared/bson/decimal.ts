/** Decimal128 taken apart: IEEE 754-2008 with the coefficient as a binary integer (BID), little endian. */
import { Decimal128 } from 'bson';

export type DecimalParts =
  | { readonly kind: 'nan' }
  | { readonly kind: 'infinity'; readonly negative: boolean }
  | { readonly kind: 'finite'; readonly negative: boolean; readonly coefficient: bigint; readonly exponent: number };

const exponentBias = 6176;
const largestCoefficient = 10n ** 34n - 1n;

/** The number in the 16 bytes from `start`. */
export function decimalParts(bytes: Uint8Array, start: number): DecimalParts {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, 16);
  const high = view.getBigUint64(8, true);
  const negative = high >> 63n === 1n;
  const combination = Number((high >> 58n) & 0x1fn);
  if (combination === 0x1f) return { kind: 'nan' };
  if (combination === 0x1e) return { kind: 'infinity', negative };
  // With both leading bits set the coefficient would exceed 34 digits; such an encoding stands for zero.
  const large = (combination & 0x18) === 0x18;
  const exponent = Number((high >> (large ? 47n : 49n)) & 0x3fffn) - exponentBias;
  const coefficient = large ? 0n : ((high & 0x1_ffff_ffff_ffffn) << 64n) | view.getBigUint64(0, true);
  return { kind: 'finite', negative, coefficient: coefficient > largestCoefficient ? 0n : coefficient, exponent };
}

/** The text that gives exactly these 16 bytes again, or undefined where none does (a NaN with a payload, for one). */
export function decimalText(bytes: Uint8Array, start: number): string | undefined {
  const own = bytes.slice(start, start + 16);
  const text = new Decimal128(own).toString();
  const again = decimalBytes(text);
  if (again === undefined) return undefined;
  for (let i = 0; i < 16; i++) if (again[i] !== own[i]) return undefined;
  return text;
}

/** The 16 bytes of a decimal, or undefined where the text is none or does not fit without rounding. */
export function decimalBytes(text: string): Uint8Array | undefined {
  const short = shortDecimal.exec(text);
  if (short !== null) return shortDecimalBytes(short[1] === '-', short[2]!, short[3] ?? '');
  try {
    return Decimal128.fromString(text).bytes;
  } catch {
    return undefined;
  }
}

/** Prices and the like, which the general reader of any decimal takes ten times as long for. */
const shortDecimal = /^(-?)(0|[1-9]\d{0,8})(?:\.(\d{1,6}))?$/;

function shortDecimalBytes(negative: boolean, whole: string, fraction: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  const coefficient = Number(whole + fraction);
  view.setUint32(0, coefficient % 0x1_0000_0000, true);
  view.setUint32(4, Math.floor(coefficient / 0x1_0000_0000), true);
  // The exponent stands below the sign bit of the upper half.
  view.setUint32(12, (exponentBias - fraction.length) * 0x2_0000 + (negative ? 0x8000_0000 : 0), true);
  return bytes;
}

/** Plain digits as a person writes them (`129.00`), scientific only where more than 40 digits would be needed. */
export function decimalDigits(bytes: Uint8Array, start: number): string {
  const parts = decimalParts(bytes, start);
  if (parts.kind === 'nan') return 'NaN';
  const sign = parts.negative ? '-' : '';
  if (parts.kind === 'infinity') return `${sign}Infinity`;
  const digits = parts.coefficient.toString();
  const { exponent } = parts;
  if (exponent >= 0) {
    if (digits.length + exponent > 40) return `${sign}${digits}E+${exponent}`;
    return `${sign}${digits === '0' ? '0' : digits + '0'.repeat(exponent)}`;
  }
  if (-exponent > 40) return `${sign}${digits}E${exponent}`;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
