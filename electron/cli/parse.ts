import { parseArgs } from 'node:util';
import { ForkyardError } from '../../shared/errors.ts';
import { commonFlags } from './command.ts';
import type { Command, Flag } from './command.ts';
import { nearest } from './nearest.ts';

export interface ParsedLine {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

/**
 * Reads a command line. Values stay the text they were (`007` is no number). Throws `usage` with one sentence and what
 * was most likely meant.
 */
export function parseLine(commands: readonly Command[], argv: readonly string[]): ParsedLine {
  const at = commandAt(argv);
  const name = argv[at] ?? '';
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    const meant = nearest(
      name,
      commands.map((each) => each.name),
    );
    throw new ForkyardError('usage', name === '' ? 'No command was given.' : `There is no command "${name}".`, {
      hint: meant === undefined ? '`forkyard help` lists them.' : `Did you mean \`forkyard ${meant}\`?`,
    });
  }
  const flags = { ...command.flags, ...commonFlags };
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  const { values, positionals } = readFlags(command, flags, rest);
  if (values['help'] !== true) checkOperands(command, positionals);
  return { command, operands: positionals, flags: values as ParsedLine['flags'] };
}

/** `forkyard fork NAME [--from BRANCH] …` */
export function usageLine(command: Command): string {
  const flags = Object.entries(command.flags).map(
    ([name, flag]) => `[${flagText(name, flag)}]${flag.repeats ? '…' : ''}`,
  );
  return ['forkyard', command.name, ...command.operands, ...flags].join(' ');
}

export function flagText(name: string, flag: Flag): string {
  return flag.value === undefined ? `--${name}` : `--${name} ${flag.value}`;
}

/** Common flags may stand before the command: `forkyard --data DIR branches`. */
function commandAt(argv: readonly string[]): number {
  let at = 0;
  while (argv[at]?.startsWith('--') === true) {
    const takesNext = argv[at] === '--data';
    at += takesNext ? 2 : 1;
  }
  return at;
}

function readFlags(command: Command, flags: Readonly<Record<string, Flag>>, args: readonly string[]) {
  const unknown = unknownFlag(flags, args);
  if (unknown !== undefined) {
    const meant = nearest(unknown.replace(/^-+/, ''), Object.keys(flags));
    throw new ForkyardError('usage', `\`forkyard ${command.name}\` has no flag ${unknown}.`, {
      hint: meant === undefined ? usageLine(command) : `Did you mean --${meant}?`,
    });
  }
  try {
    return parseArgs({
      args: withNegativeValues(flags, args),
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(flags).map(([name, flag]) => [
          name,
          { ...optionOf(flag), ...(flag.repeats ? { multiple: true } : {}) },
        ]),
      ),
    });
  } catch (cause) {
    // Node adds advice about `--` behind the first sentence.
    const [first = ''] = (cause as Error).message.split(/\.\s|\n/);
    const [, flag] = /^Option '(?:-\w, )?(--[\w-]+).* argument (?:missing|is ambiguous)$/.exec(first) ?? [];
    const sentence =
      flag === undefined ? first : `${flag} needs a value; one that begins with a dash is written ${flag}=-…`;
    throw new ForkyardError('usage', `\`forkyard ${command.name}\`: ${sentence}.`, { hint: usageLine(command), cause });
  }
}

/** `--ttl -1h` as `--ttl=-1h`: no flag begins with a digit, and what is wrong with the value is better said of the value. */
function withNegativeValues(flags: Readonly<Record<string, Flag>>, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    const takesValue = before?.startsWith('--') === true && flags[before.slice(2)]?.value !== undefined;
    if (takesValue && /^-\d/.test(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

function optionOf({ value, short }: Flag): { type: 'boolean' | 'string'; short?: string } {
  return { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) };
}

/** The first one, as it was written. */
function unknownFlag(flags: Readonly<Record<string, Flag>>, args: readonly string[]): string | undefined {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)])),
  });
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(flags, token.name)) return token.rawName;
  }
  return undefined;
}

function checkOperands(command: Command, given: readonly string[]): void {
  const missing = command.operands.slice(given.length).find((operand) => !operand.startsWith('['));
  if (missing !== undefined) {
    throw new ForkyardError('usage', `\`forkyard ${command.name}\` needs ${missing}.`, { hint: usageLine(command) });
  }
  const extra = given[command.operands.length];
  if (extra !== undefined) {
    throw new ForkyardError('usage', `\`forkyard ${command.name}\` does not take "${extra}".`, {
      hint: usageLine(command),
    });
  }
}
