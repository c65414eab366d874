import type { ServerFolder } from './server.ts';
import { ForkyardError } from '../../../shared/errors.ts';

/** How a server ended that was started and never listened. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly spawnError?: Error;
  /** It was ended by Forkyard, since it was not ready when its time was up. */
  readonly late?: boolean;
}

export const portInUseExitCode = 48;
/** What mongod exits with where its data files need another version of it. */
const needsOtherVersionExitCode = 62;
/** What the system's loader and shells exit with where a program cannot be linked. */
const cannotLinkExitCode = 127;

interface Start {
  readonly exit: Exit;
  /** What the server wrote to its log since it was started. */
  readonly log: string;
  readonly binary: string;
  readonly folder: Pick<ServerFolder, 'root' | 'db' | 'log'>;
}

/** `mongod_failed`: the cause in one sentence where it is a known one, else what the log said last; what to do as hint. */
export function startFailure(start: Start): ForkyardError {
  const { cause, hint } = knownCause(start) ?? {
    cause: lastWords(start),
    hint: `The whole log is in ${start.folder.log}.`,
  };
  return new ForkyardError('mongod_failed', `The database server did not start: ${cause.replace(/[.\s]+$/, '')}.`, {
    hint,
    retry: true,
  });
}

/** It ended itself in a check of its own, and nobody knows why. */
export function isUnexplainedAbort(start: Start): boolean {
  return start.exit.signal === 'SIGABRT' && knownCause(start) === undefined;
}

interface Cause {
  readonly cause: string;
  readonly hint: string;
}

/** The log is asked before the exit code: 100 and SIGABRT have many causes. */
function knownCause({ exit, log, binary, folder }: Start): Cause | undefined {
  const said = (words: RegExp): boolean => words.test(log);
  const whole = `The whole log is in ${folder.log}.`;
  const { spawnError, code, signal } = exit;
  if (spawnError !== undefined) return notStarted(spawnError, binary);
  if (said(/No space left on device|ENOSPC|Disk quota exceeded/))
    return { cause: `the disk of ${folder.root} is full`, hint: 'Free some space and try again.' };
  if (said(/Too many open files/))
    return {
      cause: 'the system lets it open too few files',
      hint: 'Raise the limit ("ulimit -n 64000") for whoever starts Forkyard.',
    };
  if (said(/DBPathInUse|Unable to lock the lock file/))
    return {
      cause: 'another server runs on its data files already',
      hint: `Stop the mongod that uses ${folder.db}, then try again.`,
    };
  if (said(/read-only directory|Permission denied|Operation not permitted|EACCES|Read-only file system/))
    return {
      cause: `it may not write to ${folder.root}`,
      hint: 'Give the folder and everything in it back to the user who runs Forkyard.',
    };
  if (code === needsOtherVersionExitCode || said(/UPGRADE PROBLEM|unsupported WiredTiger file version/))
    return {
      cause: 'its data files were written by another MongoDB version',
      hint: 'Name that version with FORKYARD_MONGOD.',
    };
  if (said(/WT_TRY_SALVAGE|WT_PANIC|metadata corruption|file contains corrupted|data corruption/i))
    return {
      cause: 'its data files are damaged',
      hint: `A sandbox can be reset to its parent, or discarded; main needs a copy of its files. ${whole}`,
    };
  if (code === portInUseExitCode)
    return {
      cause: 'other programs took every port that was tried',
      hint: 'Try again; should it stay so, this machine has no free port left.',
    };
  if (code === cannotLinkExitCode)
    return { cause: 'a library that it needs is missing', hint: `"ldd ${binary}" says which.` };
  if (signal === 'SIGILL')
    return {
      cause: 'this processor lacks AVX, which MongoDB 5.0 and newer need',
      hint: 'Run Forkyard on a machine that has it.',
    };
  if (exit.late) return { cause: 'it was not ready after ten minutes', hint: whole };
  if (signal === 'SIGKILL')
    return {
      cause: 'it was ended from outside, as the system does where memory is short',
      hint: `Let sandboxes sleep that nobody uses, then try again. ${whole}`,
    };
  return undefined;
}

function notStarted(error: NodeJS.ErrnoException, binary: string): Cause {
  const hint = 'Another one is named with FORKYARD_MONGOD or in the settings.';
  if (error.code === 'ENOENT') return { cause: `there is no ${binary}`, hint };
  if (error.code === 'EACCES') return { cause: `${binary} may not be run`, hint: `Make it executable. ${hint}` };
  return { cause: error.message, hint };
}

/** How it ended, and what its log told: its first errors, of which the others come, or where there are none its last lines. */
function lastWords({ exit, log }: Start): string {
  const how = exit.signal ? `it was ended by ${exit.signal}` : `it exited with code ${exit.code}`;
  const messages = log.trimEnd().split('\n').flatMap(messageOf);
  const severe = messages.filter((message) => message.severe);
  const told = severe.length > 0 ? severe.slice(0, 3) : messages.slice(-3);
  if (told.length === 0) return how;
  return `${how}. ${severe.length > 0 ? 'Its errors' : 'Its last lines'}: ${told.map(({ text }) => text).join('; ')}`;
}

interface Details {
  readonly error?: unknown;
  readonly msgid?: number;
}

function messageOf(line: string): { severe: boolean; text: string }[] {
  try {
    const { s, msg = '', attr } = JSON.parse(line) as { s?: string; msg?: string; attr?: Details };
    const { error, msgid } = attr ?? {};
    const why = error === undefined ? '' : typeof error === 'string' ? error : errorText(error);
    // Where the server's own checks fail, the number alone says which.
    const detail = [msgid ?? '', why].join(' ');
    const text = `${msg} ${detail}`.replace(/\s+/g, ' ').trim();
    return [{ severe: s === 'E' || s === 'F', text }];
  } catch {
    return line === '' ? [] : [{ severe: true, text: line }];
  }
}

/** An error that the server wrote as an object: `{ code, codeName, errmsg }`. */
function errorText(error: unknown): string {
  const { errmsg } = error as { errmsg?: string };
  return errmsg ?? JSON.stringify(error);
}
