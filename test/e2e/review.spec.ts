import { expect, type Page } from '@playwright/test';
import { Decimal128, Int32, MongoClient, type Collection, type Document } from 'mongodb';
import { test, type App } from './app.ts';
import { worstFrame } from './frames.ts';

type Item = Document & { _id: string };

/** A collection of main, forked, and both sides to write to. */
async function withSides(
  { cli }: App,
  items: readonly Item[],
  work: (sides: { main: Collection<Item>; branch: Collection<Item> }) => Promise<void>,
): Promise<void> {
  const clients: MongoClient[] = [];
  const open = async (name: string): Promise<Collection<Item>> => {
    const { uri } = (await cli('uri', name)) as { uri: string };
    const client = await new MongoClient(uri, { promoteValues: false }).connect();
    clients.push(client);
    return client.db('shop').collection<Item>('items');
  };
  try {
    await cli('import', 'sample:three', '--into', 'main');
    const main = await open('main');
    await main.insertMany([...items]);
    await cli('fork', 'trial');
    await work({ main, branch: await open('trial') });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function openReview(page: Page, heading: RegExp): Promise<void> {
  await page.getByRole('treeitem', { name: /^trial/ }).click();
  await page.getByRole('tab', { name: /Review/ }).click();
  await expect(page.getByRole('heading', { name: heading })).toBeVisible();
}

async function adopt(page: Page, count: string): Promise<void> {
  await page
    .getByRole('region', { name: 'Decision' })
    .getByRole('button', { name: `Adopt ${count}` })
    .click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Adopt ${count}` })
    .click();
  // What is pointed at stays.
  await page.getByText(`Adopted ${count} into main`).hover();
}

test('a conflict is decided field by field, by a side and by what is typed, and can be undone', async ({ app }) => {
  const { page } = app;
  const decimal = (text: string) => Decimal128.fromString(text);
  const lamp = {
    _id: 'lamp',
    price: decimal('49.00'),
    stock: new Int32(3),
    label: 'Lamp',
    note: 'as it was',
    place: 'A1',
  };
  await withSides(app, [lamp], async ({ main, branch }) => {
    await branch.updateOne({ _id: 'lamp' }, { $set: { price: decimal('44.00'), stock: new Int32(5), note: 'new' } });
    await main.updateOne({ _id: 'lamp' }, { $set: { price: decimal('52.00'), stock: new Int32(9), place: 'B7' } });
    await openReview(page, /1 document in 1 collection, 1 conflict/);
    await page.getByRole('button', { name: /Decide 1 conflict/ }).click();
    // What needs no decision is told all the same, and the result says of each line where it comes from.
    const table = page.getByRole('region', { name: 'Conflicts' });
    await expect(table.getByRole('row', { name: /^place/ })).toContainText('"B7" only in main');
    await expect(table.getByRole('row', { name: /^note/ })).toContainText('"new" only in trial');
    const preview = page.getByRole('region', { name: 'Result' });
    await expect(preview).toContainText('2 places not decided, it is left out until then');
    await expect(preview).toContainText('price: not decided52.00 from main, or 44.00 from trial');
    await expect(preview).toContainText('place: "B7", from main');
    await expect(preview).toContainText('note: "new", from trial');
    await page.getByRole('button', { name: /^Take main for stock/ }).click();
    await expect(preview).toContainText('stock: 9, from main');
    await page.getByRole('button', { name: 'Edit the result for price' }).click();
    const result = page.getByRole('textbox', { name: 'Result for price' });
    await result.fill('47.50 EUR');
    await expect(result).toHaveAttribute('aria-invalid', 'true');
    await result.fill('47.50');
    await expect(page.getByText('Decimal128').last()).toBeVisible();
    await result.press('Enter');
    await expect(page.getByRole('heading', { name: '2 of 2 decisions made in 1 document' })).toBeVisible();
    await expect(preview).toContainText('price: 47.50, edited');

    // Decisions outlive the window, until a side moves.
    await page.reload();
    await openReview(page, /1 document in 1 collection, 1 conflict/);
    await expect(page.getByRole('button', { name: 'Look at decisions' })).toBeVisible();
    await main.updateOne({ _id: 'lamp' }, { $set: { stock: new Int32(8) } });
    await page.getByRole('button', { name: /Decide 1 conflict/ }).click();
    await expect(page.getByText(/main changed this at/)).toBeVisible();
    await page.getByRole('button', { name: /^Take trial for stock/ }).click();
    await page.getByRole('button', { name: 'Back to review' }).click();
    await adopt(page, '1 change');
    const adopted = { ...lamp, place: 'B7', price: decimal('47.50'), stock: new Int32(5), note: 'new' };
    expect(await main.findOne({ _id: 'lamp' })).toEqual(adopted);
    await expect(
      page.getByRole('region', { name: 'Review' }).getByRole('list', { name: 'Adoptions' }).getByRole('listitem'),
    ).toContainText('Adopted 1 change from trial into main');
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(() => main.findOne({ _id: 'lamp' }))
      .toEqual({ ...lamp, place: 'B7', price: decimal('52.00'), stock: new Int32(8) });
  });
});

test('DF-11: changes are chosen by keys, and a field left out in one document leaves the others alone', async ({
  app,
}) => {
  const { page } = app;
  const items = ['a', 'b', 'c'].map((_id) => ({ _id, price: new Int32(1), stock: new Int32(1) }));
  await withSides(app, items, async ({ main, branch }) => {
    await branch.updateMany({}, { $set: { price: new Int32(2), stock: new Int32(2) } });
    await branch.createIndex({ price: 1 });
    await openReview(page, /3 documents in 1 collection, 1 index/);
    const pane = page.getByRole('region', { name: 'Document' });
    await expect(pane).toContainText('2 of 2 changes');
    // The second change of the first document is left out, then the whole third document.
    for (const key of ['j', 'j', 'x']) await page.keyboard.press(key);
    await expect(pane).toContainText('1 of 2 changes');
    await expect(page.getByRole('row', { name: /Include a .*1 of 2 fields/ })).toBeVisible();
    await page.keyboard.press(']');
    await expect(pane.getByRole('checkbox', { checked: true })).toHaveCount(2);
    await page.keyboard.press(']');
    await page.keyboard.press('x');
    await expect(pane).toContainText('0 of 2 changes');
    await page.keyboard.press('u');
    await expect(pane).toContainText('2 of 2 changes');
    await page.keyboard.press('x');
    await expect(page.getByRole('checkbox', { name: 'Include shop.items', exact: true })).toHaveAttribute(
      'aria-checked',
      'mixed',
    );
    await page.getByRole('checkbox', { name: /Include shop.items: index/ }).click();
    await expect(page.getByText('2 of 4 selected')).toBeVisible();
    await adopt(page, '2 changes');
    expect(await main.find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 'a', price: new Int32(2), stock: new Int32(1) },
      { _id: 'b', price: new Int32(2), stock: new Int32(2) },
      { _id: 'c', price: new Int32(1), stock: new Int32(1) },
    ]);
    expect(await main.indexes()).toHaveLength(1);
  });
});

test('DF-05, DF-07, DF-08, DF-09: large and odd changes are readable, the window stays usable, values are exact', async ({
  app,
}) => {
  const { page } = app;
  const numbers = Array.from({ length: 200_000 }, (_, at) => new Int32((at * 7_919) % 200_003));
  const sorted = [...numbers].sort((a, b) => a.valueOf() - b.valueOf());
  const objects = Array.from({ length: 20_000 }, (_, at) => ({ _id: new Int32(at), n: new Int32(at) }));
  const words = Array.from({ length: 150_000 }, (_, at) => `wörd${String(at)}`);
  const text = words.join(' ');
  words[75_000] = '👩‍🚀\r\n';
  const after = {
    numbers: { list: sorted },
    objects: { list: objects.map((one, at) => (at % 5 === 0 ? { ...one, n: new Int32(-at) } : one)) },
    text: { text: words.join(' ') },
    edges: { a: [], b: {}, c: [[new Int32(1), new Int32(2)]], d: new Int32(1), e: [new Int32(3), new Int32(2)] },
  };
  const items: Item[] = [
    {
      _id: 'edges',
      a: [null],
      b: [],
      c: [[new Int32(1)], [new Int32(2)]],
      d: [new Int32(1)],
      e: [new Int32(2), new Int32(3)],
    },
    { _id: 'numbers', list: numbers },
    { _id: 'objects', list: objects },
    { _id: 'text', text },
  ];
  await withSides(app, items, async ({ main, branch }) => {
    for (const [_id, fields] of Object.entries(after)) await branch.updateOne({ _id }, { $set: fields });
    await openReview(page, /4 documents in 1 collection/);
    const row = (id: string) =>
      page
        .getByRole('grid', { name: /Documents in/ })
        .getByRole('row')
        .filter({ hasText: id });
    const changes = page.getByRole('group', { name: 'Changes of the document' });
    await row('edges').click();
    await expect(changes).toContainText('1 element moved');
    for (const line of ['a: [null]', 'a: []', 'b: {}']) await expect(changes).toContainText(line);
    await worstFrame(page, async () => {
      await row('numbers').click();
      await expect(changes).toContainText('The same 200,000 elements in another order');
    });
    await worstFrame(page, async () => {
      await row('objects').click();
      await expect(changes).toContainText('3,999 elements removed, 3,999 elements added');
    });
    await expect(async () => {
      await changes.press('End');
      await expect(changes).toContainText('7,798 more differences', { timeout: 500 });
    }).toPass();
    await row('text').click();
    await expect(changes).toContainText('👩‍🚀\\r\\n');
    await expect(changes.getByText(/Show the whole text/)).toBeVisible();
    await page.getByRole('radio', { name: 'Side by side' }).click();
    await expect(changes).toContainText('👩‍🚀\\r\\n');
    await page.getByRole('radio', { name: 'Unified' }).click();
    await adopt(page, '4 changes');
    for (const [_id, fields] of Object.entries(after)) {
      const found = await main.findOne({ _id });
      expect(JSON.stringify(found) === JSON.stringify(await branch.findOne({ _id })), _id).toBe(true);
      expect(Object.keys(found!)).toEqual(['_id', ...Object.keys(fields)]);
    }
  });
});
