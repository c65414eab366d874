/**
 * What the engine and the driver take for granted and Node 16, in the oldest Electron this runs in (22), lacks. Imported
 * before anything else. Delete it with that Electron.
 */
import { execFile } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import filesystem from 'node:fs/promises';
import { promisify } from 'node:util';

globalThis.crypto ??= webcrypto as Crypto;

/** Node 18.15 and later have it built in. */
const old = filesystem as { statfs?: (path: string) => Promise<unknown> };
old.statfs ??= async (path) => {
  const { stdout } = await promisify(execFile)('df', ['-kP', path]);
  const [, blocks, used, available] = stdout.trim().split('\n').at(-1)?.split(/\s+/) ?? [];
  return {
    type: 0,
    bsize: 1024,
    blocks: Number(blocks),
    bfree: Number(blocks) - Number(used),
    bavail: Number(available),
  };
};
