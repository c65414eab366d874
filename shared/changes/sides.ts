/** What a three-way compare takes and gives: whole documents in, one entry per changed field out. */
import type { BsonValue } from '../bson/value.ts';

/** One document as BSON bytes on three sides; a side without it is left out. */
export interface Sides {
  /** At the fork. */
  readonly base?: Uint8Array | undefined;
  /** On the branch that adopts, now. */
  readonly parent?: Uint8Array | undefined;
  /** On the branch whose changes are adopted. */
  readonly branch?: Uint8Array | undefined;
}

/** *Clean*: changed on the branch alone. *Convergent*: alike on both. *Divergent*: must be decided. */
export type MergeClass = 'clean' | 'convergent' | 'divergent';

/**
 * One changed field, its value on each side that has it. In an array the path holds the index on the branch for elements
 * that changed or came, and the index at the base for elements that went.
 */
export interface FieldDelta {
  readonly path: (string | number)[];
  readonly base?: BsonValue;
  readonly parent?: BsonValue;
  readonly branch?: BsonValue;
  readonly class: MergeClass;
  /**
   * Only the order at `path` changed: the sides are arrays of the object's names in order, or of the `_id`s (`id`s) by which an
   * array's elements are matched.
   */
  readonly order?: true;
}

export interface CompareOptions {
  /** Any edit of one document on both sides must be decided. */
  readonly strict?: boolean | undefined;
  /** The document is one value: it is taken or left as a whole, and an edit on both sides must be decided. */
  readonly whole?: boolean | undefined;
}
