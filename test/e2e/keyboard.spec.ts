import { expect, type Locator, type Page } from '@playwright/test';
import { test } from './app.ts';
import { cutPrices, prices } from './script.ts';

test('the worked example by keyboard alone: fork, review, adopt, undo', async ({ app: { page, cli, electron } }) => {
  await cli('import', 'sample:three', '--into', 'main');
  const mainUri = ((await cli('uri', 'main')) as { uri: string }).uri;
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('main');
  await expect(page.getByRole('navigation', { name: 'Branches' }).getByRole('button', { name: 'Fork' })).toBeEnabled();

  // A browser keeps Ctrl+N for itself.
  await page.keyboard.press(electron === undefined ? 'Alt+KeyN' : 'Control+KeyN');
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.keyboard.type('price-update');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: /price-update is ready/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Watch it live' })).toBeFocused();
  await page.keyboard.press('Enter');
  await cutPrices(((await cli('uri', 'price-update')) as { uri: string }).uri);

  await page.keyboard.press('Control+Digit2');
  await expect(page.getByRole('heading', { name: '3 documents in 1 collection' })).toBeVisible();
  await tabTo(page, page.getByRole('grid', { name: 'Documents in products' }));
  // The third document, p3, is left out.
  await page.keyboard.press('End');
  await expect(page.getByRole('grid').getByRole('row', { selected: true })).toContainText('p3');
  await page.keyboard.press('Space');
  const adopt = page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 2 changes' });
  await expect(adopt).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Adopt 2 changes' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Adopted 2 changes into main')).toBeVisible();
  expect(await prices(mainUri)).toEqual({ p1: 44, p2: 80, p3: 19 });

  // The palette leads everywhere: to main, and to its history.
  for (const words of ['Open main', 'Go to History']) {
    await page.keyboard.press('Control+KeyK');
    await expect(page.getByRole('combobox', { name: /Find a command/ })).toBeFocused();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
  }
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('main');
  await tabTo(page, page.getByRole('button', { name: /Undo/ }).first());
  await page.keyboard.press('Enter');
  // What it would do is shown first, with Cancel as the default.
  const back = page.getByRole('dialog', { name: 'Take this back?' });
  await expect(back.getByRole('button', { name: 'Undo: 2 changes' })).toBeEnabled();
  await expect(back.getByRole('button', { name: /Cancel/ })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => prices(mainUri)).toEqual({ p1: 49, p2: 89, p3: 19 });
});

/** Presses Tab until the element, or something in it, has the keyboard. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element.contains(document.activeElement))) return;
  }
  throw new Error(`Tab does not come to ${target.toString()}`);
}
