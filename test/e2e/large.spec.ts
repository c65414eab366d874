import { expect } from '@playwright/test';
import { test, type App } from './app.ts';
import { killEngine, lastOf } from './engine.ts';
import { withItems } from './items.ts';

test('EL-05: 20,000 touched documents open and scroll in a bounded window', async ({ app }) => {
  test.setTimeout(240_000);
  const { page } = app;
  await touch(app, 20_000);
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: '20,000 documents in 1 collection' })).toBeVisible({
    timeout: 60_000,
  });
  const rows = page.getByRole('grid', { name: 'Documents in items' }).getByRole('row');
  await rows.first().hover();
  // Scrolled as fast as pages of it come.
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 50_000);
        return Number(await rows.last().getAttribute('aria-rowindex'));
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(300);
  // As many as are seen, however many there are.
  expect(await rows.count()).toBeLessThan(80);
});

test('the engine killed while an adoption is written: all of it is there afterwards, or nothing', async ({ app }) => {
  test.setTimeout(240_000);
  const { page, cli, data } = app;
  const documents = 3_000;
  const mainUri = await touch(app, documents);
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 3,000 changes' }).click();
  const dialog = page.getByRole('dialog', { name: /Adopt 3,000 changes/ });
  await withItems(mainUri, async (items) => {
    await dialog.getByRole('button', { name: 'Adopt 3,000 changes' }).click();
    await expect.poll(() => items.findOne({ n: 1 }), { intervals: [5], timeout: 60_000 }).not.toBeNull();
    await killEngine(data);
    await app.revive();
    await expect(page.locator('footer').getByText(/Engine running/)).toBeVisible({ timeout: 30_000 });
    // What was begun is finished or taken back, once, and the history says which.
    const changed = await items.countDocuments({ n: 1 });
    const log = (await cli('log', 'agent')) as { kind: string; items?: number }[];
    const adopted = log.filter(({ kind }) => kind === 'adopt').map((entry) => entry.items);
    expect({ changed, adopted }).toEqual(
      changed === 0 ? { changed: 0, adopted: [] } : { changed: documents, adopted: [documents] },
    );
  });
});

/** Fills main with documents and changes all of them in the sandbox "agent". Gives main's connection string. */
async function touch({ cli, data }: App, documents: number): Promise<string> {
  await cli('import', 'sample:three', '--into', 'main');
  const { uri: mainUri } = (await cli('uri', 'main')) as { uri: string };
  await withItems(mainUri, (items) =>
    items.insertMany(Array.from({ length: documents }, (_, _id) => ({ _id, n: 0 }))).then(() => undefined),
  );
  const { uri } = (await cli('fork', 'agent')) as { uri: string };
  await withItems(uri, (items) => items.updateMany({}, { $set: { n: 1 } }).then(() => undefined));
  await lastOf(data, 'agent');
  return mainUri;
}
