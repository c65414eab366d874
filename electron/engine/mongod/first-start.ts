import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerFolder } from './server.ts';

/** There from before a server's very first start until its owner has taken note of it. */
const mark = (folder: ServerFolder) => join(folder.root, 'unfinished');

/** True where a server has never been made on this folder, or its making was cut off. */
export async function needsFirstStart(folder: ServerFolder): Promise<boolean> {
  const unfinished = await stat(mark(folder)).catch(() => undefined);
  return unfinished !== undefined || (await readdir(folder.db).catch(() => [])).length === 0;
}

/**
 * Runs `make`, which makes a server on an empty folder and notes it where it is looked for. Should it be cut off, the
 * next time begins anew: nobody has been given a way into that server, and a replica set without its user cannot be
 * repaired from outside. No server may run on the folder.
 */
export async function firstStart<T>(folder: ServerFolder, make: () => Promise<T>): Promise<T> {
  await mkdir(folder.root, { recursive: true, mode: 0o700 });
  await writeFile(mark(folder), '');
  await rm(folder.db, { recursive: true, force: true });
  const made = await make();
  await rm(mark(folder));
  return made;
}
