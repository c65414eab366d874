import {
  Binary,
  BSONRegExp,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  type Document,
} from 'mongodb';

/** A seeded source of randomness (mulberry32): a failing history is run again from its seed. */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

const words = ['', 'oak', 'walnut', 'désk', '测试', 'a.b', '$x', 'emoji 🛠', 'line\r\nbreak', 'x'.repeat(300)];

/** A scalar of any type that a driver can write. */
export function scalar(random: Random): unknown {
  const makers: (() => unknown)[] = [
    () => new Int32(random.int(2_000) - 1_000),
    () => new Long(random.int(2 ** 31), random.int(2 ** 31)),
    () => Long.fromNumber(random.int(10)),
    () => new Double(random.int(1_000) / 8),
    () => new Double(random.pick([-0, 0, NaN, Infinity, -Infinity, 5])),
    () => Decimal128.fromString(random.pick(['5', '5.0', '5.00', '-0', '1E+3', '129.00'])),
    () => random.pick(words),
    () => new Date(random.int(4_000_000) * 1_000_000 - 1_000_000_000_000),
    () => objectId(random.int(2 ** 31)),
    () => new Binary(Buffer.from([random.int(256), random.int(256)]), random.pick([0, 3, 4, 5, 128])),
    () => null,
    () => random.chance(0.5),
    () => new Timestamp({ t: 1 + random.int(1_000), i: 1 + random.int(10) }),
    () => new BSONRegExp(random.pick(['^a', 'b$']), 'i'),
    () => random.pick([new MinKey(), new MaxKey()]),
  ];
  return random.pick(makers)();
}

export function value(random: Random, depth = 0): unknown {
  if (depth < 2 && random.chance(0.2)) return fields(random, depth + 1);
  if (depth < 2 && random.chance(0.15)) {
    const withIds = random.chance(0.5);
    return Array.from({ length: random.int(5) }, (_, index) =>
      withIds ? { _id: new Int32(index), q: scalar(random) } : value(random, depth + 1),
    );
  }
  return scalar(random);
}

export const fieldNames = ['price', 'stock', 'name', 'tags', 'address', 'nested', 'z', '10', '2'];

export function fields(random: Random, depth = 0): Document {
  const document: Document = {};
  for (let count = 1 + random.int(5); count > 0; count -= 1) document[random.pick(fieldNames)] = value(random, depth);
  return document;
}

/** Keys come from a small set, so that operations meet; of several types, some equal across types. */
export function key(random: Random): unknown {
  const n = random.int(12);
  return random.pick([
    () => `k${n}`,
    () => new Int32(n),
    () => objectId(n),
    () => ({ a: new Int32(n % 3), b: 'x' }),
    () => Long.fromNumber(1_000 + n),
    () => new Date(n * 86_400_000),
  ])();
}

function objectId(n: number): ObjectId {
  return new ObjectId(n.toString(16).padStart(24, '0'));
}
