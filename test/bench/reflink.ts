import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRun } from './run.ts';

/** Sparse: takes the disk what is written to it. */
const imageBytes = 24 * 2 ** 30;

/**
 * A folder on an XFS of its own that shares blocks, unmounted and removed at the end; or why there is none. Only root on
 * Linux can have it. Each step blocks, so that an interrupt finds it done or not begun.
 */
export function xfsFolder(run: BenchRun): { readonly path: string } | { readonly reason: string } {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return { reason: 'an XFS can be mounted by root on Linux only' };
  }
  const root = join(run.asked.folder, `forkyard-bench-xfs-${process.pid}`);
  const [image, mountPoint] = [join(root, 'image'), join(root, 'mount')];
  const mounted = { is: false };
  run.cleanup.add(() => {
    if (mounted.is) command('umount', mountPoint);
    rmSync(root, { recursive: true, force: true });
  });
  try {
    mkdirSync(mountPoint, { recursive: true, mode: 0o700 });
    const file = openSync(image, 'w', 0o600);
    ftruncateSync(file, imageBytes);
    closeSync(file);
    command('mkfs.xfs', '-q', '-m', 'reflink=1', image);
    command('mount', '-o', 'loop', image, mountPoint);
    mounted.is = true;
    const path = join(mountPoint, 'data');
    mkdirSync(path, { mode: 0o700 });
    return { path };
  } catch (error) {
    return { reason: `no XFS could be mounted: ${(error as Error).message.trim()}` };
  }
}

function command(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
