import { BSON } from 'mongodb';
import { documentBytes, documentValue, stringValue, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';

/**
 * An index as `createIndexes` takes it, from how `listIndexes` tells it, which leaves two things out (seen on 6.0.5).
 *
 * One that compares simply has no collation there; made like that in a collection with a collation of its own it would get
 * that one, so it is said. Indexes of version 1 know no collation.
 *
 * A text index that expires documents is made of one field, and told as one of two: `{_fts: "text", _ftsx: 1}`, which the
 * server then refuses to build.
 */
export function buildableIndex(spec: Uint8Array): Uint8Array {
  const parts = elements(spec).map((part) => {
    const key = part.name === 'key' ? textKey(spec) : undefined;
    return key ? rawElement('key', key) : part;
  });
  const { v = 2, collation } = BSON.deserialize(spec) as { v?: number; collation?: unknown };
  const comparesSimply = collation === undefined && v >= 2;
  return buildDocument(comparesSimply ? [...parts, rawElement('collation', simple)] : parts);
}

const simple = documentValue(buildDocument([rawElement('locale', stringValue('simple'))]));

/** The key that an expiring text index was made with; undefined for any other index. */
function textKey(spec: Uint8Array): BsonValue | undefined {
  const [key, weights] = [field(spec, 'key'), field(spec, 'weights')];
  if (!key || !weights || !field(spec, 'expireAfterSeconds') || !field(documentBytes(key), '_fts')) return undefined;
  const parts = elements(documentBytes(key)).flatMap((part) => {
    if (part.name === '_fts')
      return elements(documentBytes(weights)).map(({ name }) => rawElement(name, stringValue('text')));
    return part.name === '_ftsx' ? [] : [part];
  });
  return documentValue(buildDocument(parts));
}
