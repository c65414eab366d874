import { expect } from '@playwright/test';
import { MongoClient, type Collection } from 'mongodb';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { buildDocument, elements, rawElement } from '../../shared/bson/walk.ts';
import { everyType } from '../harness/every-type.ts';
import { test } from './app.ts';

interface Item {
  readonly _id: string;
  readonly edited: string;
}

test('EL-01: a document with every type is shown as it is, one field of it typed, and all others keep their bytes', async ({
  app,
}) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const clients: MongoClient[] = [];
  const open = async (branch: string): Promise<Collection<Item>> => {
    const client = await new MongoClient(((await cli('uri', branch)) as { uri: string }).uri).connect();
    clients.push(client);
    return client.db('shop').collection<Item>('items');
  };
  const bytesOf = async (items: Collection<Item>): Promise<Uint8Array> =>
    (await items.findOne({ _id: 'all' }, { raw: true })) as unknown as Uint8Array;
  try {
    const main = await open('main');
    const document = { _id: 'all', ...everyType, edited: 'base' };
    await main.insertOne(document);
    const before = await bytesOf(main);
    await cli('fork', 'trial');
    await (await open('trial')).updateOne({ _id: 'all' }, { $set: { edited: 'sandbox' } });
    await main.updateOne({ _id: 'all' }, { $set: { edited: 'main' } });

    await page.getByRole('treeitem', { name: /^trial/ }).click();
    await page.getByRole('tab', { name: /Review/ }).click();
    const changes = page.getByRole('group', { name: 'Changes of the document' });
    const decide = page.getByRole('button', { name: /Decide 1 conflict/ });
    await expect(decide).toBeVisible();
    // Everything around the change is folded until it is asked for.
    await changes
      .getByText(/unchanged fields/)
      .first()
      .click();
    for (const value of ['9007199254740993', '1.10', '507f1f77bcf86cd799439011', 'MinKey', 'ä€😀'])
      await expect(changes).toContainText(value);
    await decide.click();
    await page.getByRole('button', { name: 'Edit the result for edited' }).click();
    const result = page.getByRole('textbox', { name: 'Result for edited' });
    await result.fill('by hand');
    await result.press('Enter');
    await page.getByRole('button', { name: 'Back to review' }).click();
    const adopt = { name: 'Adopt 1 change' };
    await page.getByRole('region', { name: 'Decision' }).getByRole('button', adopt).click();
    await page.getByRole('dialog').getByRole('button', adopt).click();
    await expect(page.getByText('Adopted 1 change into main')).toBeVisible();

    const wanted = buildDocument(
      elements(before).map((each) => (each.name === 'edited' ? rawElement('edited', parseEjson('"by hand"')) : each)),
    );
    expect(Buffer.compare(await bytesOf(main), wanted)).toBe(0);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
});
