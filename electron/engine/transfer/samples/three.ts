import { BSON, Int32 } from 'mongodb';
import type { Sample } from './sample.ts';

const products = [
  { _id: 'p1', name: 'Desk lamp', price: new Int32(49) },
  { _id: 'p2', name: 'Monitor arm', price: new Int32(89) },
  { _id: 'p3', name: 'Cable tray', price: new Int32(19) },
];

/** The three products of the guided tour. */
export const three: Sample = {
  collections: [
    { name: 'products', count: products.length, documents: () => products.map((one) => BSON.serialize(one)) },
  ],
};
