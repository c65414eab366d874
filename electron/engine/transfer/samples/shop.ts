import { Int32 } from 'mongodb';
import type { Sample } from './sample.ts';
import { customerCount, orderCount } from './shop-buyers.ts';
import { customers } from './shop-customers.ts';
import { orders, statuses } from './shop-orders.ts';
import { articleCount, products } from './shop-products.ts';

const one = new Int32(1);
const minusOne = new Int32(-1);

/** A shop for desks and what stands on them: a data set of every common shape, with indexes and a validator. */
export const shop: Sample = {
  collections: [
    {
      name: 'products',
      indexes: [
        { key: { sku: one }, name: 'sku', unique: true },
        { key: { category: one, 'price.amount': minusOne }, name: 'category_price' },
        {
          key: { name: 'text', description: 'text', tags: 'text' },
          name: 'search',
          weights: { name: new Int32(10), tags: new Int32(4), description: one },
        },
      ],
      count: articleCount,
      documents: products,
    },
    {
      name: 'customers',
      indexes: [
        { key: { email: one }, name: 'email', unique: true },
        { key: { 'addresses.location': '2dsphere' }, name: 'near' },
        { key: { tier: one, createdAt: minusOne }, name: 'tier_newest' },
      ],
      count: customerCount,
      documents: customers,
    },
    {
      name: 'orders',
      options: {
        validator: {
          $jsonSchema: {
            bsonType: 'object',
            required: ['number', 'customer', 'status', 'placedAt', 'lines', 'total'],
            properties: {
              status: { enum: statuses },
              placedAt: { bsonType: 'date' },
              lines: {
                bsonType: 'array',
                minItems: one,
                items: { bsonType: 'object', required: ['sku', 'quantity', 'price'] },
              },
              total: { bsonType: 'decimal' },
            },
          },
        },
      },
      indexes: [
        { key: { number: one }, name: 'number', unique: true },
        { key: { customer: one, placedAt: minusOne }, name: 'customer_newest' },
        { key: { placedAt: one }, name: 'open', partialFilterExpression: { status: 'open' } },
        { key: { 'lines.sku': one }, name: 'sold' },
      ],
      count: orderCount,
      documents: orders,
    },
  ],
};
