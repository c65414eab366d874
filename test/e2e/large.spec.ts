import { expect, type Locator } from '@playwright/test';
import { test, type App } from './app.ts';
import { askEngine, killEngine, lastOf } from './engine.ts';
import { worstFrame } from './frames.ts';
import { withItems } from './items.ts';

test('EL-05: 20,000 touched documents open and scroll in a bounded window', async ({ app }) => {
  const { page } = app;
  await touch(app, 20_000);
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: '20,000 documents in 1 collection' })).toBeVisible();
  const rows = page.getByRole('grid', { name: 'Documents in items' }).getByRole('row');
  await rows.first().hover();
  // Scrolled as fast as pages of it come.
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 50_000);
      return Number(await rows.last().getAttribute('aria-rowindex'));
    })
    .toBeGreaterThan(300);
  // As many as are seen, however many there are.
  expect(await rows.count()).toBeLessThan(80);
});

test('EL-05: a document of 50,000 fields stays usable in the feed, in the review and in the data', async ({ app }) => {
  const { page, cli, data } = app;
  const fields = 50_000;
  const changed = fields / 5;
  await cli('import', 'sample:three', '--into', 'main');
  const numbers = (value: (at: number) => number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: fields }, (_, at) => [`field ${at}`, value(at)]));
  const { uri: mainUri } = (await cli('uri', 'main')) as { uri: string };
  await withItems(mainUri, async (items) => void (await items.insertOne({ _id: 1, n: 0, ...numbers((at) => at) })));
  const { uri } = (await cli('fork', 'agent')) as { uri: string };
  const edited = { n: 0, ...numbers((at) => (at % 5 === 0 ? -1 - at : at)) };
  await withItems(uri, async (items) => void (await items.replaceOne({ _id: 1 }, edited)));
  await lastOf(data, 'agent');
  // Lines are drawn as they come into view, whatever there is of them.
  const usable = async (lines: Locator, show: () => Promise<void>): Promise<void> => {
    await worstFrame(page, async () => {
      await show();
      await expect(lines).toContainText('field 5: -6');
    });
    await worstFrame(page, async () => {
      await expect(async () => {
        await lines.press('End');
        await expect(lines).toContainText(/field 4\d{4}: |more differences/, { timeout: 500 });
      }).toPass();
    });
    expect(await lines.locator('.dl').count()).toBeLessThan(200);
  };
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  const row = page.getByRole('treegrid', { name: /Writes/ }).getByRole('row', { name: /items 1/ });
  await expect(row).toContainText('large document');
  await usable(page.getByRole('group', { name: 'Document, before and after' }), () => row.click());
  await usable(page.getByRole('group', { name: 'Changes of the document' }), () =>
    page.getByRole('tab', { name: /Review/ }).click(),
  );
  await expect(page.getByRole('region', { name: 'Document' })).toContainText(
    `${changed.toLocaleString('en-US')} of ${changed.toLocaleString('en-US')} changes`,
  );
  const whole = page.getByRole('group', { name: 'Document', exact: true });
  await worstFrame(page, async () => {
    await page.getByRole('tab', { name: /Data/ }).click();
    await expect(whole).toContainText('field 5: -6');
  });
  expect(await whole.locator('.dl').count()).toBeLessThan(200);
});

test('the engine killed while an adoption is written: all of it is there afterwards, or nothing', async ({ app }) => {
  const { page, cli, data } = app;
  const documents = 3_000;
  const mainUri = await touch(app, documents);
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Adopt 3,000 changes' }).click();
  const dialog = page.getByRole('dialog', { name: /Adopt 3,000 changes/ });
  await withItems(mainUri, async (items) => {
    await dialog.getByRole('button', { name: 'Adopt 3,000 changes' }).click();
    await expect.poll(() => items.findOne({ n: 1 }), { intervals: [5] }).not.toBeNull();
    await killEngine(data);
    await app.revive();
    // One that answers is the next one; the window may not have noticed yet that the first has gone.
    await askEngine(data, (client) => client.call('engine.status', {}));
    await expect(page.locator('footer').getByText(/Engine running/)).toBeVisible();
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
