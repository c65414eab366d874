/** The engine itself and what a person sets for it. */
import { z } from 'zod';
import { method } from './values.ts';

export const Status = z.object({
  version: z.string(),
  pid: z.number().int(),
  data: z.string(),
  mongod: z.object({ version: z.string(), path: z.string(), source: z.string() }),
  /** Resident memory in bytes: the engine's own and that of all its servers. */
  memory: z.object({ engine: z.number(), servers: z.number() }),
  /**
   * Bytes on disk as files count them: `used` by branches and by the record of what happened in them. `shared` tells whether
   * the file system shares some of those between branches.
   */
  disk: z.object({
    used: z.number(),
    free: z.number(),
    trash: z.number(),
    shared: z.boolean(),
    short: z.boolean().optional(),
  }),
  web: z.object({ url: z.string() }).optional(),
  /** True where main holds the sample shop and nothing was imported beside it: the demo can be reset. */
  demo: z.boolean().optional(),
});
export type Status = z.infer<typeof Status>;

/** What a person sets for a workspace. */
export const WorkspaceSettings = z.object({
  /** Path of the mongod to use; left out = found by Forkyard. */
  mongod: z.string().optional(),
  /** Cache of each branch's server, MB; a mongod takes no less than 256. */
  cacheMB: z.number().int().min(256).max(65_536),
  /** Life of a sandbox that is forked without one, milliseconds; null keeps it. */
  defaultTtlMs: z.number().int().positive().nullable(),
  /** With less free disk than this, MB, recording waits, and what would fill the disk is refused. */
  diskReserveMB: z.number().int().min(64),
});

export const SettingsState = z.object({
  settings: WorkspaceSettings,
  /** The mongod in use, and what its choice came from. */
  mongod: z.object({ version: z.string(), path: z.string(), source: z.string() }),
  /** True where `FORKYARD_MONGOD` goes before the setting. */
  mongodByEnvironment: z.boolean(),
  data: z.string(),
});
export type SettingsState = z.infer<typeof SettingsState>;

export const engineApi = {
  'engine.status': method(z.object({}), Status),
  /** Turns the loopback web on; `url` carries a one-time token in its fragment. */
  'engine.web': method(
    z.object({ port: z.number().int().min(0).max(65535).optional() }),
    z.object({ url: z.string(), pid: z.number().int(), data: z.string() }),
  ),
  /** Versions, states, sizes and the log's end as a text for a bug report: no data, no credentials, no names of people's own. */
  'engine.diagnostics': method(z.object({}), z.object({ text: z.string() })),
  'engine.stop': method(z.object({}), z.object({ stopped: z.boolean() })),
  'settings.get': method(z.object({}), SettingsState),
  /** Changes what is given. `mongod: null` lets Forkyard find one again; another mongod is used from the next start on. */
  'settings.set': method(
    WorkspaceSettings.partial().extend({ mongod: z.string().min(1).nullable().optional() }),
    SettingsState,
  ),
} as const;
