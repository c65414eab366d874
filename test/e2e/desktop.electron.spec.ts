import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { test, type App } from './app.ts';
import { startAgain, type ElectronShell } from './electron.ts';

function shellOf({ electron }: App): ElectronShell {
  if (electron === undefined) throw new Error('this test is for Electron');
  return electron;
}

const appLog = ({ data }: App): Promise<string> => readFile(join(data, 'app.log'), 'utf8');

test('the native menu has the window’s verbs with their keys, and runs them', async ({ app }) => {
  const shell = shellOf(app);
  await app.cli('import', 'sample:three', '--into', 'main');
  const item = (id: string) =>
    shell.app.evaluate(({ Menu }, wanted) => {
      const found = Menu.getApplicationMenu()?.getMenuItemById(wanted);
      return found && { label: found.label, accelerator: found.accelerator, enabled: found.enabled };
    }, id);
  await expect.poll(() => item('fork')).toEqual({ label: 'Fork main…', accelerator: 'CmdOrCtrl+N', enabled: true });
  expect(await item('copy-uri')).toMatchObject({ accelerator: 'CmdOrCtrl+Shift+C', enabled: true });
  // main has nothing to be reviewed against.
  expect(await item('review')).toMatchObject({ enabled: false });

  await shell.app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('fork')?.click());
  await expect(app.page.getByRole('dialog')).toContainText('Fork');
  // An open dialog has the keyboard: its answer comes first.
  await expect.poll(() => item('fork')).toMatchObject({ enabled: false });
});

test('updates are asked for in the menu alone, and what came of it is said', async ({ app }) => {
  const shell = shellOf(app);
  await app.cli('import', 'sample:three', '--into', 'main');
  await expect(app.page.getByRole('heading', { level: 1 })).toHaveText('main');
  expect(await appLog(app)).not.toContain('asked for updates');
  await shell.app.evaluate(({ dialog, Menu }) => {
    const told: string[] = [];
    Object.assign(globalThis, { told });
    dialog.showMessageBox = (({ message, buttons }: { message: string; buttons: string[] }) => {
      told.push(message, ...buttons);
      return Promise.resolve({ response: 0, checkboxChecked: false });
    }) as typeof dialog.showMessageBox;
    Menu.getApplicationMenu()?.getMenuItemById('check-for-updates')?.click();
  });
  await expect
    .poll(() => shell.app.evaluate(() => (globalThis as { told?: string[] }).told))
    .toEqual(['This copy of Forkyard has nowhere to ask for updates.', 'OK']);
  expect(await appLog(app)).toContain('asked for updates: nowhere');
});

test('EL-02: a second start brings the first window to the front, with its link, and runs no second engine', async ({
  app,
}) => {
  const shell = shellOf(app);
  await app.cli('import', 'sample:three', '--into', 'main');
  await app.cli('fork', 'price-update');
  const heading = app.page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText('main');
  await shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());

  expect(await startAgain(shell, 'forkyard://branch/price-update')).toMatchObject({
    code: 0,
    said: expect.stringContaining('is open on'),
  });
  await expect(heading).toHaveText('price-update');
  await expect
    .poll(() => shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((one) => one.isVisible())))
    .toEqual([true]);

  await startAgain(shell, 'forkyard://branch/price-update?discard=1');
  await expect.poll(() => appLog(app)).toContain('refused the link "forkyard://branch/price-update?discard=1"');
  await startAgain(shell, 'forkyard://branch/nobody');
  await expect(app.page.getByText('There is no branch called nobody.')).toBeVisible();
  await expect(heading).toHaveText('price-update');
});

test('closing the window with a running sandbox asks once, and remembers', async ({ app }) => {
  const shell = shellOf(app);
  // The engine is the app's own: a command that came before it would start one that outlives the app.
  await expect(app.page.getByRole('contentinfo').getByText(/Engine running/)).toBeVisible();
  await app.cli('import', 'sample:three', '--into', 'main');
  await app.cli('fork', 'price-update');
  await app.page.getByRole('treeitem', { name: /^price-update/ }).click();
  // Menu and tray are told together, a moment later.
  await expect
    .poll(() => shell.app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('fork')?.label))
    .toBe('Fork price-update…');
  await shell.app.evaluate(({ dialog }) => {
    const asked: string[] = [];
    Object.assign(globalThis, { asked });
    dialog.showMessageBox = ((_window: unknown, { message }: { message: string }) => {
      asked.push(message);
      return Promise.resolve({ response: 0, checkboxChecked: true });
    }) as typeof dialog.showMessageBox;
  });
  const isShown = () => shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible());
  const close = () => shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
  await expect.poll(async () => (await close(), isShown())).toBe(false);
  await startAgain(shell);
  await expect.poll(isShown).toBe(true);
  await close();
  await expect.poll(isShown).toBe(false);
  expect(await shell.app.evaluate(() => (globalThis as { asked?: string[] }).asked)).toEqual([
    'Keep the running sandbox?',
  ]);
  const remembered = () => readFile(join(app.data, 'app', 'shell.json'), 'utf8').then(JSON.parse, String);
  await expect.poll(remembered).toMatchObject({ whenClosed: 'keep', window: { width: expect.any(Number) } });
});

test('a crashed window offers Restart and Show Logs, and comes back', async ({ app }) => {
  const shell = shellOf(app);
  await app.cli('import', 'sample:three', '--into', 'main');
  await expect(app.page.getByRole('heading', { level: 1 })).toHaveText('main');
  await shell.app.evaluate(({ dialog, shell: system, BrowserWindow }) => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    system.showItemInFolder = (path) => seen.push(path);
    // First the logs, then the restart.
    dialog.showMessageBox = ((_window: unknown, { buttons }: { buttons: string[] }) => {
      seen.push(buttons.join());
      return Promise.resolve({ response: seen.length === 1 ? 1 : 0, checkboxChecked: false });
    }) as typeof dialog.showMessageBox;
    BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer();
  });
  await expect
    .poll(() => shell.app.evaluate(() => (globalThis as { seen?: string[] }).seen))
    .toEqual(['Restart,Show Logs,Quit', join(app.data, 'app.log'), 'Restart,Show Logs,Quit']);
  // Playwright's page has died with the process: the window is asked through the app.
  await expect
    .poll(() =>
      shell.app.evaluate(({ BrowserWindow }) => {
        const contents = BrowserWindow.getAllWindows()[0]?.webContents;
        if (contents === undefined || contents.isCrashed() || contents.isLoading()) return '';
        return Promise.race([
          contents.executeJavaScript('document.querySelector("h1")?.textContent') as Promise<string>,
          new Promise<string>((resolve) => setTimeout(() => resolve('no answer'), 1_000)),
        ]);
      }),
    )
    .toBe('main');
  expect(await appLog(app)).toContain("the window's process ended");
});
