import { BSON, Decimal128, Int32 } from 'mongodb';
import { money, Random } from './random.ts';
import { address } from './shop-address.ts';
import { buyers, customerId, orderCount } from './shop-buyers.ts';
import { articles } from './shop-products.ts';

export const statuses = ['open', 'paid', 'packed', 'shipped', 'delivered', 'returned', 'cancelled'] as const;

const firstDay = Date.parse('2025-01-02T07:30:00Z');
const lastDay = Date.parse('2026-11-27T18:00:00Z');

/** The shop's 18,240 orders, oldest first; totals are the sums of their lines and shipping. */
export function* orders(): Generator<Uint8Array> {
  const random = new Random(5);
  const list = articles();
  let number = 100_000;
  for (const buyer of buyers()) {
    const placed = firstDay + Math.floor(((lastDay - firstDay) * (number - 100_000)) / orderCount / 1000) * 1000;
    const placedAt = new Date(placed + random.integer(0, 1700) * 1000);
    number += 1;
    const lines = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3, 5]) }, (_, i) => {
      const { sku, name, cents } = random.pick(list);
      return { id: i + 1, sku, name, cents, quantity: random.pick([1, 1, 1, 1, 2, 2, 3, 6]) };
    });
    const shipping = random.pick([0, 490, 490, 990]);
    const total = lines.reduce((sum, { cents, quantity }) => sum + cents * quantity, shipping);
    const status = placed > lastDay - 12 * 86_400_000 ? random.pick(statuses.slice(0, 4)) : random.pick(settled);
    yield BSON.serialize({
      _id: random.objectId(placedAt),
      number: new Int32(number),
      customer: customerId(buyer),
      status,
      placedAt,
      lines: lines.map(({ id, sku, name, cents, quantity }) => ({
        _id: new Int32(id),
        sku,
        name,
        quantity: new Int32(quantity),
        price: money(cents),
      })),
      shipping: {
        method: shipping === 990 ? 'express' : 'standard',
        cost: money(shipping),
        address: address('ship', random),
      },
      payment: payment(status, placedAt, random),
      ...(random.percent(12)
        ? { coupon: { code: `SPRING${random.integer(10, 30)}`, share: Decimal128.fromString('0.10') } }
        : {}),
      total: money(total),
      ...(random.percent(6)
        ? { note: random.pick(['Please ring twice.', 'Leave with the neighbour.', 'It is a present 🎁']) }
        : {}),
    });
  }
}

const settled = [
  'delivered',
  'delivered',
  'delivered',
  'delivered',
  'delivered',
  'delivered',
  'returned',
  'cancelled',
] as const;

function payment(status: string, placedAt: Date, random: Random): BSON.Document {
  const paidAt =
    status === 'open' || status === 'cancelled'
      ? null
      : new Date(placedAt.getTime() + random.integer(20, 90_000) * 1000);
  return { method: random.pick(['card', 'card', 'invoice', 'transfer']), paidAt };
}
