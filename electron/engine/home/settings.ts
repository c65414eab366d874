import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** What a person sets for a workspace. It lies in the data folder as a file: the server to start home with is in it. */
export const Settings = z.object({
  /** Path of the mongod to use; left out = found by Forkyard. */
  mongod: z.string().optional(),
  /** Cache of each branch's server, MB; a mongod takes no less than 256. */
  cacheMB: z.number().int().min(256).max(65_536).default(256),
  /** Life of a sandbox that is forked without one, milliseconds; null keeps it. */
  defaultTtlMs: z
    .number()
    .int()
    .positive()
    .nullable()
    .default(60 * 60_000),
  /** With less free disk than this, MB, recording waits, and what would fill the disk is refused. */
  diskReserveMB: z.number().int().min(64).default(256),
});
export type Settings = z.infer<typeof Settings>;

/** Settings of one data folder, read once and written whole. */
export class SettingsFile {
  private readonly path: string;
  private settings: Settings;

  private constructor(path: string, settings: Settings) {
    this.path = path;
    this.settings = settings;
  }

  /** A file that cannot be understood counts as none; the log says so. */
  static async open(data: string, log: (line: string) => void): Promise<SettingsFile> {
    const path = join(data, 'settings.json');
    let settings = Settings.parse({});
    try {
      settings = Settings.parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log(`settings.json is not used: ${String(error)}`);
    }
    return new SettingsFile(path, settings);
  }

  get current(): Settings {
    return this.settings;
  }

  async save(settings: Settings): Promise<void> {
    const partial = `${this.path}.partial`;
    await writeFile(partial, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
    await rename(partial, this.path);
    this.settings = settings;
  }
}
