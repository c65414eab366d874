import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, type Locator, type Page } from '@playwright/test';
import { MongoClient } from 'mongodb';
import { test } from './app.ts';
import { clean } from './axe.ts';

/** What was refused is announced, and is what describes the field that has the focus again. */
async function refusedAt(field: Locator, words: RegExp): Promise<void> {
  await expect(field).toHaveAccessibleDescription(words);
  await expect(field).toHaveAttribute('aria-invalid', 'true');
  await expect(field).toBeFocused();
}

async function verb(page: Page, branch: RegExp, name: string): Promise<void> {
  await page.getByRole('treeitem', { name: branch }).focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name }).press('Enter');
}

async function choose(page: Page, files: readonly { name: string; text: string | Buffer }[]): Promise<void> {
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles(
      files.map(({ name, text }) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) })),
    );
}

test('an import that cannot be read says why beside it: addresses, paths, names, gzip, duplicates, empty files', async ({
  app,
}) => {
  const { page, cli, data } = app;
  const source = page.getByRole('textbox', { name: /A running MongoDB, or the path of a file/ });
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  for (const [typed, words] of [
    ['mongodb://', /connection string cannot be read\..*It has the form mongodb:/],
    ['mongodb://u:p@ss/word@host/', /must be percent-encoded\. \S/],
    [`mongodb://u:s3cret@127.0.0.1:${port}/?directConnection=true`, new RegExp(`127\\.0\\.0\\.1:${port} .*\\. \\S`)],
  ] as const) {
    await source.fill(typed);
    await source.press('Enter');
    await refusedAt(source, words);
    await expect(page.getByRole('alert')).not.toContainText('s3cret');
  }
  await source.fill(`${data}/nowhere.json`);
  await page.getByRole('textbox', { name: 'Database' }).fill('shop');
  await page.getByRole('textbox', { name: 'Collection' }).fill('products');
  await page.keyboard.press('Enter');
  await refusedAt(source, /nowhere\.json does not exist\. Name a file/);
  await clean(page, 'a source that cannot be read');

  const good = '{"_id":"p1"}\n{"_id":"p2"}\n';
  await choose(page, [
    { name: 'stock.jsonl.gz', text: gzipSync(good) },
    { name: 'half.json.gz', text: gzipSync(good.repeat(50)).subarray(0, 40) },
    { name: 'number.json', text: '7' },
    { name: 'nothing.json', text: '' },
    { name: 'twice.ndjson', text: '{"_id":1}\n{"_id":1}\n' },
    { name: 'shop.archive.gz', text: 'x' },
  ]);
  const dialog = page.getByRole('dialog', { name: 'Import 6 files into main' });
  const file = (name: string): Locator => dialog.getByRole('listitem').filter({ hasText: name }).first();
  await expect(file('shop.archive').getByRole('alert')).toContainText(/written by mongodump.*Import from the running/);
  await dialog.getByRole('button', { name: 'Leave shop.archive.gz out' }).click();
  const database = page.getByRole('dialog').getByRole('textbox', { name: 'Database' });
  const again = page.getByRole('dialog', { name: 'Import 5 files into main' });
  const one = (name: string): Locator => again.getByRole('listitem').filter({ hasText: name }).first();
  await database.fill('my shop');
  await database.press('Enter');
  await expect(again.getByRole('alert').first()).toContainText(
    /"my shop" cannot be the name of a database\..*63 bytes/,
  );
  await expect(database).toHaveAttribute('aria-invalid', 'true');
  await expect(database).toBeFocused();
  await database.fill('shop');
  const collection = again.getByRole('textbox', { name: 'Collection for stock.jsonl.gz' });
  await expect(collection).toHaveValue('stock');
  await collection.fill('st$ck');
  await collection.press('Enter');
  await refusedAt(collection, /"st\$ck" cannot be the name of a collection\. It has no \$/);
  await expect(one('half.json.gz').getByRole('alert')).toContainText(/ends before its gzip data does\..*Nothing was/);
  await expect(one('number.json').getByRole('alert')).toContainText(
    /number\.json, line 1: Expected a document.*Nothing was/,
  );
  await expect(one('nothing.json')).toContainText('The file holds no document: nothing was imported');
  const problems = one('twice.ndjson').getByRole('list', { name: 'Problems' });
  await expect(problems).toContainText(/Line 2: .*duplicate key/);
  await collection.fill('stock');
  await collection.press('Enter');
  await expect(one('stock.jsonl.gz')).toContainText('2 documents imported');
  await clean(page, 'files that cannot be read');
  // What was good came in, and nothing else.
  await expect.poll(async () => ((await cli('branches')) as [{ documents: number }])[0].documents).toBe(3);
});

test('names that are taken or cannot be, a branch that is not there, transactions that stay open: each says what helps', async ({
  app,
}) => {
  const { page, cli, electron } = app;
  await cli('import', 'sample:three', '--into', 'main');
  const { uri } = (await cli('fork', 'taken')) as { uri: string };
  await expect(page.getByRole('treeitem', { name: /^taken/ })).toBeVisible();
  const dialog = page.getByRole('dialog');
  const name = dialog.getByRole('textbox', { name: 'Name' });

  await test.step('fork', async () => {
    await verb(page, /^taken/, 'Fork taken…');
    for (const [typed, words] of [
      ['taken', /There is a branch "taken" already\. Choose another name/],
      ['main', /There is a branch "main" already\. Choose another name/],
      ['a b', /"a b" cannot be a branch's name\. Use up to 63/],
      ['', /"" cannot be a branch's name\. Use up to 63/],
    ] as const) {
      await name.fill(typed);
      await name.press('Enter');
      await refusedAt(name, words);
    }
    await clean(page, 'a name that is taken');
    await page.keyboard.press('Escape');
  });

  await test.step('pin and actor', async () => {
    await verb(page, /^taken/, 'Pin as a starting point…');
    await name.fill('taken');
    await name.press('Enter');
    await refusedAt(name, /There is a branch or a pin "taken" already\. Choose another name\.$/);
    await page.keyboard.press('Escape');
    await page.getByRole('treeitem', { name: /^taken/ }).click();
    await page.getByRole('tab', { name: 'Connect' }).click();
    await page.getByRole('button', { name: 'Add actor' }).click();
    await name.fill('agent');
    await name.press('Enter');
    await refusedAt(name, /taken has an actor agent already\. Choose another name/);
    await page.keyboard.press('Escape');
  });

  await test.step('an open transaction', async () => {
    const client = await new MongoClient(uri).connect();
    const session = client.startSession();
    try {
      session.startTransaction();
      await client.db('shop').collection<{ _id: string }>('products').insertOne({ _id: 'open' }, { session });
      await verb(page, /^taken/, 'Fork taken…');
      await name.fill('waits');
      await name.press('Enter');
      const alert = dialog.getByRole('alert');
      await expect(alert).toContainText(/wait for open transactions.*open for .* s\./);
      await dialog.getByRole('button', { name: 'End them and fork' }).click();
      await expect(page.getByRole('heading', { name: /^waits is ready/ })).toBeVisible();
      await page.keyboard.press('Escape');
    } finally {
      await session.endSession().catch(() => undefined);
      await client.close();
    }
  });

  if (electron !== undefined)
    await test.step('a link to a branch that is not there', async () => {
      await electron.app.evaluate(({ app: shell }) =>
        shell.emit('open-url', { preventDefault() {} }, 'forkyard://branch/gone'),
      );
      await expect(page.locator('.toast-place')).toContainText(
        /There is no branch called gone\..*older than its branch/,
      );
    });
});
