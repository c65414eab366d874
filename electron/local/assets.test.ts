import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readAsset } from './assets.ts';

let outside: string;
let root: string;
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'forkyard-assets-'));
  root = join(outside, 'renderer');
  mkdirSync(join(root, 'assets'), { recursive: true });
  mkdirSync(join(outside, 'renderer-other'));
  writeFileSync(join(root, 'index.html'), 'page');
  writeFileSync(join(root, 'assets', 'a b.js'), 'script');
  writeFileSync(join(outside, 'secret.json'), 'secret');
  writeFileSync(join(outside, 'renderer-other', 'a.js'), 'secret');
  symlinkSync(join(outside, 'secret.json'), join(root, 'link.json'));
});
afterEach(() => rmSync(outside, { recursive: true }));

test('files of the app are served with their type', async () => {
  expect((await readAsset(root, '/'))?.bytes.toString()).toBe('page');
  expect(await readAsset(root, '/assets/a%20b.js')).toEqual({
    type: 'text/javascript; charset=utf-8',
    bytes: Buffer.from('script'),
  });
});

test.each([
  '/../secret.json',
  '/%2e%2e/secret.json',
  '/..%2fsecret.json',
  '/%2e%2e%2fsecret.json',
  '/assets/../../secret.json',
  '/..\\secret.json',
  '/../renderer-other/a.js',
  '/link.json',
  '/index.html%00.js',
  '/%zz.js',
  '/missing.js',
  '/assets',
  '',
])('%s is not there', async (path) => {
  expect(await readAsset(root, path)).toBeUndefined();
});
