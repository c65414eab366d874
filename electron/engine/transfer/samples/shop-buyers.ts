import { Random } from './random.ts';

export const customerCount = 8_614;
export const orderCount = 18_240;

/** The customer's `_id` by its place in the list. */
export function customerId(index: number): string {
  return `c-${15_000 + index}`;
}

/** How many orders each customer has placed, by its place in the list. */
export function orderCounts(): Uint16Array {
  const counts = new Uint16Array(customerCount);
  for (const buyer of buyers()) counts[buyer]! += 1;
  return counts;
}

/** Who placed each order. Some come again and again. */
export function* buyers(): Generator<number> {
  const random = new Random(4);
  for (let i = 0; i < orderCount; i++)
    yield random.integer(0, random.percent(35) ? customerCount >> 3 : customerCount - 1);
}
