import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { serversUnder } from '../../electron/engine/mongod/identity.ts';
import { test } from './app.ts';
import { clean } from './axe.ts';
import { expire } from './engine.ts';
import { cutPrices, prices } from './script.ts';

test('from the fork shortcut to a connection string that works it is one key', async ({ app }, info) => {
  const { page, cli } = app;
  await cli('import', 'sample:three', '--into', 'main');
  await expect(page.getByRole('treeitem', { name: /^main/ })).toContainText('1 database');
  const browser = info.project.name === 'browser';
  if (browser) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press(browser ? 'Alt+n' : 'ControlOrMeta+n');
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
  await expect(name).toBeFocused();
  const suggested = await name.inputValue();
  await page.keyboard.press('Enter');
  await expect(
    page.getByRole('heading', { name: `${suggested} is ready, its URI is on your clipboard` }),
  ).toBeVisible();
  const { uri } = (await cli('uri', suggested)) as { uri: string };
  if (browser) expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(uri);
  expect(await prices(uri)).toEqual({ p1: 49, p2: 89, p3: 19 });
});

test('an expired sandbox is brought back under the same URI, a discarded one too', async ({ app }) => {
  const { page, cli, data } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = (await cli('fork', 'short')) as { uri: string };
  await cutPrices(uri);
  await expire(data, 'short');
  const ended = page.getByRole('region', { name: 'Ended, can be brought back' });
  await expect(ended).toContainText('short');
  await expect(ended).toContainText('expired');
  await ended.getByRole('button', { name: 'short', exact: true }).click();
  const state = page.getByRole('status', { name: 'State' });
  await expect(state).toContainText(/short has expired\. Nobody reviewed its changes\. It can be brought back until/);
  await clean(page, 'expired');
  await state.getByRole('button', { name: 'Bring back' }).click();
  await expect(page.getByRole('treeitem', { name: /^short/ })).toBeVisible();
  expect(await prices(uri)).toEqual({ p1: 44, p2: 80 });

  await cli('sleep', 'short');
  await page.getByRole('treeitem', { name: /^short/ }).click();
  await expect(state).toContainText('short is asleep. Its server is stopped.');
  await state.getByRole('button', { name: 'Wake' }).click();
  await expect(state).toHaveCount(0);
  expect(await prices(uri)).toEqual({ p1: 44, p2: 80 });

  await page.getByRole('treeitem', { name: /^short/ }).focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Discard…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Discard short?' });
  await expect(dialog).toContainText('3 changed documents');
  await expect(dialog.getByRole('button', { name: /Cancel/ })).toBeFocused();
  await dialog.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('treeitem', { name: /^short/ })).toBeVisible();
  expect(await prices(uri)).toEqual({ p1: 44, p2: 80 });
  await page.getByRole('treeitem', { name: /^short/ }).click();
  await page.getByRole('tab', { name: 'History' }).click();
  const discarded = page.getByRole('listitem').filter({ hasText: 'Discarded short' });
  await expect(discarded).toContainText('undone');
  await expect(discarded.getByRole('button')).toHaveCount(0);
});

test('a sandbox that cannot start says why and what helps; one that is held past its time says by what', async ({
  app,
}) => {
  const { page, cli, data } = app;
  await cli('import', 'sample:three', '--into', 'main');
  await cli('fork', 'held', '--ttl', '1h');
  await cli('fork', 'child', '--from', 'held', '--ttl', '1h');
  const { uri } = (await cli('fork', 'broken', '--ttl', '1h')) as { uri: string };
  await cutPrices(uri);
  const server = (await serversUnder(data)).find(({ port }) => port === Number(new URL(uri).port))!;
  const turtle = join(server.dbPath, 'WiredTiger.turtle');
  await copyFile(turtle, join(data, 'whole'));
  await writeFile(turtle, 'damaged');
  process.kill(server.pid, 'SIGKILL');
  const row = page.getByRole('treeitem', { name: /^broken/ });
  await expect(row).toContainText('failed', { timeout: 60_000 });
  await row.click();
  const state = page.getByRole('status', { name: 'State' });
  await expect(state).toContainText(/broken does not run\. .*Its changes up to then are kept/);
  await clean(page, 'failed');
  await state.getByRole('button', { name: 'Show log…' }).click();
  const log = page.getByRole('dialog', { name: 'broken does not run' });
  await expect(log.getByRole('button', { name: 'Try again' })).toBeFocused();
  await page.keyboard.press('Escape');
  await copyFile(join(data, 'whole'), turtle);
  await state.getByRole('button', { name: 'Try again' }).click();
  await expect(state).toHaveCount(0, { timeout: 60_000 });
  expect(await prices(uri)).toEqual({ p1: 44, p2: 80 });

  await expire(data, 'held');
  const held = page.getByRole('treeitem', { name: /^held/ });
  await expect(held).toContainText('Time is up');
  await held.click();
  const why = page.getByText('Its time is up; it is held because child came from it.');
  await expect(why).toBeVisible();
  await clean(page, 'held');
  await page.getByRole('button', { name: 'Extend 1 h' }).click();
  await expect(why).toHaveCount(0);
  await expect(held).not.toContainText('Time is up');
});
