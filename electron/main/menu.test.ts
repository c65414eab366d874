import { expect, test, vi } from 'vitest';
import type { ShellFacts } from '../../shared/desktop.ts';
import { menuTemplate, type MenuActions } from './menu.ts';

const facts: ShellFacts = {
  menus: [
    { label: 'File', commands: [{ id: 'import', label: 'Import R&D data…', enabled: true }] },
    { label: 'Branch', commands: [{ id: 'fork', label: 'Fork main…', accelerator: 'CmdOrCtrl+N', enabled: false }] },
    { label: 'View', commands: [{ id: 'pause', label: 'Pause', accelerator: 'Space', enabled: true }] },
  ],
  sandboxes: [],
};
const actions = (): MenuActions => ({
  run: vi.fn(),
  showLogs: vi.fn(),
  checkForUpdates: vi.fn(),
  whenClosed: 'keep',
  setWhenClosed: vi.fn(),
});

function items(platform: NodeJS.Platform, own = actions()) {
  const menus = menuTemplate(facts, platform, own);
  return menus.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
}

test('the window’s commands are in the menus, and a click runs one by its id', () => {
  const own = actions();
  const fork = items('linux', own).find(({ id }) => id === 'fork');
  expect(fork).toMatchObject({
    label: 'Fork main…',
    accelerator: 'CmdOrCtrl+N',
    registerAccelerator: true,
    enabled: false,
  });
  (fork?.click as () => void)();
  expect(own.run).toHaveBeenCalledWith('fork');
});

test('a lone key is shown and never taken from typing; macOS cannot show one alone', () => {
  expect(items('linux').find(({ id }) => id === 'pause')).toMatchObject({
    accelerator: 'Space',
    registerAccelerator: false,
  });
  expect(items('darwin').find(({ id }) => id === 'pause')).not.toHaveProperty('accelerator');
});

test('an ampersand of a label is an ampersand', () => {
  expect(items('linux').find(({ id }) => id === 'import')?.label).toBe('Import R&&D data…');
});

test('what was remembered about closing can be changed', () => {
  const own = actions();
  const choices = items('linux', own).find(({ label }) => label?.startsWith('When Closed'))?.submenu;
  if (!Array.isArray(choices)) throw new Error('there are no choices');
  expect(choices.map(({ checked }) => checked)).toEqual([false, true, false]);
  (choices[2]?.click as () => void)();
  expect(own.setWhenClosed).toHaveBeenCalledWith('stop');
  expect(items('darwin').some(({ label }) => label?.startsWith('When Closed'))).toBe(false);
});

test('updates are asked for when the user asks', () => {
  const own = actions();
  const item = items('linux', own).find(({ label }) => label === 'Check for Updates…');
  expect(own.checkForUpdates).not.toHaveBeenCalled();
  (item?.click as () => void)();
  expect(own.checkForUpdates).toHaveBeenCalledOnce();
});
