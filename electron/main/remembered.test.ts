import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory } from './remembered.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'forkyard-shell-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('what was set is there at the next start', () => {
  const file = join(folder, 'shell.json');
  const window = { x: 10, y: 20, width: 1000, height: 700, maximized: true };
  openMemory(file).set({ window });
  openMemory(file).set({ whenClosed: 'keep' });
  expect(openMemory(file).get()).toEqual({ window, whenClosed: 'keep' });
});

test('a file that is none, or holds something else, is as good as none', () => {
  const file = join(folder, 'shell.json');
  expect(openMemory(file).get()).toEqual({ whenClosed: 'ask' });
  for (const text of ['{', '[]', 'null', '{"window":{"x":"1"},"whenClosed":"maybe"}']) {
    writeFileSync(file, text);
    expect(openMemory(file).get()).toEqual({ whenClosed: 'ask' });
  }
});
