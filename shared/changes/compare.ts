import type { BsonValue } from '../bson/value.ts';

export interface Sides {
  readonly base?: Uint8Array | undefined;
  readonly parent?: Uint8Array | undefined;
  readonly branch?: Uint8Array | undefined;
}
export interface FieldDelta {
  readonly path: (string | number)[];
  readonly base?: BsonValue;
  readonly parent?: BsonValue;
  readonly branch?: BsonValue;
  readonly class: 'clean' | 'convergent' | 'divergent';
  readonly order?: true;
}
export interface CompareOptions {
  readonly strict?: boolean;
}
export interface DocumentDelta {
  readonly kind: 'added' | 'modified' | 'removed';
  readonly conflict: boolean;
  readonly fields: FieldDelta[];
}
export function compareDocument(_sides: Sides, _options?: CompareOptions): DocumentDelta | undefined {
  throw new Error('not yet');
}
export type Choice = 'branch' | 'parent' | { readonly value: BsonValue };
export function mergeDocument(
  _sides: Sides,
  _choose: (delta: FieldDelta) => Choice,
  _options?: CompareOptions,
): { readonly result?: Uint8Array | undefined; readonly undecided?: never } {
  throw new Error('not yet');
}
