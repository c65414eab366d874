import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface DataFile {
  /** Relative to the folder asked for. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * All regular files under a folder with their sizes; none where it does not exist, or that vanish meanwhile. Whatever
 * else cannot be read is an error: what is cloned by this list must be whole.
 */
export async function filesUnder(
  folder: string,
  keep: (path: string) => boolean = () => true,
  below = '',
): Promise<DataFile[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(goneAs([]));
  const found = await Promise.all(
    entries.map(async (entry): Promise<DataFile[]> => {
      const path = join(below, entry.name);
      if (!keep(path)) return [];
      if (entry.isDirectory()) return filesUnder(folder, keep, path);
      const size = entry.isFile() ? await stat(join(folder, path)).catch(goneAs(undefined)) : undefined;
      return size ? [{ path, bytes: size.size }] : [];
    }),
  );
  return found.flat();
}

function goneAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
