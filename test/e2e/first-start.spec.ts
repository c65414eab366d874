import { expect, type Page } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';

/** Drops files on the window, as a person does from a file manager. */
async function drop(page: Page, files: readonly { name: string; text: string }[]): Promise<void> {
  const data = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, text } of given) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: data });
  await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}

test('the tour goes once round: fork, change, review, adopt, undo; the demo is reset', async ({ app }) => {
  const { page, cli } = app;
  const tour = page.getByRole('region', { name: 'Guided tour' });
  await page.getByRole('button', { name: 'Open the sample shop' }).click();
  await expect(tour).toContainText('Tour, 1 of 5');
  await clean(page, 'tour');
  await tour.getByRole('button', { name: 'Fork price-update…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
  await page.getByRole('button', { name: 'Watch it live' }).click();
  await tour.getByRole('button', { name: 'Run the script' }).click();
  await expect(page.getByRole('treegrid', { name: /Writes/ })).toContainText('orders');
  await expect(tour).toContainText('Tour, 3 of 5');
  await tour.getByRole('button', { name: 'Review' }).click();
  await expect(page.getByRole('heading', { name: '20 documents in 2 collections' })).toBeVisible();
  await tour.getByRole('button', { name: 'Adopt…' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Adopt 20/ })
    .click();
  await expect(tour).toContainText('And back');
  const log = async () => (await cli('log')) as { kind: string; undoneBy?: string }[];
  await tour.getByRole('button', { name: 'Undo the adoption' }).click();
  await expect(tour).toContainText('That is the whole loop');
  expect((await log()).find(({ kind }) => kind === 'adopt')?.undoneBy).toBeDefined();

  await tour.getByRole('button', { name: 'Reset demo…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Reset the demo?' });
  await expect(dialog).toContainText('1 sandbox with');
  await expect(dialog.getByRole('button', { name: /Cancel/ })).toBeFocused();
  await clean(page, 'resetting the demo');
  await dialog.getByRole('button', { name: 'Reset', exact: true }).click();
  await expect(page.getByText('The demo is as it was: 29,334 documents in main')).toBeVisible();
  const branches = (await cli('branches')) as { name: string; documents: number }[];
  expect(branches.map(({ name, documents }) => [name, documents])).toEqual([['main', 29_334]]);
  await expect(tour).toHaveCount(0);
});

test('files are imported by drop, mistakes are named where they are', async ({ app }) => {
  const { page, cli } = app;
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  await drop(page, [
    { name: 'product list.ndjson', text: '{"_id":"p1","price":49}\n{"_id":"p2","price":89}\n' },
    { name: 'broken.json', text: '[{"_id": 1},\n {"_id": }]' },
    { name: 'photo.png', text: 'no' },
  ]);
  const dialog = page.getByRole('dialog', { name: /^Import \d files into main$/ });
  await expect(dialog).toContainText('photo.png is no JSON file');
  await dialog.getByRole('button', { name: 'Leave photo.png out' }).click();
  await dialog.getByRole('textbox', { name: 'Database' }).fill('shop');
  await dialog.getByRole('textbox', { name: 'Collection for product list.ndjson' }).fill('products');
  await page.keyboard.press('Enter');
  await expect(dialog).toContainText('2 documents imported');
  await expect(dialog.getByRole('alert')).toContainText('broken.json, line 2');
  await expect(dialog.getByRole('alert')).toContainText('Nothing was imported.');
  await dialog.getByRole('button', { name: 'Leave broken.json out' }).click();
  await page.keyboard.press('Escape');

  await page.getByRole('tab', { name: 'Data' }).click();
  await expect(
    page.getByRole('grid', { name: 'Documents in products' }).getByRole('row', { name: /p2/ }),
  ).toBeVisible();
  const { summary } = (await cli('fork', 'after').then(() => cli('diff', 'after', '--summary'))) as {
    summary: unknown[];
  };
  expect(summary).toEqual([]);
});
