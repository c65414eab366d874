import type { ErrorBody } from '../../shared/errors.ts';

/** Where the window shows what a command prints. */
const screens: Readonly<Record<string, string>> = {
  branches: 'the sidebar',
  changes: 'Live',
  diff: 'Review',
  log: 'History',
};

/** A command, or an option with what it takes, as hints name them. */
const ofTheCommandLine = /"forkyard [^"]*"|`forkyard [^`]*`|--[a-z]/;

/**
 * The engine's hints name commands, as its first reader, a terminal, needs them. In the window the verb alone is enough: its
 * button is there. A hint that would still speak of the command line is left out.
 */
export function inWindowWords(error: ErrorBody): ErrorBody {
  if (error.hint === undefined || !ofTheCommandLine.test(error.hint)) return error;
  const { hint, ...rest } = error;
  const words = hint
    .replace('or fork with --end-transactions', 'or fork and end them')
    .replace(/"forkyard (\w+)[^"]*"/g, (command, verb: string) => screens[verb] ?? command)
    .replace(/ with (?:"forkyard [^"]*"|`forkyard [^`]*`|--[a-z-]+(?: [A-Z][\w:=]*(?: or =[\w.-]+)?)?)/g, '')
    .replace(/^\w/, (first) => first.toUpperCase());
  return ofTheCommandLine.test(words) ? rest : { ...rest, hint: words };
}
