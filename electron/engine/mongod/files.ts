import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface DataFile {
  /** Relative to the folder asked for. */
  readonly path: string;
  readonly bytes: number;
}

/** All regular files under a folder with their sizes; none where it does not exist, or that vanish meanwhile. */
export async function filesUnder(
  folder: string,
  keep: (path: string) => boolean = () => true,
  below = '',
): Promise<DataFile[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<DataFile[]> => {
      const path = join(below, entry.name);
      if (!keep(path)) return [];
      if (entry.isDirectory()) return filesUnder(folder, keep, path);
      const size = entry.isFile() ? await stat(join(folder, path)).catch(() => undefined) : undefined;
      return size ? [{ path, bytes: size.size }] : [];
    }),
  );
  return found.flat();
}
