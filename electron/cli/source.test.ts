import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { printer } from './print.ts';
import { resolveSource } from './source.ts';

let folder: string;
const notices = vi.fn();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forkyard-source-'));
  notices.mockClear();
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = { db: 'shop', collection: 'products' };
const none = { db: undefined, collection: undefined };
function context(target: { db: string | undefined; collection: string | undefined }, env: NodeJS.ProcessEnv = {}) {
  const out = { write: vi.fn() };
  return {
    ...target,
    env,
    print: printer(false, out, { write: notices }),
    stdin: Readable.from(['{"_id":', '1}']),
    signal: new AbortController().signal,
  };
}

test('a file becomes its absolute path, and must say where it goes', async () => {
  const path = join(folder, 'p.json');
  writeFileSync(path, '[]');
  expect((await resolveSource(relative(process.cwd(), path), context(file))).source).toBe(path);
  await expect(resolveSource(path, context(none))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('--db and --collection'),
  });
  await expect(resolveSource('-', context({ ...none, db: 'shop' }))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/needs --collection:/),
  });
});

test('a file that is not there, a folder, and a path through a file are told apart', async () => {
  writeFileSync(join(folder, 'p.json'), '[]');
  await expect(resolveSource(join(folder, 'no.json'), context(file))).rejects.toMatchObject({ code: 'unknown_file' });
  await expect(resolveSource(join(folder, 'p.json', 'x'), context(file))).rejects.toMatchObject({
    code: 'unknown_file',
  });
  await expect(resolveSource(folder, context(file))).rejects.toMatchObject({ code: 'source_unreadable' });
});

test('stdin is spooled to a file that its owner alone can read, and removed', async () => {
  const source = await resolveSource('-', context(file));
  expect(readFileSync(source.source, 'utf8')).toBe('{"_id":1}');
  expect(statSync(source.source).mode & 0o777).toBe(0o600);
  await source.dispose();
  expect(existsSync(source.source)).toBe(false);
});

test('a URI passes as it is; a password on the command line is warned of, one from the environment is not', async () => {
  const uri = 'mongodb://me:secret@db.example/';
  expect((await resolveSource(uri, context(none))).source).toBe(uri);
  expect(notices).toHaveBeenCalledOnce();
  expect(String(notices.mock.calls)).not.toContain('secret');
  notices.mockClear();
  expect((await resolveSource('env:SOURCE', context(none, { SOURCE: uri }))).source).toBe(uri);
  expect((await resolveSource('mongodb://db.example/', context(none))).source).toBe('mongodb://db.example/');
  expect((await resolveSource('mongodb://me@db.example/', context(none))).source).toBe('mongodb://me@db.example/');
  expect(notices).not.toHaveBeenCalled();
});

test('a variable that is not set is a usage error that names it', async () => {
  await expect(resolveSource('env:NOPE', context(none))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('NOPE'),
  });
});
