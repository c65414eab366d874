import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { test } from './app.ts';

test('a page that is not ours gets no answer, though it has the preload script; what ours sends is parsed', async ({
  app,
}) => {
  const answers = await app.electron?.app.evaluate(async ({ app: self, BrowserWindow }) => {
    const preload = `${self.getAppPath()}/dist/electron/preload.cjs`;
    const evil = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true } });
    await evil.loadURL('data:text/html,<title>evil</title>');
    const ask = (call: string) =>
      evil.webContents.executeJavaScript(
        `window.forkyard.${call}.then(() => 'answered', (error) => String(error))`,
      ) as Promise<string>;
    const said = [
      await ask('connect()'),
      await ask('copyText("x")'),
      await ask('notify({ title: "x", body: "x" })'),
      await ask('showLogs()'),
    ];
    evil.destroy();
    return said;
  });
  expect(answers).toHaveLength(4);
  for (const answer of answers ?? []) expect(answer).toContain('Refused a call from data:text/html');
  const said = await app.page.evaluate(() => {
    const desktop = window.forkyard as unknown as Record<string, (value: unknown) => Promise<unknown>>;
    const calls = [
      desktop['notify']?.({ title: 7 }),
      desktop['describe']?.({ menus: [{ label: 'Evil', commands: [] }], sandboxes: [] }),
      desktop['copyText']?.({}),
    ];
    return Promise.all(calls.map((call) => call?.then(() => 'answered', String)));
  });
  expect(said.map((one) => /Refused what was sent|takes a text/.test(one ?? ''))).toEqual([true, true, true]);
  const log = await readFile(join(app.data, 'app.log'), 'utf8');
  expect(log).toContain('forkyard:connect: Refused a call from data:text/html');
  expect(log).toContain('forkyard:describe: Refused what was sent');
});

test('the window goes nowhere, opens nothing, embeds nothing, runs no foreign script has no permission, and app:// leads to the app alone', async ({
  app: { page, data, electron },
}) => {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  const tried = await page.evaluate(async () => {
    const refused: string[] = [];
    document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
    const script = document.createElement('script');
    script.textContent = 'window.evil = true';
    const frame = document.createElement('iframe');
    frame.src = 'https://example.com/';
    const picture = document.createElement('img');
    picture.src = 'https://example.com/x.png';
    document.body.append(script, frame, picture);
    const opened = window.open('https://example.com/');
    const fetched = await fetch('https://example.com/').then(
      () => 'fetched',
      () => 'refused',
    );
    const permission = await Notification.requestPermission();
    location.href = 'https://example.com/';
    while (new Set(refused).size < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    script.remove();
    frame.remove();
    picture.remove();
    return {
      refused: [...new Set(refused)].sort(),
      evil: 'evil' in window,
      opened: opened === null,
      fetched,
      permission,
    };
  });
  expect(tried).toEqual({
    refused: ['connect-src', 'frame-src', 'img-src', 'script-src-elem'],
    evil: false,
    opened: true,
    fetched: 'refused',
    permission: 'denied',
  });
  const log = () => readFile(join(data, 'app.log'), 'utf8');
  await expect.poll(log).toContain('refused to open https://example.com/ in the window');
  await expect.poll(log).toContain('refused to open a window for https://example.com/');
  expect(page.url()).toBe('app://forkyard/index.html');
  expect(electron?.app.windows()).toHaveLength(1);

  const shown = await electron?.app.evaluate(async ({ BrowserWindow }, urls) => {
    const window = new BrowserWindow({ show: false });
    const texts: string[] = [];
    for (const url of urls) {
      await window.loadURL(url);
      texts.push((await window.webContents.executeJavaScript('document.body.textContent')) as string);
    }
    window.destroy();
    return texts;
  }, outside);
  expect(shown).toEqual(outside.map(() => 'There is nothing here.'));
});

/** Addresses that lead out of the app's folder, or into it by another name. */
const outside = [
  'app://forkyard/../electron/main.cjs',
  'app://forkyard/%2e%2e/electron/main.cjs',
  'app://forkyard/..%2felectron%2fmain.cjs',
  'app://forkyard/%2fetc%2fpasswd',
  'app://forkyard/..%5c..%5cpackage.json',
  'app://elsewhere/index.html',
];
