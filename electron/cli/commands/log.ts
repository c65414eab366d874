import type { LogEntry } from '../../../shared/api.ts';
import type { Command } from '../command.ts';
import { logJson } from '../shapes.ts';
import { table } from '../text.ts';

export const log: Command = {
  name: 'log',
  operands: ['[BRANCH]'],
  flags: {},
  summary: 'List what was forked, adopted, undone and discarded',
  async run(call) {
    const [branch] = call.operands;
    const engine = await call.engine();
    const entries = await engine.call('log.list', branch === undefined ? {} : { branch });
    call.print.result(
      () => entries.map(logJson),
      () => (entries.length === 0 ? 'Nothing has happened yet.' : logTable(entries)),
    );
    return 0;
  },
};

function logTable(entries: readonly LogEntry[]): string {
  return table(
    ['ENTRY', 'TIME', 'BRANCH', 'WHAT'],
    entries.map(({ entry, time, branch, text, undoneBy }) => [
      entry,
      time,
      branch,
      undoneBy === undefined ? text : `${text} (undone by ${undoneBy})`,
    ]),
  );
}
