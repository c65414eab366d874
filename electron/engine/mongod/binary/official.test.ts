import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fetchOfficialWithin } from './official.ts';

let folder: string;
let server: http.Server;
let answer: http.RequestListener;

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'forkyard-official-'));
  server = http.createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('MONGOMS_USE_HTTP', 'true');
  vi.stubEnv('MONGOMS_DOWNLOAD_MIRROR', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await fs.rm(folder, { recursive: true, force: true });
});

/** An archive as the vendor makes them, with a server of two megabytes in it. */
async function archive(): Promise<Buffer> {
  const bin = path.join(folder, 'archive', 'mongodb-linux', 'bin');
  await fs.mkdir(bin, { recursive: true });
  const noise = Array.from({ length: 40_000 }, (_, i) => createHash('sha256').update(String(i)).digest('hex')).join(
    '\n',
  );
  await fs.writeFile(path.join(bin, 'mongod'), `#!/bin/sh\necho "db version v8.2.6"\nexit 0\n${noise}`);
  const file = path.join(folder, 'archive.tgz');
  execFileSync('tar', ['-czf', file, '-C', path.join(folder, 'archive'), 'mongodb-linux']);
  return await fs.readFile(file);
}

it('brings the archive’s server, checked against its MD5, with progress in bytes', async () => {
  const bytes = await archive();
  answer = (request, response) => {
    const md5 = `${createHash('md5').update(bytes).digest('hex')}  archive.tgz\n`;
    const body = request.url?.endsWith('.md5') ? Buffer.from(md5) : bytes;
    response.writeHead(200, { 'content-length': body.length }).end(body);
  };
  const target = path.join(folder, 'target');
  await fs.mkdir(target);
  const seen: { done?: number; total?: number }[] = [];
  const written = vi.spyOn(console, 'log');
  await fetchOfficialWithin(5000)(target, { onProgress: (progress) => seen.push(progress), signal: undefined });
  expect(await fs.readdir(target)).toEqual(['mongod']);
  expect(execFileSync(path.join(target, 'mongod'), { encoding: 'utf8' })).toContain('8.2.6');
  expect(seen.at(-1)).toMatchObject({ done: bytes.length, total: bytes.length });
  expect(written).not.toHaveBeenCalled();
});

it('refuses an archive that does not have the MD5 it should', async () => {
  const bytes = await archive();
  answer = (request, response) => {
    const body = request.url?.endsWith('.md5') ? Buffer.from(`${'0'.repeat(32)}  archive.tgz\n`) : bytes;
    response.writeHead(200, { 'content-length': body.length }).end(body);
  };
  const fetch = fetchOfficialWithin(5000)(folder, { onProgress: () => undefined, signal: undefined });
  await expect(fetch).rejects.toThrow(/MD5/i);
});

it('gives up when the host takes the connection and never answers', async () => {
  answer = () => undefined;
  const fetch = fetchOfficialWithin(50)(folder, { onProgress: () => undefined, signal: undefined });
  await expect(fetch).rejects.toThrow(/^127\.0\.0\.1:\d+ did not answer within 0\.05 s$/);
});

it('stops when it is aborted', async () => {
  const controller = new AbortController();
  answer = () => controller.abort();
  const fetch = fetchOfficialWithin(60_000)(folder, { onProgress: () => undefined, signal: controller.signal });
  await expect(fetch).rejects.toThrow();
});
