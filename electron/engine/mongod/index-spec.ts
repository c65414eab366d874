import { documentBytes, documentValue, stringValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';

/**
 * An index as `createIndexes` takes it, from how `listIndexes` tells it. A text index that expires documents is made of one
 * field, and told as one of two: `{_fts: "text", _ftsx: 1}`, which the server then refuses to build (seen on 6.0.5).
 */
export function buildableIndex(spec: Uint8Array): Uint8Array {
  const [key, weights] = [field(spec, 'key'), field(spec, 'weights')];
  if (!key || !weights || !field(spec, 'expireAfterSeconds') || !field(documentBytes(key), '_fts')) return spec;
  const parts = elements(documentBytes(key)).flatMap((part) => {
    if (part.name === '_fts')
      return elements(documentBytes(weights)).map(({ name }) => rawElement(name, stringValue('text')));
    return part.name === '_ftsx' ? [] : [part];
  });
  return buildDocument(
    elements(spec).map((part) => (part.name === 'key' ? rawElement('key', documentValue(buildDocument(parts))) : part)),
  );
}
