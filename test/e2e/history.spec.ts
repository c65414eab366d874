import { expect } from '@playwright/test';
import { MongoClient } from 'mongodb';
import { test } from './app.ts';

test('a moment is chosen on the rail, looked at, opened as a branch, put back to, and that is undone', async ({
  app: { page, cli },
}) => {
  await cli('import', 'sample:three', '--into', 'main');
  await cli('fork', 'trial', '--ttl', '1h');
  const { uri } = (await cli('uri', 'trial')) as { uri: string };
  const client = await new MongoClient(uri).connect();
  const prices = async (): Promise<unknown[]> =>
    (await client.db('shop').collection('products').find().sort({ _id: 1 }).toArray()).map(
      ({ price }) => price as unknown,
    );
  try {
    const products = client.db('shop').collection<{ _id: string; price: number }>('products');
    await products.updateOne({ _id: 'p1' }, { $set: { price: 50 } });
    await products.updateOne({ _id: 'p1' }, { $set: { price: 51 } });
    await products.deleteOne({ _id: 'p3' });
    await page.getByRole('treeitem', { name: /^trial/ }).click();
    await page.getByRole('tab', { name: 'History' }).click();
    const slider = page.getByRole('slider', { name: 'Moment' });
    await expect(slider).toHaveAttribute('aria-valuenow', '3');
    const pane = page.getByRole('complementary', { name: 'Chosen moment' });
    await expect(pane).toContainText('Nothing differs from now.');

    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect(slider).toHaveAttribute('aria-valuenow', '1');
    await expect(pane.getByRole('row', { name: /products/ })).toContainText('0~1−1');
    await pane.getByRole('button', { name: /p1/ }).click();
    await expect(pane.getByRole('group', { name: /then and now/ })).toContainText('51');
    await page.keyboard.press('Escape');
    await page.screenshot({ path: 'test-results/history.png' });

    await pane.getByRole('button', { name: 'Put trial back to this moment' }).click();
    const dialog = page.getByRole('dialog', { name: 'Put trial back to change 1?' });
    await expect(dialog.getByRole('button', { name: /Cancel/ })).toBeFocused();
    await dialog.getByRole('button', { name: 'Put back: 2 changes' }).click();
    // What is pointed at stays.
    await page.getByText('trial is back: 2 changes').hover();
    expect(await prices()).toEqual([50, 89, 19]);
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(prices).toEqual([51, 89]);
    await expect(page.getByRole('listitem').filter({ hasText: 'Put trial back to change 1' }).last()).toContainText(
      'undone',
    );

    await slider.focus();
    await page.keyboard.press('Home');
    await expect(slider).toHaveAttribute('aria-valuetext', 'beginning');
    await pane.getByRole('button', { name: 'Open as a new branch' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('fresh');
    await page.getByRole('dialog').getByRole('button', { name: 'Open' }).click();
    await expect(page.getByRole('treeitem', { name: /^fresh/ })).toBeVisible();
    const again = (await cli('uri', 'fresh')) as { uri: string };
    const fresh = await new MongoClient(again.uri).connect();
    expect(await fresh.db('shop').collection('products').countDocuments()).toBe(3);
    await fresh.close();
  } finally {
    await client.close();
  }
});
