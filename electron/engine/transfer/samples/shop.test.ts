import { createHash } from 'node:crypto';
import { BSON } from 'mongodb';
import { expect, it } from 'vitest';
import { shop } from './shop.ts';
import { three } from './three.ts';

/** The documents of a sample's collection, decoded for reading. */
function read(name: string): BSON.Document[] {
  const collection = shop.collections.find((one) => one.name === name)!;
  return [...collection.documents()].map((bytes) => BSON.deserialize(bytes, { promoteValues: false }));
}

it('the shop has the same bytes every time, in every process', () => {
  const before = process.cpuUsage();
  const hash = createHash('sha256');
  for (const { documents } of shop.collections) for (const document of documents()) hash.update(document);
  expect(hash.digest('hex')).toBe('6735dc41b2020673a39555ab618692d61c38c916b6ca734089b398bba26d507f');
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(3000);
});

it('the shop has 2,480 products, 8,614 customers and 18,240 orders, and says so', () => {
  for (const { name, count, documents } of shop.collections) {
    const ids = new Set([...documents()].map((bytes) => String(BSON.deserialize(bytes)['_id'])));
    expect([name, ids.size]).toEqual([name, count]);
  }
  expect(shop.collections.map(({ count }) => count)).toEqual([2_480, 8_614, 18_240]);
});

it('the shop’s unique keys are unique, its customers count their orders, and totals are sums', () => {
  const customers = new Map(read('customers').map((customer) => [String(customer['_id']), customer]));
  expect(new Set([...customers.values()].map(({ email }) => String(email))).size).toBe(customers.size);
  const counted = new Map<string, number>();
  for (const order of read('orders')) {
    counted.set(String(order['customer']), (counted.get(String(order['customer'])) ?? 0) + 1);
    const lines = order['lines'] as { price: BSON.Decimal128; quantity: BSON.Int32 }[];
    const cents = (amount: BSON.Decimal128) => Math.round(Number(amount.toString()) * 100);
    const sum = lines.reduce((total, line) => total + cents(line.price) * Number(line.quantity), 0);
    expect(sum + cents(order['shipping'].cost as BSON.Decimal128)).toBe(cents(order['total'] as BSON.Decimal128));
  }
  for (const [id, customer] of customers) expect(Number(customer['orderCount'])).toBe(counted.get(id) ?? 0);
});

it('the shop holds decimals, dates, integers, doubles, longs, object ids, arrays and nulls', () => {
  const product = read('products').find(({ _id }) => _id === 'KB-104')!;
  expect(product['name']).toBe('Walnut 75 keyboard');
  expect(product['price'].amount.toString()).toBe('129.00');
  expect(product['price'].validFrom).toBeInstanceOf(Date);
  expect(product['stock']).toBeInstanceOf(BSON.Int32);
  expect(product['weightKg']).toBeInstanceOf(BSON.Double);
  const types = new Set<string>();
  for (const { documents } of shop.collections) {
    for (const bytes of [...documents()].slice(0, 200)) {
      for (const value of Object.values(BSON.deserialize(bytes, { promoteValues: false, promoteLongs: false }))) {
        types.add(value === null ? 'null' : (value as object).constructor.name);
      }
    }
  }
  expect([...types]).toEqual(
    expect.arrayContaining([
      'String',
      'Object',
      'Int32',
      'Array',
      'ObjectId',
      'Double',
      'Date',
      'Long',
      'Decimal128',
      'null',
    ]),
  );
});

it('the three products are those of the tour, with Int32 prices', () => {
  const [products] = three.collections;
  const documents = [...products!.documents()].map((bytes) => BSON.deserialize(bytes, { promoteValues: false }));
  expect(documents.map(({ _id, name, price }) => [_id, name, price])).toEqual([
    ['p1', 'Desk lamp', new BSON.Int32(49)],
    ['p2', 'Monitor arm', new BSON.Int32(89)],
    ['p3', 'Cable tray', new BSON.Int32(19)],
  ]);
});
