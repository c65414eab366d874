import type { FieldDelta } from './compare.ts';

export interface Delta {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
  readonly fields: readonly FieldDelta[];
}
export function diffDocument(_base?: Uint8Array, _target?: Uint8Array): Delta {
  throw new Error('not yet');
}
export function applyDelta(_base: Uint8Array | undefined, _delta: Delta): Uint8Array | undefined {
  throw new Error('not yet');
}
export function reverseDelta(_delta: Delta): Delta {
  throw new Error('not yet');
}
export function isEmptyDelta(_delta: Delta): boolean {
  throw new Error('not yet');
}
