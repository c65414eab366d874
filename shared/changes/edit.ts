/** Edited results: a value put at a place of a document, everything else byte for byte as it is. */
import { type BsonValue, documentBytes, documentValue, Type } from '../bson/value.ts';
import { buildDocument, elements, rawElement } from '../bson/walk.ts';

/**
 * The document with `value` at `path`; a last name that is not there yet comes last. Undefined where the path does not lead through
 * objects alone, or a name on it stands twice. An empty path takes the whole document, which must be an object then.
 * Throws `MalformedBson`.
 */
export function withValueAt(
  document: Uint8Array,
  path: readonly (string | number)[],
  value: BsonValue,
): Uint8Array | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value[0] === Type.Object ? documentBytes(value) : undefined;
  const name = String(step);
  const parts = elements(document);
  const found = parts.filter((part) => part.name === name);
  const [target] = found;
  if (found.length > 1) return undefined;
  if (target === undefined) {
    return rest.length === 0 ? buildDocument([...parts, rawElement(name, value)]) : undefined;
  }
  let replaced: BsonValue | undefined = value;
  if (rest.length > 0) {
    const inner = target.value[0] === Type.Object ? withValueAt(documentBytes(target.value), rest, value) : undefined;
    replaced = inner && documentValue(inner);
  }
  if (replaced === undefined) return undefined;
  return buildDocument(
    parts.map((part) => ({ nameBytes: part.nameBytes, value: part === target ? replaced : part.value })),
  );
}
