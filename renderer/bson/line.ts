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
  /** Text that goes on below instead of being cut at the edge. */
  readonly wrap?: boolean;
}

export interface LinesOptions {
  /** Keys of folds that were opened. */
  readonly opened: ReadonlySet<string>;
  /** Says the type beside each changed value. */
  readonly noteTypes?: boolean;
  readonly names?: { readonly parent: string; readonly branch: string };
}

/** Where a value stands, and what its lines are about. */
export interface Place {
  readonly name: string | undefined;
  readonly depth: number;
  readonly key: string;
  readonly tone: Tone;
  readonly changes: readonly number[];
  /** Whether its first line begins a choice. */
  readonly box: boolean;
  readonly note?: string | undefined;
}

/** Where a change of old into new stands. */
export type ChangePlace = Pick<Place, 'name' | 'depth' | 'key' | 'changes'>;

/** A path as a key: names and indexes stay apart. */
export function pathKey(path: FieldPath): string {
  return JSON.stringify(path);
}

/** A line that stands for others until it is opened by its key. */
export function foldLine(key: string, depth: number, text: string): Line {
  return { key, depth, tone: 'fold', pieces: [{ text }], changes: [], box: false };
}

const shownAtFirst = 200;
const shownMore = 2_000;

/**
 * How many of `count` members are shown: all of a few, else the first ones, and more each time the fold behind them is
 * opened. The fold's key holds how many stand before it.
 */
export function shownMembers(count: number, key: string, opened: ReadonlySet<string>): number {
  if (count <= 2 * shownAtFirst) return count;
  let shown = shownAtFirst;
  while (shown < count && opened.has(moreKey(key, shown))) shown = Math.min(count, shown + shownMore);
  return shown;
}

export function moreKey(key: string, shown: number): string {
  return `${key}>${String(shown)}`;
}
