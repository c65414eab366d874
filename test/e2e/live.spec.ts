import { expect } from '@playwright/test';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { withItems } from './items.ts';
import { loseLog, positionOfWrite } from '../harness/lost-log.ts';
import { cutPrices } from './script.ts';

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

test('a gap in the record has a row of its own, which says why, what is not known, and what knows better', async ({
  app,
}) => {
  const { page, cli, data } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const { branch, uri } = (await cli('fork', 'agent')) as { branch: { id: string }; uri: string };
  await cli('sleep', 'agent');
  const main = (await cli('uri', 'main')) as { uri: string };
  await loseLog(data, await positionOfWrite(main.uri), branch.id);
  await cli('wake', 'agent');
  await cutPrices(uri);
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  const gap = page
    .getByRole('treegrid', { name: /Writes/ })
    .getByRole('row', { name: /History gap here/ })
    .last();
  await expect(gap).toContainText('The change log had rolled over before it was read. Review compares exactly.');
  await gap.getByRole('button', { name: 'Why' }).click();
  await expect(gap).toHaveAttribute('aria-selected', 'true');
  const detail = page.getByRole('complementary', { name: 'Selected change' });
  await expect(detail).toContainText(/Which writes reached agent, .* to .*, in what order and by whom/);
  await clean(page, 'a gap');
  await detail.getByRole('button', { name: 'Compare in Review' }).click();
  await expect(page.getByRole('tab', { name: /Review/ })).toHaveAttribute('aria-selected', 'true');
  // None of its writes is in the record, and none of what they did is missing here.
  await expect(page.getByRole('heading', { name: '3 documents in 1 collection' })).toBeVisible({ timeout: 30_000 });
});
