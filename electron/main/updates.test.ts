import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askForUpdate } from './updates.ts';

let resources: string;
beforeEach(() => {
  resources = mkdtempSync(join(tmpdir(), 'fyu-'));
});
afterEach(() => rmSync(resources, { recursive: true }));

const channel = (url: string) =>
  `provider: generic\nurl: ${url}\nchannel: latest\nupdaterCacheDirName: forkyard-updater\n`;
const release = (version: string, path = `Forkyard-${version}.AppImage`) =>
  `version: ${version}\nfiles:\n  - url: ${path}\n    sha512: x\npath: ${path}\nreleaseDate: '2026-11-29T12:00:00.000Z'\n`;

function ask(answer: string | number | Error, more: { url?: string; version?: string } = {}) {
  writeFileSync(join(resources, 'app-update.yml'), channel(more.url ?? 'https://releases.example/forkyard'));
  const fetch = vi.fn((_url: string) =>
    answer instanceof Error
      ? Promise.reject(answer)
      : Promise.resolve({
          ok: typeof answer === 'string',
          status: typeof answer === 'number' ? answer : 200,
          text: () => Promise.resolve(String(answer)),
        }),
  );
  const version = more.version ?? '1.9.3';
  return { fetch, told: askForUpdate({ resources, platform: 'linux', arch: 'x64', version, fetch }) };
}

test('a newer release is named with where its file is, and only its description is loaded', async () => {
  const { fetch, told } = ask(release('1.10.0'));
  const file = 'https://releases.example/forkyard/Forkyard-1.10.0.AppImage';
  expect(await told).toEqual({ kind: 'newer', version: '1.10.0', file });
  expect(fetch.mock.calls).toEqual([['https://releases.example/forkyard/latest-linux.yml']]);
});

test('the same, an older one, and a preview of the same are not newer', async () => {
  for (const version of ['1.9.3', '1.8.40', '0.99.0', '1.9.3-beta.1'])
    expect(await ask(release(version)).told, version).toEqual({ kind: 'newest' });
  expect(await ask(release('1.9.3'), { version: '1.9.3-beta.1' }).told).toMatchObject({ kind: 'newer' });
});

test('no network, a refusal and nonsense are said', async () => {
  expect(await ask(new Error('net::ERR_INTERNET_DISCONNECTED')).told).toEqual({
    kind: 'failed',
    reason: 'net::ERR_INTERNET_DISCONNECTED',
  });
  expect(await ask(404).told).toEqual({ kind: 'failed', reason: 'It answered with status 404.' });
  const nonsense = { kind: 'failed', reason: 'Its answer names no release.' };
  expect(await ask('<html>sign in to the hotel</html>').told).toEqual(nonsense);
  // What it offers to open lies where the package was told to look, and nowhere else.
  for (const path of ['https://elsewhere.example/x.exe', 'javascript:alert(1)', '//elsewhere.example/x'])
    expect(await ask(release('2.0.0', path)).told, path).toEqual(nonsense);
});

test('without a channel, or one without TLS, nobody is asked', async () => {
  const plain = ask(release('2.0.0'), { url: 'http://releases.example/' });
  expect(await plain.told).toEqual({ kind: 'nowhere' });
  expect(plain.fetch).not.toHaveBeenCalled();
  rmSync(join(resources, 'app-update.yml'));
  const fetch = vi.fn();
  const around = { platform: 'linux', arch: 'x64', version: '1.0.0', fetch } as const;
  expect(await askForUpdate({ ...around, resources })).toEqual({ kind: 'nowhere' });
  expect(await askForUpdate({ ...around, resources: undefined })).toEqual({ kind: 'nowhere' });
  expect(fetch).not.toHaveBeenCalled();
});
