import { expect, it } from 'vitest';
import { startFailure, type Exit } from './start-failure.ts';

const folder = { root: '/data/main', db: '/data/main/db', log: '/data/main/mongod.log' };
const exited = (code: number): Exit => ({ code, signal: null });
const killed = (signal: NodeJS.Signals): Exit => ({ code: null, signal });

/** As mongod writes it. */
const line = (s: string, msg: string, attr?: object): string => `${JSON.stringify({ s, c: 'CONTROL', msg, attr })}\n`;
const listening = (error: string): string => line('E', 'DBException in initAndListen, terminating', { error });

function told(exit: Exit, log = ''): { message: string; hint: string | undefined } {
  const { code, message, hint } = startFailure({ exit, log, binary: '/opt/mongod', folder });
  expect(code).toBe('mongod_failed');
  return { message: message.replace('The database server did not start: ', ''), hint };
}

it.each<[string, Exit, string, string]>([
  [
    'a lock that another server holds (100)',
    exited(100),
    listening('DBPathInUse: Unable to lock the lock file: db/mongod.lock (Resource temporarily unavailable).'),
    'another server runs on its data files already.',
  ],
  [
    'a folder that may not be written (100)',
    exited(100),
    listening('IllegalOperation: Attempted to create a lock file on a read-only directory: /data/main/db'),
    'it may not write to /data/main.',
  ],
  [
    'a full disk, which mongod aborts on',
    killed('SIGABRT'),
    line('E', 'WiredTiger error message', { error: 28, message: { msg: 'pwrite: No space left on device' } }) +
      line('F', 'Fatal assertion', { msgid: 50853 }),
    'the disk of /data/main is full.',
  ],
  ['files of another version (62)', exited(62), '', 'its data files were written by another MongoDB version.'],
  [
    'damaged files',
    killed('SIGABRT'),
    line('E', 'WiredTiger error message', { error: -31804, message: 'WiredTiger.turtle: WT_PANIC' }) +
      line('F', '\n\n***aborting after fassert() failure\n\n'),
    'its data files are damaged.',
  ],
  ['ports that were all taken (48)', exited(48), '', 'other programs took every port that was tried.'],
  ['a library that is missing (127)', exited(127), '', 'a library that it needs is missing.'],
  ['no AVX', killed('SIGILL'), '', 'this processor lacks AVX, which MongoDB 5.0 and newer need.'],
  ['no memory', killed('SIGKILL'), '', 'it was ended from outside, as the system does where memory is short.'],
  ['no end', { ...killed('SIGKILL'), late: true }, '', 'it was not ready after ten minutes.'],
])('%s is told as the cause, with what helps', (_name, exit, log, cause) => {
  const { message, hint } = told(exit, log);
  expect(message).toBe(cause);
  expect(hint).toMatch(/^\S.*\.$/);
});

it('a program that cannot be run is named', () => {
  const failed = (code: string): Exit => ({
    ...{ code: null, signal: null },
    spawnError: Object.assign(new Error(`spawn /opt/mongod ${code}`), { code }),
  });
  expect(told(failed('ENOENT')).message).toBe('there is no /opt/mongod.');
  expect(told(failed('EACCES')).message).toBe('/opt/mongod may not be run.');
  expect(told(failed('EAGAIN')).message).toBe('spawn /opt/mongod EAGAIN.');
});

it('what is not known is told by the first errors of the log, or its last lines, and where the log is', () => {
  const log =
    line('I', 'Build info') + line('F', 'Error creating service context', { error: 'no key' }) + line('I', 'x');
  const { message, hint } = told(exited(1), log);
  expect(message).toBe('it exited with code 1. Its errors: Error creating service context no key.');
  expect(hint).toBe('The whole log is in /data/main/mongod.log.');
  expect(told(exited(1), line('I', 'a') + line('I', 'b')).message).toBe('it exited with code 1. Its last lines: a; b.');
  expect(told(exited(1)).message).toBe('it exited with code 1.');
  const abort =
    line('F', 'Fatal assertion', { msgid: 40415 }) + line('F', '\n\n***aborting after fassert() failure\n\n');
  expect(told(killed('SIGABRT'), line('E', 'Bad thing') + abort + abort).message).toBe(
    'it was ended by SIGABRT. Its errors: Bad thing; Fatal assertion 40415; ***aborting after fassert() failure.',
  );
  const listener = line('E', 'Error setting up listener', { error: { code: 9001, errmsg: 'Bad address' } });
  expect(told(exited(1), listener).message).toContain('Error setting up listener Bad address.');
});
