import { expect } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { cutPrices, prices } from './script.ts';

test('a branch is pinned, forked from its pin after it went on, and unpinned, by keyboard', async ({ app }) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const main = page.getByRole('treeitem', { name: /^main/ });
  await expect(main).toContainText('1 database');
  await main.focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Pin as a starting point…' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Pin main as a starting point' });
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await clean(page, 'pin');
  await page.keyboard.type('before the sale');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('name');
  await page.keyboard.type('before-sale');
  await page.keyboard.press('Enter');
  const points = page.getByRole('region', { name: 'Starting points' });
  await expect(page.locator('.toast-place')).toContainText('3 documents in 1 collection');
  await expect(points.getByRole('button', { name: 'before-sale', exact: true })).toBeVisible();

  // main goes on; the pin does not.
  await cutPrices(((await cli('uri', 'main')) as { uri: string }).uri);
  await points.getByRole('button', { name: 'before-sale', exact: true }).press('Enter');
  const facts = page.getByRole('dialog', { name: 'before-sale' });
  await expect(facts.getByRole('row', { name: 'shop.products 3' })).toBeVisible();
  await expect(facts.getByText(((await cli('pins')) as [{ hash: string }])[0].hash)).toBeVisible();
  await clean(page, 'what a pin holds');
  await expect(facts.getByRole('button', { name: 'Fork it…' })).toBeFocused();
  await page.keyboard.press('Enter');
  const fork = page.getByRole('dialog', { name: 'Fork a sandbox' });
  await expect(fork.getByRole('button', { name: /From: before-sale/ })).toBeVisible();
  await expect(fork).toContainText('Review compares with main.');
  await fork.getByRole('textbox', { name: 'Name' }).fill('again');
  await page.keyboard.press('Enter');
  const done = page.getByRole('dialog', { name: /again is ready/ });
  await expect(done).toContainText('before-sale, main as it was');
  await clean(page, 'forked from a pin');
  await page.keyboard.press('Enter');
  expect(await prices(((await cli('uri', 'again')) as { uri: string }).uri)).toEqual({ p1: 49, p2: 89, p3: 19 });

  await points.getByRole('button', { name: 'before-sale', exact: true }).focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Remove…' }).press('Enter');
  const remove = page.getByRole('dialog', { name: 'Remove before-sale?' });
  await expect(remove).toContainText('cannot be brought back');
  await expect(remove.getByRole('button', { name: /Cancel/ })).toBeFocused();
  await clean(page, 'removing a pin');
  await remove.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
  await expect(points).toHaveCount(0);
  expect(await cli('pins')).toEqual([]);
  // One that comes from elsewhere is shown too.
  await cli('pin', 'again', 'from-outside');
  await expect(points.getByRole('button', { name: 'from-outside', exact: true })).toBeVisible();
});
