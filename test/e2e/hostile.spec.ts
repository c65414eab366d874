import { expect } from '@playwright/test';
import { Binary, MongoClient, type Document } from 'mongodb';
import { test } from './app.ts';

const markup = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';
const link = 'javascript:window.evil=1';

test('markup and script in every name and field are shown as text', async ({ app: { page, cli } }) => {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = (await cli('fork', 'hostile')) as { uri: string };
  const client = new MongoClient(uri);
  try {
    const collection = client.db('shop').collection<Document & { _id: string }>(`<b>${link}</b>`);
    await collection.insertOne({
      _id: `<svg onload="window.evil=1">${link}`,
      [markup]: markup,
      nested: { '<a href="javascript:window.evil=1">': [markup, { __proto__x: link }] },
      bytes: new Binary(Buffer.from(markup)),
    });
    await collection.updateOne({}, { $set: { [`</span>${markup}`]: `\u202e${markup}` } });
  } finally {
    await client.close();
  }
  await page.getByRole('treeitem', { name: /^hostile/ }).click();
  const feed = page.getByRole('treegrid', { name: /Writes/ });
  await expect(feed.getByRole('row', { name: /svg onload/ }).first()).toBeVisible();
  await feed
    .getByRole('row', { name: /svg onload/ })
    .first()
    .click();
  await expect(page.getByText('<img src=x onerror').first()).toBeVisible();

  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: /1 document in 1 collection/ })).toBeVisible();
  const row = page.getByRole('grid', { name: /Documents in/ }).getByRole('row', { name: /svg onload/ });
  await row.click();
  await expect(page.getByRole('group', { name: 'Changes of the document' })).toContainText('<script>window.evil=1');

  const found = await page.evaluate(() => ({
    evil: 'evil' in window,
    elements: document.querySelectorAll('img[src="x"], script:not([src]), a[href^="javascript"], svg[onload]').length,
  }));
  expect(found).toEqual({ evil: false, elements: 0 });
  expect(dialogs).toEqual([]);
});
