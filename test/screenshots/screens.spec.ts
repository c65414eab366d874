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
  await shoot(page, 'conflict');
  await page
    .getByRole('region', { name: 'Decision' })
    .getByRole('button', { name: /^Adopt/ })
    .click();
  await expect(page.getByRole('dialog')).toContainText('replaceOne');
  await shoot(page, 'plan');
  await page.keyboard.press('Escape');

  await page.getByRole('tab', { name: 'Data' }).click();
  const documents = page.getByRole('grid', { name: 'Documents in' });
  await documents.getByRole('row').nth(1).click();
  await expect(documents.getByRole('row').nth(1)).toHaveAttribute('aria-selected', 'true');
  await shoot(page, 'data');
  await page.getByRole('tab', { name: 'Connect' }).click();
  await shoot(page, 'connect');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('slider', { name: 'Moment' }).press('Home');
  const moment = page.getByRole('complementary', { name: 'Chosen moment' });
  await moment.getByRole('button', { name: /DK-001/ }).click();
  await expect(moment.getByRole('group', { name: /then and now/ })).toBeVisible();
  await shoot(page, 'history');
  await page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await shoot(page, 'fork');
});

async function shoot(page: Page, name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.screenshot({ path: `docs/screenshots/${name}-${theme}.png` });
  }
}
