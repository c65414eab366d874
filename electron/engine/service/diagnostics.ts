import { open } from 'node:fs/promises';
import { homedir, totalmem, freemem, release } from 'node:os';
import { join } from 'node:path';
import { redact } from '../../../shared/errors.ts';
import { engineMethods } from './engine-methods.ts';
import type { Context } from './service.ts';

const logTailBytes = 24 * 1024;
const logTailLines = 120;

/**
 * What somebody who looks for a fault needs and nothing of anybody's data: versions, states, sizes, the end of the log.
 * Branches are numbered; names, quoted texts and values in the log are taken out.
 */
export async function diagnosticsText(context: Context): Promise<string> {
  const [status, branches, tail] = await Promise.all([
    engineMethods['engine.status'](context, {}, { signal: new AbortController().signal }),
    context.rows.list(true, false),
    logTail(join(context.workspace.data, 'engine.log')),
  ]);
  const { settings } = context;
  const names = new Map(branches.map(({ name }, index) => [name, index === 0 ? 'main' : `branch-${index}`]));
  const clean = cleaner(names, context.workspace.data);
  const gaps = await context.workspace.home.gaps.countDocuments({ settled: false });
  return [
    `Forkyard ${status.version}, ${process.platform} ${process.arch} ${release()}, Node ${process.versions.node}`,
    `mongod ${status.mongod.version} (${status.mongod.source})`,
    `memory: engine ${mb(status.memory.engine)}, servers ${mb(status.memory.servers)}, machine ${mb(totalmem())}, free ${mb(freemem())}`,
    `disk: used ${mb(status.disk.used)}, trash ${mb(status.disk.trash)}, free ${mb(status.disk.free)}, shared: ${status.disk.shared}`,
    `settings: cache ${settings.current.cacheMB} MB, default life ${settings.current.defaultTtlMs ?? 'kept'}, mongod ${settings.current.mongod === undefined ? 'found' : 'named'}`,
    `open gaps: ${gaps}`,
    '',
    'branches:',
    ...branches.map((row) =>
      [
        `  ${names.get(row.name)}`,
        row.state,
        row.parent === undefined ? '' : `from ${names.get(row.parent) ?? '?'}`,
        `${row.documents ?? '?'} documents`,
        row.sizeBytes === undefined ? '' : mb(row.sizeBytes),
        `seq ${row.seq}`,
        `ahead ${row.ahead}`,
        row.behind === undefined ? '' : `behind ${row.behind}`,
        row.lagMs === undefined ? '' : `lag ${row.lagMs} ms`,
        row.disk ?? '',
        `${row.actors.length} actors`,
      ]
        .filter((part) => part !== '')
        .join(', '),
    ),
    '',
    'log:',
    ...tail.map((line) => `  ${clean(line)}`),
    '',
  ].join('\n');
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** Takes out of a line of the log what may be somebody's own. */
export function cleaner(names: ReadonlyMap<string, string>, data: string): (line: string) => string {
  const byLength = [...names].filter(([name]) => name !== 'main').sort(([a], [b]) => b.length - a.length);
  return (line) => {
    let text = redact(line).replaceAll(data, '<data>').replaceAll(homedir(), '~');
    for (const [name, number] of byLength) text = text.replaceAll(name, number);
    return text.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/\{[^{}]*\}/g, '{…}');
  };
}

/** The last lines of a file, at most 24 KB of it; none where there is no file. */
async function logTail(path: string): Promise<string[]> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return [];
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - logTailBytes);
    const buffer = Buffer.alloc(size - from);
    await file.read(buffer, 0, buffer.length, from);
    const lines = buffer.toString('utf8').split('\n');
    return lines
      .slice(from > 0 ? 1 : 0)
      .filter((line) => line !== '')
      .slice(-logTailLines);
  } finally {
    await file.close();
  }
}
