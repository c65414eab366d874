import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';

const prefix = 'upload:';

/**
 * Files that a window handed over piece by piece because it knows no path of theirs: a browser tells a page none. They lie
 * in the data folder until they have been imported, at the longest until the engine starts again.
 */
export class Uploads {
  private readonly folder: string;
  private readonly open = new Map<string, string>();

  constructor(data: string) {
    this.folder = join(data, 'uploads');
  }

  /** Removes what an earlier engine left. */
  async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Begins a file of this name; the answer names it in `append` and as the source of an import. */
  async begin(name: string): Promise<string> {
    const source = `${prefix}${randomUUID()}`;
    const folder = this.folderOf(source);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, fileName(name));
    await writeFile(path, '', { mode: 0o600 });
    this.open.set(source, path);
    return source;
  }

  /** Adds the file's next bytes. @throws ForkyardError `unknown_file`, `no_space` */
  async append(source: string, bytes: Uint8Array): Promise<void> {
    try {
      await appendFile(this.path(source), bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      await this.remove(source);
      throw new ForkyardError('no_space', 'There is no room on the disk for this file.', {
        hint: 'Free some, or import the file from where it lies with "forkyard import".',
      });
    }
  }

  /** Where the file lies. @throws ForkyardError `unknown_file` */
  path(source: string): string {
    const path = this.open.get(source);
    if (path !== undefined) return path;
    throw new ForkyardError('unknown_file', 'This file is not there any more.', { hint: 'Hand it over again.' });
  }

  async remove(source: string): Promise<void> {
    if (!this.open.delete(source)) return;
    await rm(this.folderOf(source), { recursive: true, force: true });
    // The last one takes the folder with it.
    if ((await readdir(this.folder).catch(() => ['?'])).length === 0) await this.clear();
  }

  private folderOf(source: string): string {
    return join(this.folder, source.slice(prefix.length));
  }
}

export function isUpload(source: string): boolean {
  return source.startsWith(prefix);
}

/** Any system's idea of a plain file name. */
function fileName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/')).replace(/[^\p{L}\p{N} ._()-]/gu, '_');
  return plain.replace(/^\.+/, '').slice(0, 120) || 'file';
}
