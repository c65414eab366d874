import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ForkyardError, redact } from '../../shared/errors.ts';
import type { Call } from './command.ts';

export interface Source {
  /** As the engine takes it: a `sample:` name, a URI, or an absolute path. */
  readonly source: string;
  /** Removes what was made to read it. */
  dispose(): Promise<void>;
}

interface Context extends Pick<Call, 'print' | 'env' | 'stdin' | 'signal'> {
  readonly db: string | undefined;
  readonly collection: string | undefined;
}

/**
 * What `import SOURCE` means: `-` is stdin, spooled to a private file; `env:VAR` what that variable holds. Throws `usage`
 * where a file has no `--db` and `--collection`, `unknown_file` where it does not exist.
 */
export async function resolveSource(text: string, context: Context): Promise<Source> {
  if (text === '-') {
    checkFileTarget('stdin', context);
    return spool(context);
  }
  const fromEnv = /^env:(.*)$/s.exec(text)?.[1];
  const source = fromEnv === undefined ? text : variable(fromEnv, context.env);
  if (source.startsWith('sample:')) return plain(source);
  if (/^mongodb(\+srv)?:\/\//i.test(source)) {
    if (fromEnv === undefined && redact(source) !== source && /\/\/[^/]*:[^/]*@/.test(source)) {
      context.print.notice(
        'The password in this URI can be seen by other users of this machine. Put the URI in a variable and import env:VARIABLE.',
      );
    }
    return plain(source);
  }
  checkFileTarget(source, context);
  return plain(await existingFile(source));
}

const plain = (source: string): Source => ({ source, dispose: async () => {} });

function variable(name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new ForkyardError('usage', `The environment has no variable "${name}".`, {
    hint: `As in: ${name === '' ? 'SOURCE_URI' : name}=mongodb://… forkyard import env:${name === '' ? 'SOURCE_URI' : name}`,
  });
}

function checkFileTarget(source: string, { db, collection }: Context): void {
  const missing = [...(db === undefined ? ['--db'] : []), ...(collection === undefined ? ['--collection'] : [])];
  if (missing.length === 0) return;
  throw new ForkyardError(
    'usage',
    `Importing ${source} needs ${missing.join(' and ')}: a file does not say where it goes.`,
    {
      hint: 'As in: forkyard import products.json --db shop --collection products',
    },
  );
}

async function existingFile(path: string): Promise<string> {
  const absolute = resolve(path);
  const found = await stat(absolute).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT' && found.code !== 'ENOTDIR') {
      throw new ForkyardError('source_unreadable', `${absolute} cannot be read: ${found.message}.`, { cause: found });
    }
    throw new ForkyardError('unknown_file', `There is no file ${absolute}.`, {
      hint: 'A source is a file, -, env:VARIABLE, a mongodb:// URI, or sample:shop.',
    });
  }
  if (found.isDirectory()) {
    throw new ForkyardError('source_unreadable', `${absolute} is a folder.`, { hint: 'Import its files one by one.' });
  }
  return absolute;
}

async function spool({ stdin, signal }: Context): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'forkyard-stdin-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const source = join(folder, 'stdin.json');
  try {
    await pipeline(stdin, createWriteStream(source, { mode: 0o600, flags: 'wx' }), { signal });
    return { source, dispose };
  } catch (cause) {
    await dispose();
    if (signal.aborted) throw new ForkyardError('aborted', 'The import was interrupted.', { cause });
    throw new ForkyardError('source_unreadable', `Stdin cannot be read: ${(cause as Error).message}.`, { cause });
  }
}
