import { copyFile, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';

/** What belongs to the running process and not to the data. */
const notData = new Set(['mongod.lock', 'diagnostic.data', '_tmp', 'WiredTiger.lock']);

export interface CloneResult {
  /** `shared`: the file system shares the blocks until one side writes. `copied`: a full copy. */
  readonly disk: 'shared' | 'copied';
  readonly bytes: number;
}

interface DataFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of a data folder, with sizes; read once, so that no file is looked at twice while the parent waits. */
export async function dataFiles(folder: string): Promise<DataFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    const top = path.split(/[\\/]/)[0] ?? path;
    return entry.isFile() && !notData.has(top) && !top.endsWith('.sock') ? [path] : [];
  });
  return Promise.all(files.map(async (path) => ({ path, bytes: (await stat(join(folder, path))).size })));
}

/** True where the file system of `folder` can share blocks between files. Decided by trying, on a file of ours. */
export async function sharesBlocks(probe: string, scratch: string): Promise<boolean> {
  const reflink = await loadReflink();
  if (!reflink) return false;
  try {
    await mkdir(dirname(scratch), { recursive: true });
    await reflink(probe, scratch);
    return true;
  } catch {
    return false;
  } finally {
    await rm(scratch, { force: true });
  }
}

/**
 * Refuses before anything is copied where the copy would not fit, leaving `reserve` bytes free.
 * @throws ForkyardError `no_space` with both numbers.
 */
export async function requireSpace(
  folder: string,
  neededBytes: number,
  reserveBytes = 64 * 1024 * 1024,
): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free - reserveBytes >= neededBytes) return;
  throw new ForkyardError(
    'no_space',
    `There is not enough disk space for this fork: it needs ${megabytes(neededBytes)}, and ${megabytes(Math.max(0, free - reserveBytes))} are free.`,
    {
      hint: 'Discard a sandbox you no longer need, or move the data folder with --data.',
      details: { neededBytes, freeBytes: free },
    },
  );
}

function megabytes(bytes: number): string {
  return bytes < 10_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${Math.round(bytes / 1_000_000).toLocaleString('en')} MB`;
}

/** Clones the listed files into an empty folder; blocks are shared where `share` says the file system can. */
export async function cloneFiles(
  from: string,
  files: readonly DataFile[],
  to: string,
  share: boolean,
): Promise<CloneResult> {
  const folders = new Set(files.map((file) => dirname(join(to, file.path))));
  for (const folder of [to, ...folders]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const reflink = share ? await loadReflink() : undefined;
  const copy = reflink ?? copyFile;
  // Largest first keeps both copying threads busy to the end.
  const queue = [...files].sort((a, b) => b.bytes - a.bytes);
  let next = 0;
  const worker = async () => {
    for (let file = queue[next]; file; file = queue[next]) {
      next += 1;
      await copy(join(from, file.path), join(to, file.path));
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return { disk: reflink ? 'shared' : 'copied', bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

type Reflink = (from: string, to: string) => Promise<unknown>;
let reflinkModule: Promise<Reflink | undefined> | undefined;

/** The native module is absent on platforms it was not built for: then files are copied. */
function loadReflink(): Promise<Reflink | undefined> {
  reflinkModule ??= import('@reflink/reflink').then(
    (module) => (from, to) => module.reflinkFile(from, to),
    () => undefined,
  );
  return reflinkModule;
}
