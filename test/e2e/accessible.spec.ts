import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { test } from './app.ts';
import { cutPrices } from './script.ts';

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
  await page.getByRole('tab', { name: 'Data' }).click();
  await expect(
    page.getByRole('grid', { name: 'Documents in products' }).getByRole('row', { name: /p1/ }),
  ).toBeVisible();
  for (const view of ['Table', 'Lines', /Indexes/, 'Options']) {
    await page.getByRole('radio', { name: view }).click();
    await clean(page, `data, ${String(view)}`);
  }
  for (const tab of ['Connect', 'History']) {
    await page.getByRole('tab', { name: tab }).click();
    await clean(page, tab);
  }
  for (const [command, title] of [
    ['Settings', 'Settings'],
    ['Add an actor', 'Add an actor to price-update'],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').fill(command);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: title })).toBeVisible();
    await clean(page, title);
    await page.keyboard.press('Escape');
  }
  await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await clean(page, 'fork');
});

async function clean(page: Page, screen: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Legacy mode: an Electron window cannot open the blank page that the other one wants.
    const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
      `${screen}, ${colorScheme}`,
    ).toEqual([]);
  }
}
