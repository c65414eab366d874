import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compareVersions, probe } from './probe.ts';

/** The server's file name on this platform. */
export const executable = process.platform === 'win32' ? 'mongod.exe' : 'mongod';

/** The per-user cache folder of this platform, where `FORKYARD_CACHE` names no other. */
export function defaultCacheDir(env: NodeJS.ProcessEnv): string {
  if (env['FORKYARD_CACHE']) return path.resolve(env['FORKYARD_CACHE']);
  if (process.platform === 'darwin') return path.join(os.homedir(), 'Library', 'Caches', 'forkyard');
  if (process.platform === 'win32') {
    return path.join(env['LOCALAPPDATA'] ?? path.join(os.homedir(), 'AppData', 'Local'), 'forkyard', 'Cache');
  }
  return path.join(env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'forkyard');
}

/**
 * The folder of a cache that holds servers, one folder each, `<version>-<origin>/mongod`. A folder gets that name by one
 * rename when all of it is there and has run once, so whatever carries such a name is whole.
 */
export function serversDir(cacheDir: string): string {
  return path.join(cacheDir, 'mongod');
}

/** The cached servers' files, newest version first. */
export async function cachedServers(cacheDir: string): Promise<string[]> {
  const names = await fs.readdir(serversDir(cacheDir)).catch(() => [] as string[]);
  return names
    .filter((name) => /^\d+\.\d+\.\d+-\w+$/.test(name))
    .sort((a, b) => compareVersions(versionOf(b), versionOf(a)) || a.localeCompare(b))
    .map((name) => path.join(serversDir(cacheDir), name, executable));
}

/**
 * A new private folder in the cache to download and unpack into. Folders whose owner has been killed are removed on the
 * way. Throws the file system's error where the cache cannot be written.
 */
export async function openPartial(cacheDir: string): Promise<string> {
  const parent = serversDir(cacheDir);
  await fs.mkdir(parent, { recursive: true });
  await removeAbandoned(parent);
  return await fs.mkdtemp(path.join(parent, `${partialPrefix}${hostName()}-${process.pid}-`));
}

/**
 * Makes a finished partial folder the cache's entry `<version>-<origin>` and answers the server's path there. Where
 * another process has finished the same entry first, that one is kept and ours is removed; one that cannot run (a disk
 * that lost it after a crash) gives way to ours.
 */
export async function commitPartial(partial: string, version: string, origin: string): Promise<string> {
  const target = path.join(path.dirname(partial), `${version}-${origin}`);
  const server = path.join(target, executable);
  try {
    await fs.rename(partial, target);
  } catch (error) {
    if (!(await exists(target))) throw error;
    if (!(await probe(server)).ok) await fs.rename(path.join(partial, executable), server);
    await removePartial(partial);
  }
  return server;
}

/** Removes a partial folder, whatever state it is in. */
export async function removePartial(partial: string): Promise<void> {
  await fs.rm(partial, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

const partialPrefix = '.partial-';
const abandonedAfterMs = 24 * 3600 * 1000;

async function exists(file: string): Promise<boolean> {
  return await fs.access(file).then(
    () => true,
    () => false,
  );
}

function versionOf(name: string): string {
  return name.slice(0, name.indexOf('-'));
}

function hostName(): string {
  return os.hostname().replace(/[^A-Za-z0-9]/g, '_') || 'host';
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await fs.readdir(parent)) {
    const owner = /^\.partial-(.*)-(\d+)-[^-]*$/.exec(name);
    if (!owner) continue;
    const full = path.join(parent, name);
    const stat = await fs.stat(full).catch(() => undefined);
    // A home folder can be shared between machines, and a process number can be taken again: age decides there.
    const old = stat !== undefined && Date.now() - stat.mtimeMs > abandonedAfterMs;
    if (old || (owner[1] === hostName() && !isRunning(Number(owner[2])))) await removePartial(full);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
