import { commonFlags } from './command.ts';
import type { Command, Flag } from './command.ts';
import { flagText, usageLine } from './parse.ts';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => head(command).length));
  return [
    'forkyard: a MongoDB of its own for every agent, test and demo, forked from your data',
    '',
    ...commands.map((command) => `  ${head(command).padEnd(width)}  ${command.summary}`),
    '',
    ...flagLines({ ...commonFlags, version: { text: 'the version' } }),
    '',
    '`forkyard help COMMAND` says more. Exit codes: 0 done, 1 failed, 2 usage, 3 conflicts or a stale plan, 4 unknown name.',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const notes = (command.notes ?? []).flatMap((note) => ['', note]);
  const flags = flagLines({ ...command.flags, ...commonFlags });
  return [usageLine(command), '', `${command.summary}.`, ...notes, '', ...flags].join('\n');
}

const head = ({ name, operands }: Command): string => [name, ...operands].join(' ');

function flagLines(flags: Readonly<Record<string, Flag>>): string[] {
  const entries = Object.entries(flags).map(([name, flag]) => [flagText(name, flag), flag.text] as const);
  const width = Math.max(...entries.map(([text]) => text.length));
  return entries.map(([text, meaning]) => `  ${text.padEnd(width)}  ${meaning}`);
}
