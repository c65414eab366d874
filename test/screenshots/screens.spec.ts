import { expect, type Page } from '@playwright/test';
import { test } from '../e2e/app.ts';
import { tellStory } from './story.ts';

test('every screen, light and dark', async ({ app: { page, cli } }) => {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  await shoot(page, 'empty');
  await tellStory(cli);
  await page.getByRole('treeitem', { name: /^price-update/ }).click();
  await page.getByRole('tab', { name: /Live/ }).click();
  await expect(
    page
      .getByRole('treegrid', { name: /Writes/ })
      .getByRole('row')
      .nth(5),
  ).toBeVisible();
  await page
    .getByRole('treegrid', { name: /Writes/ })
    .getByRole('row', { name: /KB-011/ })
    .click();
  await expect(page.getByRole('complementary', { name: 'Selected change' })).toContainText('stock');
  await shoot(page, 'live');

  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: /conflict/ })).toBeVisible();
  await page.getByRole('button', { name: 'products', exact: true }).click();
  await page
    .getByRole('grid', { name: /Documents in/ })
    .getByRole('row', { name: /DK-/ })
    .click();
  await expect(page.getByRole('group', { name: 'Changes of the document' })).toContainText('furniture/desks');
  await shoot(page, 'review');
  await page
    .getByRole('grid', { name: /Documents in/ })
    .getByRole('row', { name: /KB-007/ })
    .click();
  await expect(page.getByRole('region', { name: 'Document' })).toContainText('139.90');
  await page.getByRole('button', { name: /^Decide 2 conflicts/ }).click();
  await page.getByRole('button', { name: /^Take price-update for price.amount/ }).click();
  await expect(page.getByRole('heading', { name: /1 of \d decisions made in 2 documents/ })).toBeVisible();
  await shoot(page, 'conflict');
  await page.getByRole('button', { name: 'Back to review' }).click();
  await page
    .getByRole('region', { name: 'Decision' })
    .getByRole('button', { name: /^Adopt/ })
    .click();
  await expect(page.getByRole('dialog')).toContainText('replaceOne');
  await shoot(page, 'plan');
  await page.keyboard.press('Escape');

  await page.getByRole('tab', { name: 'Data' }).click();
  await page
    .getByRole('tree', { name: 'Collections' })
    .getByRole('treeitem', { name: /products/ })
    .click();
  const filter = page.getByRole('search').getByRole('textbox', { name: 'Filter' });
  await filter.fill('{ "price.amount": { $gt: 80 }, _id: /^(KB|LT)/ }');
  await filter.press('Enter');
  const documents = page.getByRole('grid', { name: 'Documents in products' });
  await documents.getByRole('row', { name: /KB-007/ }).click();
  await expect(page.getByRole('complementary', { name: 'Document' })).toContainText('3 differ');
  await shoot(page, 'data');
  await page.getByRole('tab', { name: 'Connect' }).click();
  await shoot(page, 'connect');
  await page.getByRole('treeitem', { name: /^main/ }).click();
  await page.getByRole('tab', { name: 'History' }).click();
  const slider = page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await slider.press('Shift+ArrowLeft');
  await expect(page.getByRole('complementary', { name: 'Chosen moment' })).toContainText('Since then');
  await slider.blur();
  await shoot(page, 'history');
  await page.getByRole('treeitem', { name: /^price-update/ }).click();
  await page.getByRole('tab', { name: /Live/ }).click();
  await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await shoot(page, 'fork');
});

const sizes = [
  { width: 1280, height: 800, name: '' },
  { width: 1920, height: 1080, name: '-1920' },
] as const;

async function shoot(page: Page, name: string): Promise<void> {
  for (const { width, height, name: size } of sizes) {
    await page.setViewportSize({ width, height });
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
      // What follows the window's size is drawn again in the frame after the next.
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(undefined)))),
      );
      await page.screenshot({ path: `docs/screenshots/${name}${size}-${theme}.png` });
    }
  }
  await page.setViewportSize(sizes[0]);
}
