import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import { filesUnder, type DataFile } from './files.ts';

/** What belongs to the running process and not to the data. */
const notData = new Set(['mongod.lock', 'diagnostic.data', '_tmp', 'WiredTiger.lock']);

export interface CloneResult {
  /** `shared`: the file system shares the blocks until one side writes. `copied`: a full copy. */
  readonly disk: 'shared' | 'copied';
  readonly bytes: number;
}

/** The files of a data folder, with sizes; read once, so that no file is looked at twice while the parent waits. */
export function dataFiles(folder: string): Promise<DataFile[]> {
  return filesUnder(folder, (path) => !notData.has(path) && !path.endsWith('.sock'));
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
      await copy(join(from, file.path), join(to, file.path)).catch((error: unknown) => {
        next = queue.length;
        throw error;
      });
    }
  };
  // All of them end before a failure is told: what was copied is removed then, and nothing may be added any more.
  const outcomes = await Promise.allSettled(Array.from({ length: 4 }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw copyFailed(outcome.reason);
  return { disk: reflink ? 'shared' : 'copied', bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

function copyFailed(cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') return cause;
  return new ForkyardError('no_space', 'The disk filled up while the files were being copied.', {
    hint: 'Discard a sandbox you no longer need, or move the data folder with --data.',
    cause,
  });
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
