import { expect } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { askEngine } from './engine.ts';
import { prices, setPrice, withProducts } from './script.ts';

test('a decision that no longer holds is refused where it is made: a plan that is stale, a unique value taken, an undo, a short disk', async ({
  app,
}) => {
  const { page, cli, data } = app;
  const uriOf = async (branch: string) => ((await cli('uri', branch)) as { uri: string }).uri;
  await cli('import', 'sample:three', '--into', 'main');
  const mainUri = await uriOf('main');
  await cli('fork', 'decide');
  await setPrice(await uriOf('decide'), 'p1', 44);
  const adopt = page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 1 change' });

  await test.step('main moves while the plan is looked at: nothing is applied, what moved is named', async () => {
    await page.getByRole('treeitem', { name: /^decide/ }).click();
    await page.getByRole('tab', { name: /Review/ }).click();
    await adopt.click();
    const dialog = page.getByRole('dialog', { name: /Adopt 1 change from decide into main/ });
    await expect(dialog).toContainText('replaceOne');
    await setPrice(mainUri, 'p1', 50);
    await dialog.getByRole('button', { name: 'Adopt 1 change' }).click();
    const moved = page.getByRole('dialog', { name: 'main moved meanwhile' });
    await expect(moved.getByRole('listitem')).toHaveText('shop.products p1');
    await expect(moved).toContainText('Nothing was applied.');
    expect((await prices(mainUri))['p1']).toBe(50);
    await clean(page, 'a stale plan');
    await page.keyboard.press('Escape');
    await setPrice(mainUri, 'p1', 49);
  });

  await test.step('an undo whose document was changed again says which, and changes nothing', async () => {
    await cli('adopt', 'decide');
    await setPrice(mainUri, 'p1', 60);
    await page.getByRole('treeitem', { name: /^main/ }).click();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: /^Undo Adopted 1 change from decide/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Take this back?' });
    await expect(dialog).toContainText(/p1/);
    await expect(dialog.getByRole('button', { name: /^Undo/ })).toBeDisabled();
    expect((await prices(mainUri))['p1']).toBe(60);
    await clean(page, 'an undo that is refused');
    await page.keyboard.press('Escape');
  });

  await test.step('a value that must be unique and was taken meanwhile is named in the dry run', async () => {
    await withProducts(mainUri, (products) => products.createIndex({ sku: 1 }, { unique: true, sparse: true }));
    await cli('fork', 'clash');
    await withProducts(await uriOf('clash'), (products) => products.updateOne({ _id: 'p2' }, { $set: { sku: 'S-1' } }));
    await withProducts(mainUri, (products) => products.insertOne({ _id: 'p9', price: 1, sku: 'S-1' }));
    await page.getByRole('treeitem', { name: /^clash/ }).click();
    await page.getByRole('tab', { name: /Review/ }).click();
    await adopt.click();
    const dialog = page.getByRole('dialog', { name: /from clash into main/ });
    await expect(dialog).toContainText(/p9/);
    await expect(dialog).toContainText(/sku/);
    await clean(page, 'a unique value that is taken');
    await page.keyboard.press('Escape');
  });

  await test.step('a fork that would not fit on the disk says what it needs and what is free, in the window’s words', async () => {
    const reserve = (diskReserveMB: number) =>
      askEngine(data, (client) => client.call('settings.set', { diskReserveMB }));
    await reserve(1_000_000_000);
    await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('too-much');
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('alert')).toContainText(
      /There is not enough disk space for this fork: it needs [\d.,]+ MB, and [\d.,]+ MB are free\..*or move the data folder\./,
    );
    await expect(page.getByRole('treeitem', { name: /^too-much/ })).toHaveCount(0);
    await clean(page, 'a disk that is short');
    await reserve(64);
    await page.keyboard.press('Escape');
  });

  await test.step('main offers neither reset nor discard', async () => {
    await page.getByRole('treeitem', { name: /^main/ }).focus();
    await page.keyboard.press('Shift+F10');
    await expect(page.getByRole('menuitem', { name: 'Fork' }).first()).toBeVisible();
    await expect(page.getByRole('menuitem', { name: /Reset|Discard/ })).toHaveCount(0);
  });
});
