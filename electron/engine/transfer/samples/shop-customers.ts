import { BSON, Int32, Long } from 'mongodb';
import { Random } from './random.ts';
import { address } from './shop-address.ts';
import { customerCount, customerId, orderCounts } from './shop-buyers.ts';
import { firstNames, lastNames } from './shop-words.ts';

const firstDay = new Date('2024-02-01T08:00:00Z');
const lastDay = new Date('2026-10-31T20:00:00Z');

/** The shop's 8,614 customers with their addresses. */
export function* customers(): Generator<Uint8Array> {
  const random = new Random(3);
  const counts = orderCounts();
  for (let i = 0; i < customerCount; i++) {
    const first = random.pick(firstNames);
    const last = random.pick(lastNames);
    const orders = counts[i] ?? 0;
    yield BSON.serialize({
      _id: customerId(i),
      name: `${first} ${last}`,
      email: `${plain(first)}.${plain(last)}.${i}@example.${random.pick(['com', 'net', 'org'])}`,
      ...(random.percent(60) ? { phone: `+49 30 ${random.integer(100_000, 999_999)}` } : {}),
      tier: orders > 5 ? 'gold' : orders > 2 ? 'silver' : 'bronze',
      orderCount: new Int32(orders),
      points: Long.fromNumber(orders * 40 + random.integer(0, 39)),
      addresses: Array.from({ length: random.percent(25) ? 2 : 1 }, (_, n) =>
        address(n === 0 ? 'home' : 'work', random),
      ),
      newsletter: random.percent(40),
      ...(random.percent(30) ? { bornAt: random.date(new Date('1948-01-01'), new Date('2006-01-01')) } : {}),
      createdAt: random.date(firstDay, lastDay),
    });
  }
}

/** Fit for the part of an e-mail address before the @. */
function plain(name: string): string {
  return name
    .replace('Ł', 'L')
    .replace('ı', 'i')
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}
