/**
 * How a document is written so that the server keeps every byte of it (seen on 6.0.5). A replacement does, but for a top-level
 * name that is empty, begins with a dollar or holds a dot (an error), and a top-level zero timestamp (the server puts the time
 * there). The first is removed and inserted; the second is set as a literal by a pipeline, behind an insert too. A literal
 * never may hold duplicate names, before or after: the server aborts on them.
 */
import { documentValue, sameBytes, Type, valueOf, type BsonValue } from '../../../shared/bson/value.ts';
import { buildArray, buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';
import type { PlanItemRecord } from '../home/plans.ts';

type Images = Pick<PlanItemRecord, 'expect' | 'result'>;

/** Why the server has no way to write this exactly, if so. */
export function unwritable({ expect, result }: Images): string | undefined {
  if (!result || !hasZeroTime(result)) return undefined;
  const twice = [result, ...(expect ? [expect] : [])].some((each) => hasDuplicateNames(documentValue(each)));
  return twice ? 'it holds both a zero timestamp and a field name twice, which the server writes in no way' : undefined;
}

/** Whether the document can be written in its place. */
export function isReplaceable(expect: Uint8Array, result: Uint8Array, zeroTime: boolean): boolean {
  // An _id that equals another as the server compares (1 and 1.0) is not replaced by it.
  if (!sameBytes(field(expect, '_id'), field(result, '_id'))) return false;
  return zeroTime || !elements(result).some(({ name }) => name.startsWith('$') || name === '' || name.includes('.'));
}

/** Whether the server would put the time there. */
export function hasZeroTime(document: Uint8Array): boolean {
  return elements(document).some((part) => part.type === Type.Timestamp && isZeroTime(part.value));
}

function isZeroTime(value: BsonValue): boolean {
  return value[0] === Type.Timestamp && value.subarray(1).every((byte) => byte === 0);
}

/** What is inserted first, where a literal follows. The `_id`, by which that finds it, the server keeps (seen on 6.0.5). */
export function withoutZeroTimes(document: Uint8Array): Uint8Array {
  if (!hasZeroTime(document)) return document;
  const one = new Uint8Array([Type.Timestamp, 1, 0, 0, 0, 0, 0, 0, 0]);
  return buildDocument(
    elements(document).map(({ name, nameBytes, value }) => ({
      nameBytes,
      value: name !== '_id' && isZeroTime(value) ? one : value,
    })),
  );
}

function hasDuplicateNames(value: BsonValue): boolean {
  if (value[0] !== Type.Object && value[0] !== Type.Array) return false;
  const parts = elements(value.subarray(1));
  return (
    new Set(parts.map(({ name }) => name)).size < parts.length || parts.some((part) => hasDuplicateNames(part.value))
  );
}

function keyQuery(key: BsonValue): BsonValue {
  return documentValue(buildDocument([rawElement('_id', documentValue(buildDocument([rawElement('$eq', key)])))]));
}

export function deleteStatement(item: PlanItemRecord): Uint8Array {
  return buildDocument([rawElement('q', keyQuery(item.key)), rawElement('limit', int32(1))]);
}

/** @param literal set by a pipeline, not as a replacement */
export function updateStatement(item: Pick<PlanItemRecord, 'key' | 'result'>, literal: boolean): Uint8Array {
  const result = documentValue(item.result!);
  const wrapped = (name: string, value: BsonValue) => documentValue(buildDocument([rawElement(name, value)]));
  const update = literal
    ? valueOf(Type.Array, buildArray([wrapped('$replaceWith', wrapped('$literal', result))]))
    : result;
  return buildDocument([rawElement('q', keyQuery(item.key)), rawElement('u', update)]);
}

function int32(value: number): BsonValue {
  return new Uint8Array([Type.Int32, value & 0xff, 0, 0, 0]);
}
