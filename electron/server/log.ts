import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { redact } from '../../shared/errors.ts';

const maxBytes = 5 * 1024 * 1024;

/**
 * `engine.log` in the data folder: one line per call, with its time, without secrets. At 5 MB it becomes `engine.log.1`
 * and a new one begins. Lines are written at once, so that the last ones before a crash are there; a log that cannot be
 * written (no space) never stops the engine.
 */
export function openLog(data: string): (line: string) => void {
  const path = join(data, 'engine.log');
  let size = sizeOf(path);
  return (line) => {
    const entry = `${new Date().toISOString()} ${redact(line).replace(/\r?\n/g, '\n  ')}\n`;
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

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
