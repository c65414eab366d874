/** Writes the parent's document with the chosen changes in it. */
import { Type, type BsonValue, valueOf } from '../bson/value.ts';
import { buildArray, buildDocument, elements, rawElement, sliceValue } from '../bson/walk.ts';
import { sliceKeyText } from '../bson/key.ts';
import { decodeTolerant } from '../bson/text.ts';
import type { Around, NamedNode, Node } from './node.ts';
import { interleave } from './order.ts';
import type { FieldDelta } from './sides.ts';

/** Take the branch's change, leave what the parent has, or put another value there. */
export type Choice = 'branch' | 'parent' | { readonly value: BsonValue };
export type Choose = (delta: FieldDelta) => Choice;

/** The value of a node after the choices; undefined where it is gone. */
export function writeNode(node: Node, choose: Choose): BsonValue | undefined {
  switch (node.kind) {
    case 'leaf':
      return chosen(node.delta, choose(node.delta));
    case 'positions': {
      const values = node.items.map((item) =>
        item.node === undefined ? item.parent && sliceValue(item.parent) : writeNode(item.node, choose),
      );
      return arrayValue(node.around, values);
    }
    case 'object':
    case 'matched': {
      const values = writeNamed(node, choose);
      if (node.around !== undefined) return arrayValue(node.around, [...values.values()]);
      return valueOf(Type.Object, buildDocument([...values].map(([name, value]) => rawElement(name, value))));
    }
  }
}

/** Of a convergent change the parent's form stays: it may differ in the order of fields. */
function chosen(delta: FieldDelta, choice: Choice): BsonValue | undefined {
  if (typeof choice === 'object') return choice.value;
  return choice === 'parent' || delta.class === 'convergent' ? delta.parent : delta.branch;
}

/**
 * The values under their names, in the parent's order or the one chosen; what only the branch has is put behind its nearest
 * neighbour there.
 */
function writeNamed(node: NamedNode, choose: Choose): Map<string, BsonValue> {
  const { parent } = node.sides;
  const written = new Map<string, BsonValue | undefined>();
  for (const [name, child] of node.children) written.set(name, writeNode(child, choose));
  const values = new Map<string, BsonValue>();
  for (const name of nameOrder(node, choose)) {
    const own = parent.get(name);
    const value = written.has(name) ? written.get(name) : own && sliceValue(own);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

function nameOrder({ sides, order, kind }: NamedNode, choose: Choose): readonly string[] {
  const [base, parent, branch] = [sides.base.names, sides.parent.names, sides.branch.names];
  const choice = order === undefined ? 'parent' : choose(order);
  if (typeof choice === 'object') return interleave(editedNames(choice.value, kind), parent, branch, base);
  if (choice === 'branch' && order?.class !== 'convergent') return interleave(branch, parent, base);
  return interleave(parent, branch, base);
}

/** The names in an edited order entry; throws where it is no array, or no array of texts for an object. */
function editedNames(value: BsonValue, kind: NamedNode['kind']): string[] {
  if (value[0] !== Type.Array) throw new TypeError('an order is an array');
  return elements(value.subarray(1)).map((element) => {
    if (kind === 'matched') return sliceKeyText(element);
    if (element.type !== Type.String) throw new TypeError('the order of an object is an array of its names');
    return decodeTolerant(element.bytes, element.start + 4, element.end - 1);
  });
}

function arrayValue({ array, head, tail }: Around, values: readonly (BsonValue | undefined)[]): BsonValue {
  const before = array.elements(0, head).map(sliceValue);
  const behind = array.elements(array.length - tail, array.length).map(sliceValue);
  const between = values.filter((value) => value !== undefined);
  return valueOf(Type.Array, buildArray([...before, ...between, ...behind]));
}
