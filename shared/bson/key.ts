import type { BsonValue } from './value.ts';
export function keyOf(_value: BsonValue): Uint8Array {
  throw new Error('not yet');
}
export function keyText(_value: BsonValue): string {
  throw new Error('not yet');
}
