/**
 * The program that the demo hands a connection string to: an ordinary driver in a process of its own, which knows nothing
 * but MONGODB_URI. Prints one JSON value.
 */
import { MongoClient } from 'mongodb';

interface Product {
  _id: string;
  name: string;
  price: number;
}

const client = new MongoClient(process.env['MONGODB_URI'] ?? '', { serverSelectionTimeoutMS: 5000 });
const products = client.db('shop').collection<Product>('products');

const actions: Record<string, () => Promise<unknown>> = {
  /** Ten per cent off everything, in whole numbers, and the cheapest product goes. */
  async reprice() {
    const cheaper = { $round: [{ $multiply: ['$price', 0.9] }, 0] };
    const { modifiedCount } = await products.updateMany({}, [{ $set: { price: cheaper } }]);
    const { deletedCount } = await products.deleteOne({ _id: 'p3' });
    return { modifiedCount, deletedCount };
  },
  async 'raise-p2'() {
    const { modifiedCount } = await products.updateOne({ _id: 'p2' }, { $set: { price: 85 } });
    return { modifiedCount };
  },
  async prices() {
    const found = await products.find().sort({ _id: 1 }).toArray();
    return Object.fromEntries(found.map(({ _id, price }) => [_id, price]));
  },
  async connects() {
    return client.connect().then(
      () => true,
      () => false,
    );
  },
};

const action = actions[process.argv[2] ?? ''];
if (action === undefined) throw new Error(`no action ${String(process.argv[2])}`);
try {
  console.log(JSON.stringify(await action()));
} finally {
  await client.close();
}
