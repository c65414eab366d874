import { expect } from '@playwright/test';
import { test } from './app.ts';
import { cutPrices } from './script.ts';

test('data is found by a filter, mistakes are shown, a document is compared with the parent', async ({ app }) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  await cutPrices(((await cli('fork', 'price-update')) as { uri: string }).uri);
  await page.getByRole('treeitem', { name: /^price-update/ }).click();
  await page.getByRole('tab', { name: 'Data' }).click();
  const grid = page.getByRole('grid', { name: 'Documents in products' });
  const rows = grid.getByRole('row');
  await expect(rows).toHaveCount(3);
  await expect(rows.filter({ hasText: 'p1' })).toContainText('changed');
  // When it was changed last, and by whom; how many documents there are stands beside the collection.
  await expect(rows.filter({ hasText: 'p1' }).getByRole('gridcell').last()).toHaveText(/^\d\d:\d\d:\d\d by agent$/);
  const collection = page.getByRole('tree', { name: 'Collections' }).getByRole('treeitem', { name: /products/ });
  await expect(collection).toHaveAccessibleName('2 changed, 1 removed products 2');

  await test.step('a filter in shell notation, and one in Extended JSON', async () => {
    const filter = page.getByRole('search').getByRole('textbox', { name: 'Filter' });
    await filter.fill('{ price: { $gt: 50 } }');
    await filter.press('Enter');
    await expect(rows).toHaveCount(2);
    await expect(rows.nth(1)).toContainText('p2');
    await filter.fill('{"_id": {"$in": ["p1"]}, "price": {"$lt": {"$numberInt": "50"}}}');
    await filter.press('Enter');
    await expect(rows.nth(1)).toContainText('p1');

    await filter.fill('{ price: { $gt: } }');
    await filter.press('Enter');
    await expect(page.getByText(/The filter cannot be read at character 17/)).toBeVisible();
    await filter.fill('{ price: { $above: 5 } }');
    await filter.press('Enter');
    await expect(page.getByText(/\$above/).last()).toBeVisible();
    await filter.press('Escape');
    await expect(rows).toHaveCount(3);
  });

  await test.step('sorted by a column, chosen by keyboard', async () => {
    await grid.getByRole('columnheader', { name: /price/ }).getByRole('button').click();
    await grid.getByRole('columnheader', { name: /price/ }).getByRole('button').click();
    await expect(rows.nth(1)).toContainText('p2');
    await grid.focus();
    await page.keyboard.press('End');
    await expect(rows.nth(2)).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('the same document in branch and parent', async () => {
    const detail = page.getByRole('complementary', { name: 'Document' });
    await expect(detail).toContainText('price: 44');
    await detail.getByRole('radio', { name: 'Beside main' }).click();
    await expect(detail).toContainText('price: 49');
    await expect(detail).toContainText('1 differs');
  });

  await test.step('indexes and options', async () => {
    await page.getByRole('radio', { name: /Indexes/ }).click();
    await expect(page.getByRole('table', { name: 'Indexes of products' })).toContainText('_id_');
  });
});
