import { stat } from 'node:fs/promises';
import { ForkyardError } from '../../../shared/errors.ts';
import { resolveMongod } from '../mongod/binary/resolve.ts';
import { diagnosticsText } from './diagnostics.ts';
import type { Context, Methods } from './service.ts';

export const settingsMethods: Methods<'settings.get' | 'settings.set' | 'engine.diagnostics'> = {
  'settings.get': (context) => Promise.resolve(present(context)),

  async 'settings.set'(context, { mongod, cacheMB, defaultTtlMs, diskReserveMB }) {
    const { settings, workspace } = context;
    if (mongod != null) {
      if (!(await stat(mongod).catch(() => undefined))?.isFile()) {
        throw new ForkyardError('mongod_missing', `${mongod} is not a file.`, {
          hint: 'Name the mongod program itself, with its whole path.',
        });
      }
      // Tried before it is kept: an engine that cannot start could not be set right from here.
      await resolveMongod({ dataDir: workspace.data, explicit: mongod, env: withoutNamed(process.env) });
    }
    const { mongod: before, ...rest } = settings.current;
    const named = mongod === undefined ? before : (mongod ?? undefined);
    await settings.save({
      ...rest,
      ...(named === undefined ? {} : { mongod: named }),
      ...(cacheMB === undefined ? {} : { cacheMB }),
      ...(defaultTtlMs === undefined ? {} : { defaultTtlMs }),
      ...(diskReserveMB === undefined ? {} : { diskReserveMB }),
    });
    await workspace.disk.look();
    return present(context);
  },

  async 'engine.diagnostics'(context) {
    return { text: await diagnosticsText(context) };
  },
};

function present({ settings, mongod, workspace }: Context) {
  return {
    settings: settings.current,
    mongod: { version: mongod.version, path: mongod.path, source: mongod.source },
    mongodByEnvironment: (process.env['FORKYARD_MONGOD'] ?? '') !== '',
    data: workspace.data,
  };
}

function withoutNamed({ FORKYARD_MONGOD: _, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env;
}
