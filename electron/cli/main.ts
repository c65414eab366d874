import { errorBody, exitCodes, ForkyardError } from '../../shared/errors.ts';
import type { Client } from '../../shared/rpc/connect.ts';
import { dataFolder } from '../local/data.ts';
import type { Call, Command } from './command.ts';
import { adopt, apply, plan } from './commands/adopt.ts';
import { branches, discard, extend, keep, reset, sleep, uri, wake } from './commands/branches.ts';
import { changes } from './commands/changes.ts';
import { demo } from './commands/demo.ts';
import { diff } from './commands/diff.ts';
import { down, up } from './commands/engine.ts';
import { fork } from './commands/fork.ts';
import { importCommand } from './commands/import.ts';
import { log } from './commands/log.ts';
import { verify } from './commands/verify.ts';
import { restore } from './commands/restore.ts';
import { undo } from './commands/undo.ts';
import { hash, pin, pins, unpin } from './commands/pins.ts';
import { engineOf } from './engine.ts';
import { commandHelp, overview } from './help.ts';
import { parseLine } from './parse.ts';
import type { ParsedLine } from './parse.ts';
import { printer } from './print.ts';
import type { Printer, Stream } from './print.ts';

/** Set by the build. */
declare const __FORKYARD_VERSION__: string;

export const commands: readonly Command[] = [
  up,
  down,
  demo,
  importCommand,
  fork,
  branches,
  uri,
  changes,
  diff,
  plan,
  apply,
  adopt,
  undo,
  restore,
  log,
  verify,
  discard,
  keep,
  extend,
  sleep,
  wake,
  reset,
  pin,
  pins,
  unpin,
  hash,
];

export interface Surroundings {
  readonly out: Stream;
  readonly err: Stream;
  readonly stdin: NodeJS.ReadableStream;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Runs one command line; resolves to its exit code. Everything that goes wrong is printed, nothing is thrown. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  // Before anything is understood: an error must already go where the caller looks for it.
  const print = printer(argv.includes('--json'), around.out, around.err);
  try {
    const words = argv.filter((word) => word !== '--json');
    if (argv.length === 0 || (words.length === 1 && (words[0] === '--help' || words[0] === '-h')))
      return answer(print, overview(commands));
    if (words[0] === '--version') return answer(print, __FORKYARD_VERSION__);
    if (words[0] === 'help') return answer(print, helpFor(words[1]));
    const line = parseLine(commands, argv);
    if (line.flags['help'] === true) return answer(print, commandHelp(line.command));
    return await run(line, print, around);
  } catch (error) {
    const body = errorBody(error);
    print.error(body);
    return exitCodes[body.code];
  }
}

async function run(line: ParsedLine, print: Printer, around: Surroundings): Promise<number> {
  const data = dataFolder(textOf(line, 'data'), around.env);
  let engine: Promise<Client> | undefined;
  const call: Call = {
    operands: line.operands,
    text: (flag) => textOf(line, flag),
    texts: (flag) => (line.flags[flag] as readonly string[] | undefined) ?? [],
    on: (flag) => line.flags[flag] === true,
    count: (flag, min, max) => countOf(line, flag, min, max),
    print,
    data,
    env: around.env,
    stdin: around.stdin,
    signal: around.signal,
    engine: () => (engine ??= engineOf(data, { print, env: around.env, signal: around.signal })),
  };
  try {
    return await line.command.run(call);
  } finally {
    const open = await engine?.catch(() => undefined);
    open?.close();
  }
}

function textOf(line: ParsedLine, flag: string): string | undefined {
  return line.flags[flag] as string | undefined;
}

function countOf(line: ParsedLine, flag: string, min: number, max: number): number | undefined {
  const text = textOf(line, flag);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= min && count <= max) return count;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  throw new ForkyardError('usage', `--${flag} takes a whole number ${range}, not "${text}".`);
}

function answer(print: Printer, text: string): number {
  print.result(
    () => text,
    () => text,
  );
  return 0;
}

function helpFor(name: string | undefined): string {
  if (name === undefined) return overview(commands);
  return commandHelp(parseLine(commands, [name, '--help']).command);
}
