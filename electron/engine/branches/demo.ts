import { MongoClient, type Document } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { connectionString } from '../mongod/accounts.ts';
import { discard } from './discard.ts';
import { importIntoBranch, type ImportRequest } from './import.ts';
import type { LocalBranch } from './local-branch.ts';
import { mainId, mainName } from './main-branch.ts';
import type { Workspace } from './workspace.ts';

export const demoSource = 'sample:shop';
const database = 'shop';

interface Mark {
  readonly _id: string;
}

/** Whether what main holds came from the sample shop and from nowhere else. */
export async function isDemo(workspace: Workspace): Promise<boolean> {
  return (await marks(workspace).findOne({ _id: 'demo' })) !== null;
}

/** Remembers where main's data came from. */
export async function noteSource(workspace: Workspace, branch: LocalBranch, source: string): Promise<void> {
  if (branch.record._id !== mainId) return;
  if (source !== demoSource) await marks(workspace).deleteOne({ _id: 'demo' });
  else if ((await workspace.home.log.countDocuments({ branchId: mainId, kind: 'import' })) <= 1) {
    await marks(workspace).updateOne({ _id: 'demo' }, { $set: {} }, { upsert: true });
  }
}

/**
 * What the tour's script does, with nothing but the sandbox's connection string: sixteen keyboards five percent dearer, one
 * product in a new category, one gone, one new, an order returned. @throws ForkyardError `usage` where there is no sample shop
 */
export async function changeSomething(branch: LocalBranch): Promise<{ actor: string }> {
  const { accounts, parent, name } = branch.record;
  const account = accounts.find(({ access }) => access !== 'read');
  if (parent === undefined) throw new ForkyardError('main_protected', 'The tour changes sandboxes only.');
  if (!account) throw new ForkyardError('usage', `${name} has no actor that may write.`);
  const client = new MongoClient(connectionString(branch.server.port, account), { serverSelectionTimeoutMS: 5_000 });
  try {
    const shop = client.db(database);
    const products = shop.collection<Document & { _id: string }>('products');
    const [first] = await products.find({ _id: /^DK/ }).sort({ _id: 1 }).limit(1).toArray();
    if (!first) {
      throw new ForkyardError('usage', `${name} does not hold the sample shop.`, {
        hint: 'Import sample:shop into main and fork again.',
      });
    }
    const keyboards = await products.find({ _id: /^KB/ }).sort({ _id: 1 }).limit(16).project({ _id: 1 }).toArray();
    for (const { _id } of keyboards) {
      await products.updateOne({ _id }, [
        { $set: { 'price.amount': { $round: [{ $multiply: ['$price.amount', 1.05] }, 2] } } },
      ]);
    }
    await products.updateOne({ _id: first._id }, { $set: { category: 'furniture/desks' }, $inc: { stock: -1 } });
    const [last] = await products.find({ _id: /^MS/ }).sort({ _id: -1 }).limit(1).toArray();
    if (last) await products.deleteOne({ _id: last._id });
    const { _id: _, ...like } = first;
    await products.insertOne({ ...like, _id: 'LT-931', sku: 'LT-931', name: 'Brass desk lamp', category: 'lamps' });
    await shop.collection('orders').updateOne({ status: 'open' }, { $set: { status: 'returned' } });
  } finally {
    await client.close();
  }
  return { actor: account.actor };
}

/**
 * Puts the demo back as it was: every sandbox goes to the trash, main's `shop` is dropped and imported anew. Databases
 * beside it stay. @throws ForkyardError `usage` where main holds anything but the sample
 */
export async function resetDemo(
  workspace: Workspace,
  progress: Pick<ImportRequest, 'signal' | 'onProgress'>,
): Promise<{ discarded: number; documents: number }> {
  if (!(await isDemo(workspace))) {
    throw new ForkyardError('usage', 'main holds data of your own, so there is no demo to reset.', {
      hint: 'Open another data folder for the demo.',
    });
  }
  let discarded = 0;
  for (const name of await leavesFirst(workspace)) {
    await discard(workspace, name, false);
    discarded += 1;
  }
  const main = await workspace.branch(mainName);
  await main.exclusively(() => main.client.db(database).dropDatabase());
  const result = await importIntoBranch(workspace, main, { source: demoSource, options: {}, ...progress });
  return { discarded, documents: result.collections.reduce((sum, { documents }) => sum + documents, 0) };
}

/** The names of all sandboxes, each before the one it came from. */
async function leavesFirst(workspace: Workspace): Promise<string[]> {
  const records = await workspace.home.branches.find({ active: true, parent: { $exists: true } }).toArray();
  const depth = (id: string | undefined): number => {
    const record = records.find(({ _id }) => _id === id);
    return record ? depth(record.parent) + 1 : 0;
  };
  return records.sort((a, b) => depth(b._id) - depth(a._id)).map(({ name }) => name);
}

function marks(workspace: Workspace) {
  return workspace.home.catalog.collection<Mark>('marks');
}
