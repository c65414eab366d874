import { Decimal128, ObjectId } from 'mongodb';

/** A small generator (mulberry32) of the same numbers for the same seed, on every machine. Never for secrets. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 2³² − 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** From `from` to `to`, both included. */
  integer(from: number, to: number): number {
    return from + (this.next() % (to - from + 1));
  }

  /** True in so many of a hundred. */
  percent(chance: number): boolean {
    return this.next() % 100 < chance;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.next() % list.length]!;
  }

  /** A moment between two, to the second. */
  date(from: Date, to: Date): Date {
    return new Date(from.getTime() + this.integer(0, Math.floor((to.getTime() - from.getTime()) / 1000)) * 1000);
  }

  /** As the server would have made it at that moment, the rest drawn. */
  objectId(at: Date): ObjectId {
    const hex = (n: number) => n.toString(16).padStart(8, '0');
    return new ObjectId(hex(Math.floor(at.getTime() / 1000)) + hex(this.next()) + hex(this.next()));
  }
}

/** Whole cents as an exact decimal: 12900 is 129.00. */
export function money(cents: number): Decimal128 {
  return Decimal128.fromString(`${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`);
}
