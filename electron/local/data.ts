/** Where a workspace lives and where its engine listens: the rules that the engine, the command line and the app share. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ForkyardError } from '../../shared/errors.ts';

/**
 * The data folder as asked for: `--data`, else FORKYARD_DATA, else the user's own. Absolute; need not exist.
 * Throws `usage` where `--data` is empty, as a variable that is not set makes it: it would be the working directory.
 */
export function dataFolder(asked: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (asked === '') {
    throw new ForkyardError('usage', '--data names no folder.', {
      hint: 'Leave it out to work in your own data folder.',
    });
  }
  const named = asked ?? (env['FORKYARD_DATA'] || undefined);
  if (named !== undefined) return resolve(named);
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Forkyard');
  if (process.platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Forkyard');
  // XDG: a relative value is invalid and ignored.
  const xdg = env['XDG_DATA_HOME'] ?? '';
  return join(xdg.startsWith('/') ? xdg : join(homedir(), '.local', 'share'), 'forkyard');
}

/** Makes the folder, readable by its owner alone, and gives its real path. An existing one keeps its mode. */
export function createDataFolder(data: string): string {
  try {
    makeFolder(data);
    return realpathSync(data);
  } catch (cause) {
    throw new ForkyardError('usage', `The data folder ${data} cannot be made: ${(cause as Error).message}.`, {
      hint: 'Choose another with --data or FORKYARD_DATA.',
      cause,
    });
  }
}

/** Node's own `recursive` never returns where a parent exists but takes no folder, as under /proc (seen on 20.20). */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

/** The longest path a Unix socket can have, in bytes: `sun_path` without its final zero. */
const socketPathLimit = process.platform === 'darwin' ? 103 : 107;

/** Where the engine of a data folder (real path) listens. What finds it reads {@link EnginePointer} instead. */
export function socketPath(data: string): string {
  const digest = createHash('sha256').update(data).digest('hex').slice(0, 24);
  if (process.platform === 'win32') return `\\\\.\\pipe\\forkyard-${digest}`;
  const inside = join(data, 'engine.sock');
  if (Buffer.byteLength(inside) <= socketPathLimit) return inside;
  return join(tmpdir(), `forkyard-${digest}`, 'engine.sock');
}

/** `engine.json` in the data folder: there while an engine listens. After a crash it may name one that is gone. */
export interface EnginePointer {
  readonly pid: number;
  readonly startTime: string;
  readonly socket: string;
}

export const pointerFile = (data: string): string => join(data, 'engine.json');

/** The pointer, or undefined where no engine has listened since the last clean stop. */
export async function readPointer(data: string): Promise<EnginePointer | undefined> {
  try {
    return JSON.parse(await readFile(pointerFile(data), 'utf8')) as EnginePointer;
  } catch {
    return undefined;
  }
}
