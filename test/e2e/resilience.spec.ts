import { expect, type Page } from '@playwright/test';
import { test } from './app.ts';
import { killEngine, lastOf } from './engine.ts';
import { withItems } from './items.ts';

test('the engine killed during a feed: the window says so, and no write is lost', async ({ app }) => {
  const { page, cli, data } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = (await cli('fork', 'agent')) as { uri: string };
  await page.getByRole('treeitem', { name: /^agent/ }).click();
  await page.getByRole('tab', { name: /Live/ }).click();
  const before = await lastOf(data, 'agent');
  await withItems(uri, async (items) => {
    let written = 0;
    let going = true;
    const writer = (async () => {
      for (; going; written += 1) await items.insertOne({ _id: written, n: 0 });
    })();
    const rows = page.getByRole('treegrid', { name: /Writes/ }).getByRole('row', { name: /items/ });
    await expect(rows.first()).toBeVisible();
    const said = await watchStatusLine(page);
    await killEngine(data);
    const atKill = written;
    await expect.poll(said).toContainEqual(expect.stringMatching(/Engine restarting|The engine has gone/));
    // Its server does not notice that the engine is gone.
    await expect.poll(() => written).toBeGreaterThan(atKill + 20);
    await app.revive();
    await expect(page.getByRole('contentinfo').getByText(/Engine running/)).toBeVisible();
    going = false;
    await writer;
    expect((await lastOf(data, 'agent')) - before).toBe(written + 1);
    await page.getByRole('treeitem', { name: /^agent/ }).click();
    // What is deleted is no part of a burst of inserts, so that it has a row of its own.
    await items.insertOne({ _id: 777_777, n: 0 });
    await items.deleteOne({ _id: 777_777 });
    await expect(
      page
        .getByRole('treegrid', { name: /Writes/ })
        .getByRole('row', { name: /777777/ })
        .first(),
    ).toBeVisible();
  });
});

/** From here on, all that the status line says, however briefly. */
async function watchStatusLine(page: Page): Promise<() => Promise<string[]>> {
  const said = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const look = (): void => {
      const text = document.querySelector('footer')?.textContent ?? '';
      if (texts.at(-1) !== text) texts.push(text);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
    return texts;
  });
  return () => said.jsonValue();
}
