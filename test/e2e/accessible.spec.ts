import { expect } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { cutPrices, setPrice } from './script.ts';

test('every screen is clean to axe, in light and dark', async ({ app: { page, cli } }) => {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  await clean(page, 'first start');
  await cli('import', 'sample:three', '--into', 'main');
  await cutPrices(((await cli('fork', 'price-update')) as { uri: string }).uri);
  await page.getByRole('treeitem', { name: /^price-update/ }).click();
  await expect(
    page
      .getByRole('treegrid', { name: /Writes/ })
      .getByRole('row', { name: /p3/ })
      .first(),
  ).toBeVisible();
  await clean(page, 'live');
  await page.keyboard.press('u');
  const back = page.getByRole('dialog', { name: 'Take this change back?' });
  await expect(back.getByRole('button', { name: 'Take back: 1 change' })).toBeVisible();
  await expect(back.getByRole('button', { name: /Cancel/ })).toBeFocused();
  await clean(page, 'taking a change back');
  await page.keyboard.press('Escape');
  await page.getByRole('radio', { name: 'Net effect' }).click();
  await expect(page.getByRole('listbox', { name: 'Documents that differ' }).getByRole('option')).toHaveCount(3);
  await clean(page, 'net effect');

  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: '3 documents in 1 collection' })).toBeVisible();
  await clean(page, 'review');
  await page
    .getByRole('region', { name: 'Decision' })
    .getByRole('button', { name: /^Adopt/ })
    .click();
  await expect(page.getByRole('dialog')).toContainText('replaceOne');
  await clean(page, 'plan');
  await page.keyboard.press('Escape');
  await setPrice(((await cli('uri', 'main')) as { uri: string }).uri, 'p1', 50);
  await page.getByRole('button', { name: 'Decide 1 conflict' }).click();
  await expect(page.getByRole('button', { name: /^Take main for price/ })).toBeVisible();
  await clean(page, 'conflicts');
  await page.getByRole('button', { name: 'Back to review' }).click();

  await page.getByRole('tab', { name: 'Data' }).click();
  await expect(
    page.getByRole('grid', { name: 'Documents in products' }).getByRole('row', { name: /p1/ }),
  ).toBeVisible();
  for (const view of ['Table', 'Lines', /Indexes/, 'Options']) {
    await page.getByRole('radio', { name: view }).click();
    await clean(page, `data, ${String(view)}`);
  }
  await page.getByRole('tab', { name: 'Connect' }).click();
  await clean(page, 'connect');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('slider', { name: 'Moment' }).press('Home');
  const moment = page.getByRole('complementary', { name: 'Chosen moment' });
  await expect(moment.getByRole('row', { name: /products/ })).toBeVisible();
  await moment.getByRole('button', { name: /p1/ }).click();
  await expect(moment.getByRole('group', { name: /then and now/ })).toBeVisible();
  await clean(page, 'history');
  const settings = page.getByRole('radiogroup', { name: 'A sandbox lives for' });
  for (const [command, title] of [
    ['Add an actor', 'Add an actor to price-update'],
    ['Reset to main', 'Reset price-update to main?'],
    ['Settings', 'Settings'],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').fill(command);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: title })).toBeVisible();
    await clean(page, title);
    if (title === 'Settings') {
      await settings.getByRole('radio', { name: '7 days' }).click();
      await expect(settings.getByRole('radio', { name: '7 days' })).toBeChecked();
    }
    await page.keyboard.press('Escape');
  }
  await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' }).click();
  await expect(page.getByRole('dialog').getByRole('radio', { name: '7 days' })).toBeChecked();
  await clean(page, 'fork');
});
