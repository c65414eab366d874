import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** What becomes of running sandboxes when the window is closed. */
export const WhenClosed = z.enum(['ask', 'keep', 'stop']);
export type WhenClosed = z.infer<typeof WhenClosed>;

const Remembered = z.object({
  window: z
    .object({
      x: z.number().int(),
      y: z.number().int(),
      width: z.number().int().positive(),
      height: z.number().int().positive(),
      maximized: z.boolean(),
    })
    .optional()
    .catch(undefined),
  whenClosed: WhenClosed.default('ask').catch('ask'),
});
export type Remembered = z.infer<typeof Remembered>;

/** What the app remembers of itself from one start to the next, in `shell.json` of its folder. */
export interface Memory {
  get(): Remembered;
  set(change: Partial<Remembered>): void;
}

/** A file that is not there, cannot be read or holds something else counts as nothing remembered. */
export function openMemory(file: string): Memory {
  let known = read(file);
  return {
    get: () => known,
    set(change) {
      known = { ...known, ...change };
      try {
        writeFileSync(`${file}.new`, JSON.stringify(known), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch {
        // Of no consequence but that the next start does not know it.
      }
    },
  };
}

function read(file: string): Remembered {
  try {
    return Remembered.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { whenClosed: 'ask' };
  }
}
