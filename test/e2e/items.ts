import { MongoClient, type Collection } from 'mongodb';

interface Item {
  readonly _id: number;
  readonly n: number;
}

/** Works on the collection `shop.items` of a branch, as a user's program does. */
export async function withItems(uri: string, work: (items: Collection<Item>) => Promise<void>): Promise<void> {
  const client = new MongoClient(uri);
  try {
    await work(client.db('shop').collection<Item>('items'));
  } finally {
    await client.close();
  }
}
