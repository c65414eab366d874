import type { Client } from '../../shared/rpc/connect.ts';
import type { Printer } from './print.ts';

/** A flag of a command. `value` names what it takes; without it the flag is a switch. */
export interface Flag {
  readonly value?: string;
  /** One letter that stands for it. */
  readonly short?: string;
  /** May be given more than once. */
  readonly repeats?: true;
  readonly text: string;
}

/** One command of `forkyard`. Everything about it is here: help, parsing and what it does. */
export interface Command {
  readonly name: string;
  /** What stands after the name, in order; one in brackets may be left out. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** One sentence for the help. */
  readonly summary: string;
  /** What its help says beyond that, a paragraph a line. */
  readonly notes?: readonly string[];
  /** Resolves to the exit code. Throws ForkyardError for what the user is told. */
  run(call: Call): Promise<number>;
}

/** A command line that was understood, with what a command needs to carry it out. */
export interface Call {
  readonly operands: readonly string[];
  /** The flag's value, or undefined. */
  text(flag: string): string | undefined;
  /** Each value of a flag that repeats. */
  texts(flag: string): readonly string[];
  on(flag: string): boolean;
  /** A whole number from `min` to `max`; throws `usage` for anything else. */
  count(flag: string, min: number, max: number): number | undefined;
  readonly print: Printer;
  /** The data folder as asked for, absolute. */
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream;
  /** Aborted on the first interrupt. */
  readonly signal: AbortSignal;
  /** The data folder's engine, started where none runs. Closed when the command ends. */
  engine(): Promise<Client>;
}

/** Flags that every command takes. */
export const commonFlags: Readonly<Record<string, Flag>> = {
  data: { value: 'DIR', text: 'data folder (FORKYARD_DATA, else the per-user one)' },
  json: { text: 'one JSON value on stdout, errors as JSON on stderr' },
  help: { short: 'h', text: 'this text' },
};
