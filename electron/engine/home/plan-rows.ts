import { BSON, Binary, type Document } from 'mongodb';
import { sameBytes } from '../../../shared/bson/value.ts';
import type { Home } from './home.ts';
import type { PlanItemRecord } from './plans.ts';
import type { BaseOverride } from './records.ts';
import { cutIntoPieces, inlineBytes } from './spilled.ts';

export interface ItemRow {
  _id: number;
  n: string;
  k: Binary;
  e?: Binary;
  r?: Binary;
  /** Only the base moves. */
  o?: boolean;
  g?: number;
  p?: 'leave' | 'come';
  s?: Side[];
  /** The index that its spilled documents are under, where it was moved. */
  i?: number;
  t?: { id: Binary; f?: BaseRow; t?: BaseRow };
}

/** With neither the base does not exist, or is spilled like the item's own documents. */
interface BaseRow {
  d?: Binary;
  /** The item's result: not stored twice. */
  r?: boolean;
}

/** A document of an item: what it expects, its result, the base before and after. */
type Side = 'e' | 'r' | 'f' | 't';

/** An item's row, and the pieces of what is too large for one. */
export function encodeItem(item: PlanItemRecord): { row: Uint8Array; pieces: Uint8Array[] } {
  const { touched } = item;
  const own = (base: BaseOverride | undefined) =>
    base?.document === undefined || isResult(base.document, item) ? undefined : base.document;
  const sides = (
    [
      ['e', item.expect],
      ['r', item.result],
      ['f', own(touched?.from)],
      ['t', own(touched?.to)],
    ] as const
  ).flatMap(([side, bytes]): [Side, Uint8Array][] => (bytes ? [[side, bytes]] : []));
  const fits = sides.reduce((sum, [, bytes]) => sum + bytes.length, 0) <= inlineBytes;
  const inline = new Map(fits ? sides.map(([side, bytes]) => [side, new Binary(bytes)]) : []);
  const row: Document = { _id: item.index, n: item.ns, k: new Binary(item.key) };
  if (!fits) row['s'] = sides.map(([side]) => side);
  for (const side of ['e', 'r'] as const) if (inline.has(side)) row[side] = inline.get(side);
  if (!item.writes) row['o'] = true;
  if (touched) {
    const base = (side: Side, { document }: BaseOverride): BaseRow => {
      if (document && isResult(document, item)) return { r: true };
      const d = inline.get(side);
      return d ? { d } : {};
    };
    row['t'] = {
      id: new Binary(touched.id),
      ...(touched.from ? { f: base('f', touched.from) } : {}),
      ...(touched.to ? { t: base('t', touched.to) } : {}),
    };
  }
  const pieces = fits ? [] : sides.flatMap(([side, bytes]) => piecesOf(item.index, side, bytes));
  return { row: BSON.serialize(row), pieces };
}

function isResult(document: Uint8Array, { result }: PlanItemRecord): boolean {
  return sameBytes(document, result);
}

function piecesOf(index: number, side: Side, bytes: Uint8Array): Uint8Array[] {
  return cutIntoPieces(bytes).map((piece, n) => BSON.serialize({ i: index, side, n, bytes: new Binary(piece) }));
}

/** An item as it was stored; what was too large for one row is read from its pieces. */
export async function decodeItem(home: Home, plan: string, bytes: Uint8Array): Promise<PlanItemRecord> {
  const row = BSON.deserialize(bytes) as ItemRow;
  const image = async (side: Side, inline: Binary | undefined) => {
    if (!row.s?.includes(side)) return inline?.buffer;
    const pieces = home.plans.collection(`pieces_${plan}`);
    const found = await pieces
      .find({ i: row.i ?? row._id, side })
      .sort({ n: 1 })
      .toArray();
    return Buffer.concat(found.map((piece) => (piece['bytes'] as Binary).buffer));
  };
  const base = async (side: 'f' | 't', stored: BaseRow | undefined) =>
    stored && { document: stored.r ? result : await image(side, stored.d) };
  const [expect, result] = await Promise.all([image('e', row.e), image('r', row.r)]);
  const [from, to] = await Promise.all([base('f', row.t?.f), base('t', row.t?.t)]);
  return {
    index: row._id,
    ns: row.n,
    key: row.k.buffer,
    expect,
    result,
    writes: !row.o,
    ...(row.g === undefined ? {} : { together: row.g }),
    ...(row.p === undefined ? {} : { part: row.p }),
    ...(row.t ? { touched: { id: row.t.id.buffer, from, to } } : {}),
  };
}

/** An item and the index that it gets. */
export interface ItemMove extends Pick<PlanItemRecord, 'index' | 'together' | 'part'> {
  readonly to: number;
}

/** The row as it stands at its new place. */
export function movedRow(row: ItemRow, { index, to, together, part }: ItemMove): ItemRow {
  const { t, ...rest } = row;
  return {
    ...rest,
    // The base moves once.
    ...(t && part !== 'leave' ? { t } : {}),
    _id: to,
    ...(row.s ? { i: index } : {}),
    ...(together === undefined ? {} : { g: together }),
    ...(part === undefined ? {} : { p: part }),
  };
}
