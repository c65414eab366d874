import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { redact } from '../../shared/errors.ts';

const maxBytes = 5 * 1024 * 1024;

/**
 * A log in the data folder, `engine.log` or `app.log`: one line per call, with its time, without secrets. At 5 MB it becomes
 * `….log.1` and a new one begins. Lines are written at once, so that the last ones before a crash are there; a log that cannot be
 * written (no space) never stops the engine.
 */
export function openLog(data: string, name: 'engine.log' | 'app.log'): (line: string) => void {
  const path = join(data, name);
  let size = sizeOf(path);
  return (line) => {
    const entry = `${new Date().toISOString()} ${withoutKeys(redact(line)).replace(/\r?\n/g, '\n  ')}\n`;
    try {
      if (size > maxBytes) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      appendFileSync(path, entry, { mode: 0o600 });
      size += Buffer.byteLength(entry);
    } catch {
      // Nobody could be told.
    }
  };
}

/** What the log says of a failure that nobody expected. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Without the key that the link to the loopback web carries. */
function withoutKeys(text: string): string {
  return text.replace(/(#token=|forkyard\.key\.)[\w-]+/g, '$1***');
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
