/**
 * What the engine and the driver take for granted and Node 16, in the oldest Electron this runs in (22), lacks. Imported
 * before anything else. Delete it with that Electron.
 */
import { spawn } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import filesystem from 'node:fs/promises';

globalThis.crypto ??= webcrypto as Crypto;

/** Node 18.15 and later have it built in. */
const old = filesystem as { statfs?: (path: string) => Promise<unknown> };
old.statfs ??= async (path) => {
  const text = await outputOf('df', ['-kP', path]);
  const [, blocks, used, available] = text.trim().split('\n').at(-1)?.split(/\s+/) ?? [];
  return {
    type: 0,
    bsize: 1024,
    blocks: Number(blocks),
    bfree: Number(blocks) - Number(used),
    bavail: Number(available),
  };
};

const answerDeadlineMs = 5_000;

/** What a program prints, at the end of its output and within a deadline: forks and capture wait for it. */
async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: answerDeadlineMs });
  const signal = AbortSignal.timeout(answerDeadlineMs);
  child.once('error', (error) => child.stdout.destroy(error));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await once(child.stdout, 'end', { signal });
  return text;
}
