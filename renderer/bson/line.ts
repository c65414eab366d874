import type { FieldPath } from '../../shared/api.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import type { Piece } from './text-marks.ts';

/** One changed place of a document, as the engine or the two-way compare gives it. */
export interface PlaceChange {
  readonly path: FieldPath;
  readonly base?: BsonValue | undefined;
  readonly parent?: BsonValue | undefined;
  readonly branch?: BsonValue | undefined;
  readonly class: 'clean' | 'convergent' | 'divergent';
  readonly order?: true | undefined;
}

export type Tone = 'plain' | 'add' | 'rem' | 'mod' | 'con' | 'fold';

/** One line of a document: of one image, or of two with their differences. */
export interface Line {
  readonly key: string;
  readonly depth: number;
  readonly tone: Tone;
  readonly name?: string | undefined;
  /** The value, a bracket, or what a fold holds. */
  readonly pieces: readonly Piece[];
  /** Old and new type, where only the type changed. */
  readonly types?: readonly [string, string];
  readonly note?: string | undefined;
  /** Which changes the line is about, as positions in the list given. */
  readonly changes: readonly number[];
  /** The first line of a choice: its box stands here. */
  readonly box: boolean;
  /** For a side of a conflict. */
  readonly side?: 'parent' | 'branch';
}

export interface LinesOptions {
  /** Keys of folds that were opened. */
  readonly opened: ReadonlySet<string>;
  /** Says the type beside each changed value. */
  readonly noteTypes?: boolean;
  readonly names?: { readonly parent: string; readonly branch: string };
}

/** A path as a key: names and indexes stay apart. */
export function pathKey(path: FieldPath): string {
  return JSON.stringify(path);
}
