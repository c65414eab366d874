import type { BsonValue } from './value.ts';

export class EjsonError extends Error {
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(message);
    this.name = 'EjsonError';
  }
}
export type OnDuplicate = (name: string, line: number) => void;
export function toEjson(_value: BsonValue): string {
  throw new Error('not yet');
}
export function parseEjson(_text: string, _onDuplicate?: OnDuplicate): BsonValue {
  throw new Error('not yet');
}
export function parseId(_text: string): BsonValue {
  throw new Error('not yet');
}
export function shellText(_value: BsonValue, _maxLength?: number): string {
  throw new Error('not yet');
}
export class EjsonReader {
  /** The line (from 1) the reader has come to. */
  line = 1;
  /** The first lines of the documents the last `push` or `end` gave. */
  lines: readonly number[] = [];
  constructor(readonly onDuplicate?: OnDuplicate) {}
  push(_chunk: string): BsonValue[] {
    throw new Error('not yet');
  }
  end(): BsonValue[] {
    throw new Error('not yet');
  }
}
