import { Decimal128, MongoClient, type Document } from 'mongodb';

type Cli = (...args: string[]) => Promise<unknown>;

/** A shop afternoon: an agent updates prices, an editor helps, tests run beside, and main goes on meanwhile. */
export async function tellStory(cli: Cli): Promise<void> {
  await cli('import', 'sample:shop', '--into', 'main');
  await cli('pin', 'main', 'before-the-sale');
  await cli('fork', 'stock-audit', '--ttl', '1h', '--actor', 'stock-bot');
  await withShop(await uri(cli, 'stock-audit'), async (shop) => {
    await shop
      .collection<Document>('products')
      .updateMany({ _id: { $gte: 'CH-001', $lt: 'CH-012' } as never }, { $inc: { stock: -2 } });
    await shop.collection<Document>('products').deleteOne({ _id: 'CH-030' as never });
  });
  await cli('adopt', 'stock-audit');
  await cli('discard', 'stock-audit');
  await cli('fork', 'price-update', '--ttl', '1h', '--actor', 'claude-code');
  await cli('fork', 'checkout-tests', '--ttl', '18m', '--actor', 'npm-test');
  await cli('fork', 'demo-stage', '--ttl', '7d', '--actor', 'stage');
  await cli('keep', 'demo-stage');
  await cli('sleep', 'demo-stage');
  await withShop(await uri(cli, 'price-update', 'claude-code'), updatePrices);
  await withShop(await uri(cli, 'price-update', 'cursor'), helpOut);
  await cli('fork', 'eur-rounding', '--from', 'price-update', '--ttl', '7d', '--actor', 'notebook');
  await withShop(await uri(cli, 'eur-rounding'), async (shop) => {
    await shop.collection('orders').updateMany({ status: 'open' }, [{ $set: { total: { $round: ['$total', 0] } } }]);
  });
  await withShop(await uri(cli, 'checkout-tests'), async (shop) => {
    const template = await shop.collection('orders').findOne();
    const orders = Array.from({ length: 120 }, (_, index) => ({
      ...template,
      _id: undefined,
      number: 900_000 + index,
    }));
    await shop.collection('orders').insertMany(orders.map(({ _id: _, ...order }) => order as Document));
  });
  await withShop(await uri(cli, 'main'), async (main) => {
    await main.collection<Document>('products').updateOne(
      { _id: 'KB-007' as never },
      {
        $set: {
          'price.amount': Decimal128.fromString('139.90'),
          'price.validFrom': new Date('2026-11-24'),
          stock: 9,
        },
      },
    );
    await main.collection<Document>('products').updateOne({ _id: 'MS-020' as never }, { $inc: { stock: -4 } });
    await main
      .collection<Document>('products')
      .updateOne({ _id: 'KB-010' as never }, { $set: { description: 'Now with a cover.' } });
  });
}

async function uri(cli: Cli, branch: string, actor?: string): Promise<string> {
  return ((await cli('uri', branch, ...(actor === undefined ? [] : ['--actor', actor]))) as { uri: string }).uri;
}

async function withShop(
  connection: string,
  work: (shop: ReturnType<MongoClient['db']>) => Promise<void>,
): Promise<void> {
  const client = await new MongoClient(connection).connect();
  try {
    await work(client.db('shop'));
  } finally {
    await client.close();
  }
}

async function updatePrices(shop: ReturnType<MongoClient['db']>): Promise<void> {
  const products = shop.collection<Document>('products');
  await products.updateMany({ _id: { $gte: 'KB-020', $lt: 'KB-036' } as never }, [
    { $set: { 'price.amount': { $round: [{ $multiply: ['$price.amount', 1.05] }, 2] } } },
  ]);
  const [desk] = await products
    .find({ _id: /^DK/ as never })
    .limit(1)
    .toArray();
  await products.updateOne({ _id: desk!._id }, [
    {
      $set: {
        category: 'furniture/desks',
        'price.amount': Decimal128.fromString('441.00'),
        stock: { $toDouble: '$stock' },
        tags: { $concatArrays: [{ $slice: ['$tags', 1] }, ['height-adjustable']] },
        description: { $concat: ['$description', ' Now with a dual-motor frame.'] },
      },
    },
  ]);
  for (const _id of ['KB-007', 'KB-008', 'KB-009']) {
    await products.updateOne(
      { _id: _id as never },
      { $set: { 'price.amount': Decimal128.fromString('135.45'), 'price.validFrom': new Date('2026-12-01') } },
    );
  }
  await products.deleteMany({ _id: { $in: ['KB-040', 'MS-020'] } as never });
  const { _id: _, ...template } = desk!;
  for (const [id, name] of [
    ['LT-931', 'Brass desk lamp'],
    ['LT-932', 'Brass floor lamp'],
    ['CH-918', 'Linen side chair'],
  ] as const) {
    await products.insertOne({ _id: id as never, ...template, sku: id, name });
  }
}

async function helpOut(shop: ReturnType<MongoClient['db']>): Promise<void> {
  const session = shop.client.startSession();
  await session.withTransaction(async () => {
    const [order] = await shop.collection('orders').find({}, { session }).limit(1).toArray();
    await shop.collection('orders').updateOne({ _id: order!._id }, { $set: { status: 'returned' } }, { session });
    await shop
      .collection<Document>('products')
      .updateOne({ _id: 'KB-011' as never }, { $inc: { stock: -1 } }, { session });
    await shop
      .collection<Document>('customers')
      .updateOne({ _id: order!['customer'] }, { $inc: { orderCount: 1 } }, { session });
  });
  await session.endSession();
  await shop.collection('products').createIndex({ sku: 1, 'price.currency': 1 }, { unique: true });
  await shop.collection<Document>('customers').updateOne({}, { $set: { tier: 'gold' } });
}
