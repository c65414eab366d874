import { expect } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { answers, cutPrices, prices, setPrice } from './script.ts';

test('fork, watch, review, adopt one, meet a conflict, discard', async ({ app }) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const mainUri = ((await cli('uri', 'main')) as { uri: string }).uri;

  await test.step('fork price-update for one hour', async () => {
    await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('price-update');
    await expect(dialog.getByRole('radio', { name: '1 hour' })).toBeChecked();
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await expect(page.getByRole('heading', { name: /price-update is ready/ })).toBeVisible();
    await page.getByRole('button', { name: 'Watch it live' }).click();
  });

  const { uri } = (await cli('uri', 'price-update')) as { uri: string };
  await cutPrices(uri);

  await test.step('the feed shows four changes', async () => {
    const rows = page.getByRole('treegrid', { name: /Writes/ }).getByRole('row', { name: /products/ });
    await expect(rows).toHaveCount(4);
    await expect(rows.nth(0)).toContainText('p3');
    await expect(rows.nth(0)).toHaveAccessibleName(/removed/);
    await expect(rows.nth(3)).toHaveAccessibleName(/changed products p1 price 49 to 44 Int32 → Double/);
  });

  await test.step('the review shows three documents and no conflict', async () => {
    await page.getByRole('tab', { name: /Review/ }).click();
    await expect(page.getByRole('heading', { name: '3 documents in 1 collection' })).toBeVisible();
    const documents = page.getByRole('grid', { name: 'Documents in products' }).getByRole('row');
    await expect(documents).toHaveCount(3);
    await documents.filter({ hasText: 'p3' }).click();
    // Its price at the fork, not the 17 in between.
    await expect(page.getByRole('group', { name: 'Changes of the document' })).toContainText('price: 19');
    expect(await prices(mainUri)).toEqual({ p1: 49, p2: 89, p3: 19 });
  });

  await test.step('adopt p1 only', async () => {
    await page.getByRole('button', { name: 'Select none' }).click();
    await page.getByRole('checkbox', { name: 'Include p1' }).click();
    await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 1 change' }).click();
    const dialog = page.getByRole('dialog', { name: /Adopt 1 change from price-update into main/ });
    await expect(dialog).toContainText('replaceOne');
    await dialog.getByRole('button', { name: 'Adopt 1 change' }).click();
    await expect(page.getByText('Adopted 1 change into main')).toBeVisible();
    expect(await prices(mainUri)).toEqual({ p1: 44, p2: 89, p3: 19 });
    // What was adopted stays within reach of the review, with the way back.
    await page.getByRole('button', { name: '1 adoption' }).click();
    const before = page.getByRole('dialog', { name: 'Adopted from price-update' }).getByRole('listitem');
    await expect(before).toHaveCount(1);
    await expect(before).toContainText('Adopted 1 change from price-update into main');
    await clean(page, 'adoptions');
    await before.getByRole('button', { name: /^Undo/ }).click();
    await expect(page.getByRole('dialog', { name: 'Take this back?' })).toContainText('Adopted 1 change');
    await page.keyboard.press('Escape');
  });

  await test.step('p2 changed in main is a conflict: base 89, main 85, price-update 80', async () => {
    await setPrice(mainUri, 'p2', 85);
    await expect(page.getByRole('heading', { name: /2 documents in 1 collection, 1 conflict/ })).toBeVisible();
    await page.getByRole('grid', { name: 'Documents in products' }).getByRole('row').filter({ hasText: 'p2' }).click();
    const region = page.getByRole('region', { name: 'Document' });
    for (const value of ['89', '85', '80']) await expect(region).toContainText(value);
  });

  await test.step('discard', async () => {
    await page.getByRole('button', { name: 'Discard' }).click();
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
    await expect(dialog).toContainText(/price-update/);
    await dialog.getByRole('button', { name: /^Discard/ }).click();
    await expect(page.getByRole('region', { name: 'Ended, can be brought back' })).toContainText('price-update');
    await expect(page.getByRole('treeitem', { name: /^price-update/ })).toHaveCount(0);
    expect(await prices(mainUri)).toEqual({ p1: 44, p2: 85, p3: 19 });
    await expect.poll(() => answers(uri)).toBe(false);
  });

  await test.step('undo the adoption from History', async () => {
    await page.getByRole('treeitem', { name: /^main/ }).click();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: 'Undo Adopted 1 change from price-update into main' }).click();
    await page.getByRole('dialog', { name: 'Take this back?' }).getByRole('button', { name: 'Undo: 1 change' }).click();
    await expect.poll(() => prices(mainUri)).toEqual({ p1: 49, p2: 85, p3: 19 });
  });
});
