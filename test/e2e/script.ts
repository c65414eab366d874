import { MongoClient } from 'mongodb';

interface Product {
  _id: string;
  price: number;
  sku?: string;
}

/** What a user's script does with nothing but the connection string: ten percent off, and p3 deleted. */
export async function cutPrices(uri: string): Promise<void> {
  await withProducts(uri, async (products) => {
    await products.updateMany({}, [{ $set: { price: { $round: [{ $multiply: ['$price', 0.9] }, 0] } } }]);
    await products.deleteOne({ _id: 'p3' });
  });
}

export async function setPrice(uri: string, _id: string, price: number): Promise<void> {
  await withProducts(uri, async (products) => {
    await products.updateOne({ _id }, { $set: { price } });
  });
}

export async function prices(uri: string): Promise<Record<string, number>> {
  let found: Record<string, number> = {};
  await withProducts(uri, async (products) => {
    found = Object.fromEntries(
      (await products.find().sort({ _id: 1 }).toArray()).map(({ _id, price }) => [_id, price]),
    );
  });
  return found;
}

/** Whether anybody answers under the connection string. */
export async function answers(uri: string): Promise<boolean> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 500 });
  return client
    .connect()
    .then(
      () => true,
      () => false,
    )
    .finally(() => client.close());
}

export async function withProducts(
  uri: string,
  work: (products: ReturnType<typeof productsOf>) => Promise<unknown>,
): Promise<void> {
  const client = new MongoClient(uri);
  try {
    await client.connect();
    await work(productsOf(client));
  } finally {
    await client.close();
  }
}

function productsOf(client: MongoClient) {
  return client.db('shop').collection<Product>('products');
}
