import { execFileSync, spawnSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ForkyardError } from '../../../../shared/errors.ts';
import { defaultCacheDir, openPartial, serversDir } from './cache.ts';
import type { Fetch } from './fetch.ts';
import { type Fetcher, resolveMongod, type ResolveOptions } from './resolve.ts';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'forkyard-binary-'));
});
afterEach(async () => {
  await fs.rm(folder, { recursive: true, force: true });
});

/** A stand-in for the server that behaves like `body`, a shell script. */
async function fake(where: string, body: string): Promise<string> {
  await fs.mkdir(path.dirname(where), { recursive: true });
  await fs.writeFile(where, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return where;
}
const answering = (version: string) => `echo "db version v${version}"; echo 'Build Info: {}'`;

const nothing: Fetcher[] = [];
function resolveHere(options: Partial<ResolveOptions> = {}): ReturnType<typeof resolveMongod> {
  const base = { dataDir: path.join(folder, 'data'), cacheDir: path.join(folder, 'cache'), env: {}, fetchers: nothing };
  return resolveMongod({ ...base, ...options });
}
async function failure(promise: Promise<unknown>): Promise<ForkyardError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ForkyardError)) throw new Error(`expected a ForkyardError, got ${String(error)}`);
  return error;
}
const wheelOf = (fetch: Fetch): Fetcher[] => [{ source: 'wheel', what: 'the PyPI wheel', fetch }];

describe('a named mongod', () => {
  it('is used where FORKYARD_MONGOD or the settings name it, the variable first', async () => {
    const one = await fake(path.join(folder, 'one'), answering('6.0.5'));
    const two = await fake(path.join(folder, 'two'), answering('7.0.1'));
    expect(await resolveHere({ explicit: two })).toEqual({ path: two, version: '7.0.1', source: 'named' });
    expect(await resolveHere({ explicit: two, env: { FORKYARD_MONGOD: one } })).toMatchObject({ path: one });
  });

  it('that is missing is an error, although PATH has a good one', async () => {
    await fake(path.join(folder, 'bin', 'mongod'), answering('6.0.5'));
    const env = { FORKYARD_MONGOD: path.join(folder, 'absent'), PATH: path.join(folder, 'bin') };
    const error = await failure(resolveHere({ env }));
    expect(error.code).toBe('mongod_missing');
    expect(error.message).toBe(`The mongod named by FORKYARD_MONGOD, ${folder}/absent, does not exist.`);
    expect(error.hint).toContain('FORKYARD_MONGOD');
  });

  it('that is too old is an error with both versions', async () => {
    const old = await fake(path.join(folder, 'old'), answering('5.0.24'));
    const error = await failure(resolveHere({ explicit: old }));
    expect(error.code).toBe('mongod_too_old');
    expect(error.message).toContain('is version 5.0.24; Forkyard needs 6.0.0 or newer');
  });

  it.each([
    [
      'echo "$0: error while loading shared libraries: libcurl.so.4: cannot open shared object file" >&2; exit 127',
      'lacks the library libcurl.so.4',
      'apt-get install -y libcurl4',
    ],
    [
      'echo "$0: error while loading shared libraries: libssl.so.3: cannot open shared object file" >&2; exit 127',
      'lacks the library libssl.so.3',
      'apt-get install -y libssl3',
    ],
    ['kill -ILL $$', 'stopped at an instruction this processor does not have', 'AVX'],
    ['exit 132', 'stopped at an instruction this processor does not have', 'AVX'],
    [
      'echo "$0: version \\`GLIBC_2.38\' not found" >&2; exit 1',
      'was built for a newer system (it needs GLIBC_2.38)',
      '',
    ],
    ['echo hello', 'does not answer --version as a mongod does', ''],
    ['echo broken >&2; exit 3', 'ended with exit code 3: broken', ''],
  ])('that cannot run is named with its cause within a second: %s', async (body, cause, hint) => {
    const file = await fake(path.join(folder, 'broken'), body);
    const started = performance.now();
    spawnSync(file);
    const plainMs = performance.now() - started;
    const error = await failure(resolveHere({ explicit: file }));
    // Beside what starting any program takes on this machine at this time.
    expect(performance.now() - started - plainMs).toBeLessThan(1_000 + 5 * plainMs);
    expect(error.code).toBe('mongod_missing');
    expect(error.message).toContain(cause);
    expect(error.hint).toContain(hint);
  });

  it('that is a folder or not executable is named so', async () => {
    expect((await failure(resolveHere({ explicit: folder }))).message).toContain('is not a file');
    const plain = path.join(folder, 'plain');
    await fs.writeFile(plain, 'text', { mode: 0o644 });
    expect((await failure(resolveHere({ explicit: plain }))).message).toContain('may not be executed');
  });

  it('in a folder with an odd name works', async () => {
    const file = await fake(path.join(folder, 'Jörg & "Co" 测试', 'mongod'), answering('6.0.5'));
    expect(await resolveHere({ explicit: file })).toMatchObject({ path: file });
  });
});

describe('the order', () => {
  it('takes the newest cached server before PATH, and PATH before a download', async () => {
    const onPath = await fake(path.join(folder, 'bin', 'mongod'), answering('8.0.0'));
    const env = { PATH: `relative:${path.join(folder, 'bin')}` };
    expect(await resolveHere({ env })).toEqual({ path: onPath, version: '8.0.0', source: 'path' });
    await fake(path.join(folder, 'cache', 'mongod', '6.0.5-wheel', 'mongod'), answering('6.0.5'));
    const cached = await fake(path.join(folder, 'cache', 'mongod', '10.1.0-download', 'mongod'), answering('10.1.0'));
    expect(await resolveHere({ env })).toEqual({ path: cached, version: '10.1.0', source: 'cache' });
  });

  it('passes over an old server on PATH, and names it when nothing else is found', async () => {
    const old = await fake(path.join(folder, 'bin', 'mongod'), answering('4.4.1'));
    const error = await failure(resolveHere({ env: { PATH: path.join(folder, 'bin'), FORKYARD_OFFLINE: '1' } }));
    expect(error.code).toBe('mongod_too_old');
    expect(error.message).toBe(
      `No usable mongod: the one on PATH, ${old}, is version 4.4.1, older than 6.0.0; downloads are switched off by FORKYARD_OFFLINE.`,
    );
  });

  it('fetches nothing under FORKYARD_OFFLINE=1', async () => {
    const fetch = () => Promise.reject(new Error('was called'));
    const error = await failure(resolveHere({ env: { FORKYARD_OFFLINE: '1' }, fetchers: wheelOf(fetch) }));
    expect(error.code).toBe('mongod_missing');
    expect(error.message).not.toContain('was called');
  });

  it('tries each way to fetch, and says in one sentence what became of each', async () => {
    const failing =
      (message: string, hint?: string): Fetch =>
      () =>
        Promise.reject(Object.assign(new Error(message), hint === undefined ? {} : { hint }));
    const fetchers: Fetcher[] = [
      { source: 'download', what: 'the official build', fetch: failing('vendor did not answer within 5 s') },
      ...wheelOf(failing('python3 has no pip', 'apt-get install -y python3-pip')),
    ];
    const error = await failure(resolveHere({ fetchers }));
    expect(error.message).toBe(
      'No usable mongod: there is none in the cache or on PATH; the official build could not be fetched ' +
        '(vendor did not answer within 5 s); the PyPI wheel could not be fetched (python3 has no pip).',
    );
    expect(error.hint).toContain('python3-pip');
  });

  it('remembers a version by path, size and time, and asks again when the file changes', async () => {
    const counted = (version: string) => `echo x >> "${folder}/runs"; ${answering(version)}`;
    const file = await fake(path.join(folder, 'server'), counted('6.0.5'));
    for (let i = 0; i < 3; i++) expect(await resolveHere({ explicit: file })).toMatchObject({ version: '6.0.5' });
    expect(await fs.readFile(path.join(folder, 'runs'), 'utf8')).toBe('x\n');
    await fake(file, counted('6.0.15'));
    expect(await resolveHere({ explicit: file })).toMatchObject({ version: '6.0.15' });
    await fs.writeFile(path.join(folder, 'cache', 'mongod', 'versions.json'), '{"torn');
    expect(await resolveHere({ explicit: file })).toMatchObject({ version: '6.0.15' });
  });
});

describe('fetching into the cache', () => {
  const fetchFake: Fetch = async (partial, { onProgress }) => {
    onProgress({ text: 'Fetching', done: 1, total: 2 });
    await fake(path.join(partial, 'mongod'), answering('6.0.5'));
  };
  const entries = async () => (await fs.readdir(serversDir(path.join(folder, 'cache')))).sort();

  it('keeps it under its version, tells progress, and finds it there the next time', async () => {
    const texts: string[] = [];
    const file = path.join(folder, 'cache', 'mongod', '6.0.5-wheel', 'mongod');
    const first = await resolveHere({ fetchers: wheelOf(fetchFake), onProgress: ({ text }) => texts.push(text) });
    expect(first).toEqual({ path: file, version: '6.0.5', source: 'wheel' });
    expect(texts).toEqual(['Fetching']);
    expect(await resolveHere()).toEqual({ path: file, version: '6.0.5', source: 'cache' });
  });

  it('by two at once on an empty cache ends in one entry that both use', async () => {
    let arrived = 0;
    let open: () => void = () => undefined;
    const both = new Promise<void>((resolve) => (open = resolve));
    const fetchers = wheelOf(async (partial, options) => {
      if (++arrived === 2) open();
      await both;
      await fetchFake(partial, options);
    });
    const [one, two] = await Promise.all([resolveHere({ fetchers }), resolveHere({ fetchers })]);
    expect(one).toEqual(two);
    expect(await entries()).toEqual(['6.0.5-wheel']);
  });

  it('never uses a half file: a failed or killed fetch leaves no entry, and the next one cleans up', async () => {
    const half: Fetch = async (partial) => {
      await fs.writeFile(path.join(partial, 'mongod'), 'half', { mode: 0o755 });
      throw new Error('connection lost');
    };
    expect((await failure(resolveHere({ fetchers: wheelOf(half) }))).message).toContain('connection lost');
    expect(await entries()).toEqual([]);

    // What a process leaves that was killed in the middle: its number belongs to nobody any more.
    const dead = execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    const mine = path.basename(await openPartial(path.join(folder, 'cache')));
    const left = mine.replace(`-${process.pid}-`, `-${dead}-`);
    await fs.mkdir(path.join(serversDir(path.join(folder, 'cache')), left));
    await resolveHere({ fetchers: wheelOf(fetchFake) });
    expect(await entries()).toEqual([mine, '6.0.5-wheel'].sort());
  });

  it('refuses one that is fetched whole and cannot run', async () => {
    const fetchers = wheelOf(async (partial) => {
      await fake(
        path.join(partial, 'mongod'),
        'echo "error while loading shared libraries: libcurl.so.4: no" >&2; exit 127',
      );
    });
    const error = await failure(resolveHere({ fetchers }));
    expect(error.message).toContain('the PyPI wheel lacks the library libcurl.so.4');
    expect(error.hint).toContain('libcurl4');
    expect(await entries()).toEqual([]);
  });

  it('replaces a cached server that no longer runs', async () => {
    await fake(path.join(folder, 'cache', 'mongod', '6.0.5-wheel', 'mongod'), 'exit 1');
    expect(await resolveHere({ fetchers: wheelOf(fetchFake) })).toMatchObject({ source: 'wheel' });
    expect(await resolveHere()).toMatchObject({ source: 'cache', version: '6.0.5' });
  });

  it('stops when it is aborted, and leaves nothing', async () => {
    const controller = new AbortController();
    const fetchers = wheelOf(async () => {
      controller.abort();
      await Promise.reject(new Error('stopped'));
    });
    expect((await failure(resolveHere({ fetchers, signal: controller.signal }))).code).toBe('aborted');
    expect(await entries()).toEqual([]);
  });

  it('goes to the data folder where the per-user cache cannot be made', async () => {
    await fs.writeFile(path.join(folder, 'cache'), 'a file is in the way');
    const found = await resolveHere({ fetchers: wheelOf(fetchFake) });
    expect(found.path).toBe(path.join(folder, 'data', 'cache', 'mongod', '6.0.5-wheel', 'mongod'));
    expect(await resolveHere()).toEqual({ ...found, source: 'cache' });
  });
});

it('FORKYARD_CACHE names the cache folder', () => {
  expect(defaultCacheDir({ FORKYARD_CACHE: '/some/where' })).toBe('/some/where');
});
