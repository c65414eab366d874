/** The result of a three-way compare as a tree: what lies under a node without children is the parent's. */
import type { Slice } from '../bson/walk.ts';
import type { OpenArray } from './containers.ts';
import type { Named } from './named.ts';
import type { FieldDelta } from './sides.ts';

/** The same value on the sides that have it. */
export interface Three<T> {
  readonly base: T;
  readonly parent: T;
  readonly branch: T;
}

/** A value that is taken or left as a whole. */
interface Leaf {
  readonly kind: 'leaf';
  readonly delta: FieldDelta;
}

export interface NamedNode {
  readonly kind: 'object' | 'matched';
  readonly sides: Three<Named>;
  /** What changed, by name. */
  readonly children: ReadonlyMap<string, Node>;
  readonly order: FieldDelta | undefined;
  /** What of the array stays as it is before and behind the matched elements. */
  readonly around: Around | undefined;
}

/** The parent's array, and how many of its elements at both ends no side changed. */
export interface Around {
  readonly array: OpenArray;
  readonly head: number;
  readonly tail: number;
}

/** An array compared by position: its elements in order, each with its change or as the parent has it. */
interface PositionsNode {
  readonly kind: 'positions';
  readonly around: Around;
  readonly items: readonly { readonly node: Node | undefined; readonly parent: Slice | undefined }[];
}

export type Node = Leaf | NamedNode | PositionsNode;

/** Every entry of the tree, in the order of the document. */
export function entries(node: Node, into: FieldDelta[] = []): FieldDelta[] {
  if (node.kind === 'leaf') into.push(node.delta);
  else if (node.kind === 'positions') {
    for (const item of node.items) if (item.node !== undefined) entries(item.node, into);
  } else {
    for (const child of node.children.values()) entries(child, into);
    if (node.order !== undefined) into.push(node.order);
  }
  return into;
}
