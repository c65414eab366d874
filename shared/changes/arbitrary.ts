/** Documents as applications have them, and versions of them that were edited apart, for property tests of compare and merge. */
import * as fc from 'fast-check';
import { anyDocument, anyNameBytes, anyValue, doubleValue, int32Value } from '../bson/arbitrary.ts';
import { type BsonValue, documentBytes, documentValue, stringValue, Type, valueOf } from '../bson/value.ts';
import {
  buildArray,
  buildDocument,
  type Element,
  elementsOf,
  rawElement,
  sliceValue,
  valueSlice,
} from '../bson/walk.ts';

type Part = Pick<Element, 'nameBytes' | 'value'>;

const small = fc.constantFrom(
  ...[0, 1, 2].map(int32Value),
  doubleValue(1),
  stringValue('x'),
  Uint8Array.of(Type.Null),
  Uint8Array.of(Type.Undefined),
);
const names = ['a', 'b', 'c', 'd', 'e', '__proto__', '0', ''];

function object(parts: readonly Part[]): BsonValue {
  return documentValue(buildDocument(parts));
}

function list(values: readonly BsonValue[]): BsonValue {
  return valueOf(Type.Array, buildArray(values));
}

/** An object as it stands in a list, told apart by `_id` or `id`, or by nothing. */
const item = fc
  .record({ key: fc.constantFrom('_id', '_id', 'id', 'k'), id: fc.nat(6), value: small, rest: small })
  .map(({ key, id, value, rest }) =>
    object([rawElement(key, int32Value(id)), rawElement('v', value), rawElement('w', rest)]),
  );
const matchedList = fc
  .uniqueArray(fc.nat(9), { maxLength: 5 })
  .chain((ids) => fc.tuple(fc.constantFrom('_id', 'id'), ...ids.map((id) => small.map((value) => ({ id, value })))))
  .map(([key, ...items]) =>
    list(items.map(({ id, value }) => object([rawElement(key, int32Value(id)), rawElement('v', value)]))),
  );

const { value: structured, fields } = fc.letrec<{ value: BsonValue; fields: Part[] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    { weight: 2, arbitrary: small },
    { weight: 1, arbitrary: matchedList },
    { weight: 1, arbitrary: fc.array(small, { maxLength: 5 }).map(list) },
    { weight: 1, arbitrary: fc.array(item, { maxLength: 4 }).map(list) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }).map(list) },
    { weight: 3, arbitrary: tie('fields').map(object) },
  ),
  fields: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((pairs) => pairs.map(([name, value]) => rawElement(name, value))),
}));

interface Edit {
  readonly kind: 'replace' | 'remove' | 'insert' | 'swap';
  /** How many levels it goes down, where there are that many. */
  readonly levels: number;
  readonly at: number;
  readonly to: number;
  readonly nameBytes: Uint8Array;
  readonly value: BsonValue;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('replace', 'remove', 'insert', 'swap'),
  levels: fc.nat(4),
  at: fc.nat(1000),
  to: fc.nat(1000),
  nameBytes: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.constantFrom('new', 'other', 'f', 'g').map((name) => rawElement(name, int32Value(0)).nameBytes),
    },
    { weight: 1, arbitrary: anyNameBytes },
  ),
  value: fc.oneof(
    { weight: 4, arbitrary: small },
    { weight: 3, arbitrary: item },
    { weight: 2, arbitrary: structured },
    { weight: 1, arbitrary: anyValue },
  ),
});

/** A document and `versions` of it, edited apart from each other; now and then alike. */
export function editedDocuments(versions: number): fc.Arbitrary<Uint8Array[]> {
  const original = fc.oneof(
    { weight: 5, arbitrary: fields.map((parts) => buildDocument(parts)) },
    { weight: 1, arbitrary: anyDocument },
  );
  const shared = fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(edit, { maxLength: 2 }));
  const edits = fc.array(fc.array(edit, { maxLength: 4 }), { minLength: versions, maxLength: versions });
  return fc
    .tuple(original, shared, edits)
    .map(([document, alike, lists]) => [
      document,
      ...lists.map((own) => documentBytes([...alike, ...own].reduce(edited, documentValue(document)))),
    ]);
}

function edited(container: BsonValue, change: Edit): BsonValue {
  const own: Part[] = elementsOf(valueSlice(container)).map((element) => ({
    nameBytes: element.nameBytes,
    value: sliceValue(element),
  }));
  const nested = own.flatMap(({ value }, index) =>
    value[0] === Type.Object || value[0] === Type.Array ? [index] : [],
  );
  const into = change.levels > 0 ? nested[change.at % nested.length] : undefined;
  const at = into ?? change.at % (own.length + 1);
  const target = own[at];
  if (into !== undefined && target !== undefined) {
    own[at] = { nameBytes: target.nameBytes, value: edited(target.value, { ...change, levels: change.levels - 1 }) };
  } else if (change.kind === 'insert') own.splice(at, 0, change);
  else if (target !== undefined) {
    const to = change.to % own.length;
    if (change.kind === 'remove') own.splice(at, 1);
    else if (change.kind === 'swap') [own[at], own[to]] = [own[to]!, target];
    else own[at] = { nameBytes: target.nameBytes, value: change.value };
  }
  return container[0] === Type.Array ? list(own.map((part) => part.value)) : object(own);
}
