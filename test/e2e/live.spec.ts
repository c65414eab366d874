import { expect } from '@playwright/test';
import { test } from './app.ts';
import { withItems } from './items.ts';

test('what is written while the feed is paused is counted on the track, kept, and shown after it', async ({ app }) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = (await cli('fork', 'agent')) as { uri: string };
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  const row = (id: string) =>
    page.getByRole('treegrid', { name: /Writes/ }).getByRole('row', { name: new RegExp(`items ${id}\\b`) });
  const track = page.getByRole('img', { name: /in the last/ });
  await withItems(uri, async (items) => {
    await items.insertOne({ _id: 101, n: 0 });
    await expect(row('101')).toBeVisible();
    await expect(track).toHaveAccessibleName(/^2 writes in the last 2 min$/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await items.insertMany([
      { _id: 102, n: 0 },
      { _id: 103, n: 0 },
    ]);
    await expect(page.getByText('2 new writes are kept.')).toBeVisible();
    await expect(track).toHaveAccessibleName(/^4 writes in the last 2 min, 2 of them held back$/);
    await expect(row('103')).toBeHidden();
    await page.getByRole('toolbar').getByRole('button', { name: 'Resume' }).click();
    await expect(row('103')).toBeVisible();
    await expect(track).toHaveAccessibleName(/^4 writes in the last 2 min$/);
  });
});
