import { randomBytes } from 'node:crypto';
import { BSON, Binary, type Collection, type Document } from 'mongodb';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { rawFind, rawWrite } from '../mongod/raw.ts';
import type { Home } from './home.ts';
import { dropKept } from './kept.ts';
import type { BaseOverride } from './records.ts';
import { cutIntoPieces, inlineBytes } from './spilled.ts';

/** One step of a plan on one document: the bytes it expects to find and the bytes it leaves. */
export interface PlanItemRecord {
  /** From 0, ascending. */
  readonly index: number;
  readonly ns: string;
  readonly key: BsonValue;
  readonly expect: Uint8Array | undefined;
  readonly result: Uint8Array | undefined;
  /** False where the decision keeps the parent as it is: nothing is written, only the base moves. */
  readonly writes: boolean;
  /** The touched row whose base moves with the adoption, from and to. */
  readonly touched?: {
    readonly id: Uint8Array;
    readonly from: BaseOverride | undefined;
    readonly to: BaseOverride | undefined;
  };
}

/** One schema command and the one that takes it back. */
export interface SchemaStep {
  /** What the parent calls it when the step's turn comes. */
  readonly ns: string;
  readonly text: string;
  /** EJSON, canonical. */
  readonly command: string;
  readonly inverse: string;
  readonly type: 'collection' | 'options' | 'validator' | 'view' | 'index' | 'rename';
  /** The index's name. */
  readonly name?: string;
  /** Where a rename leads. */
  readonly to?: string;
  /** Hex; of a collection that is made, dropped or renamed. */
  readonly uuid?: string;
  /** Its definition before and after, as the catalog tells it, base64; left out = it is not there. Not of a rename. */
  readonly before?: string;
  readonly after?: string;
  /** A collection is dropped only where nothing of it changed after this sequence of the parent's history. */
  readonly unchangedSince?: number;
  /** The documents that go, or come, with the collection. */
  readonly kept?: { readonly plan: string; readonly step: number; readonly documents: number; readonly hash: string };
  /** Part of the change that the step before began: they count as one. */
  readonly continues?: true;
}

/** One schema item that both sides have agreed on with a plan: it becomes part of the base, as documents do. */
export interface AgreedPart {
  readonly type: SchemaStep['type'];
  readonly ns: string;
  readonly uuid?: string;
  readonly name?: string;
  readonly to?: string;
  readonly definition?: string;
}

/** So many conflicts of a plan are named one by one. */
export const namedConflicts = 100;

/** What must be decided first, in one sentence; a document is named by its `_id`, base64. */
export interface Undecided {
  readonly ns: string;
  readonly id?: string;
  readonly text: string;
}

/** A transaction of a plan that is being applied. */
export interface PlanTransaction {
  /** `lsid.id` hex and number. */
  readonly id: string;
  /** Its items: `from <= index < to`. */
  readonly from: number;
  readonly to: number;
  /** It takes back what an earlier one with the same items wrote. */
  readonly back?: true;
}

export interface PlanRecord {
  readonly _id: string;
  /** `restore` and `undo-changes` go back inside one branch, which is both sides of them. */
  readonly kind: 'adopt' | 'undo' | 'restore' | 'undo-changes';
  readonly branchId: string;
  readonly branchName: string;
  readonly parentId: string;
  readonly parentName: string;
  readonly createdAt: Date;
  readonly items: number;
  readonly conflicts: number;
  /** The first of the conflicts. */
  readonly undecided?: readonly Undecided[];
  readonly bytes: number;
  readonly schema: readonly SchemaStep[];
  /** So many of the steps come before the documents, the others after them; left out = all come before. */
  readonly documentsAt?: number;
  /** The step that is being run, or was when applying ended; those before it are done. */
  readonly schemaAt?: number;
  /** Collections may still stand aside that are to be dropped for good. */
  readonly asides?: boolean;
  /** What of the schema both sides have agreed on with this plan, or no longer: with which plan they had. */
  readonly agreement?: { readonly parts: readonly AgreedPart[]; readonly back?: string };
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  /**
   * Collections whose documents are written past this validator (base64): the branch holds some that it would refuse, under
   * the same one.
   */
  readonly unvalidated?: readonly { readonly ns: string; readonly validation: string }[];
  /** What was wanted and is not carried over, a sentence each. */
  readonly leftOut?: readonly string[];
  readonly state: 'ready' | 'applying' | 'applied' | 'stale' | 'partly';
  /** What the log says once it is applied, where the kind alone does not tell. */
  readonly text?: string;
  /** The entry that this plan takes back. */
  readonly undoes?: string;
  /** While applying: the transactions that may have been committed, in order. */
  readonly transactions?: readonly PlanTransaction[];
  /** The parent's history sequence when applying began. */
  readonly startSeq?: number;
  readonly entry?: string;
}

const maxIndex = Number.MAX_SAFE_INTEGER;

/** Plans and their items, stored before anything is applied. */
export class PlanStore {
  private readonly home: Home;

  constructor(home: Home) {
    this.home = home;
  }

  get plans(): Collection<PlanRecord> {
    return this.home.catalog.collection<PlanRecord>('plans');
  }

  async find(id: string): Promise<PlanRecord | undefined> {
    return (await this.plans.findOne({ _id: id })) ?? undefined;
  }

  /** Stores a new plan, made under the id that it gets. Where making it fails nothing of it stays. */
  async make(work: (id: string) => Promise<PlanRecord>): Promise<PlanRecord> {
    const id = `plan-${randomBytes(6).toString('hex')}`;
    try {
      const plan = await work(id);
      await this.plans.insertOne(plan);
      return plan;
    } catch (error) {
      await this.drop(id);
      throw error;
    }
  }

  async addItems(plan: string, items: readonly PlanItemRecord[]): Promise<void> {
    if (items.length === 0) return;
    const rows = items.map(encodeItem);
    const write = { insert: `items_${plan}` };
    const { problems } = await rawWrite(this.home.plans, write, {
      name: 'documents',
      items: rows.map(({ row }) => row),
    });
    if (problems[0]) throw new Error(`home refused a plan: ${problems[0].message}`);
    const pieces = rows.flatMap((row) => row.pieces);
    for (const piece of pieces) {
      await rawWrite(this.home.plans, { insert: `pieces_${plan}` }, { name: 'documents', items: [piece] });
    }
  }

  /** A plan's items with `from <= index < to`, as it applies them, a batch at a time. */
  async *items({ _id: owner }: Pick<PlanRecord, '_id'>, from = 0, to = maxIndex): AsyncGenerator<PlanItemRecord[]> {
    const query = {
      collection: `items_${owner}`,
      filter: { _id: { $gte: from, $lt: to } },
      sort: { _id: 1 },
      batchSize: 1_000,
    };
    for await (const batch of rawFind(this.home.plans, query)) {
      yield await Promise.all(batch.map((bytes) => this.decodeItem(owner, bytes)));
    }
  }

  /** Takes items out of a plan that is being made. @returns them */
  async removeItems(plan: string, indexes: readonly number[]): Promise<PlanItemRecord[]> {
    const removed: PlanItemRecord[] = [];
    for (const index of indexes) {
      for await (const items of this.items({ _id: plan }, index, index + 1)) removed.push(...items);
    }
    await this.home.plans.collection<ItemRow>(`items_${plan}`).deleteMany({ _id: { $in: [...indexes] } });
    await this.home.plans.collection(`pieces_${plan}`).deleteMany({ i: { $in: [...indexes] } });
    return removed;
  }

  async drop(plan: string): Promise<void> {
    await this.home.plans.collection(`items_${plan}`).drop();
    await this.home.plans.collection(`pieces_${plan}`).drop();
    await dropKept(this.home, plan);
    await this.plans.deleteOne({ _id: plan });
  }

  private async decodeItem(plan: string, bytes: Uint8Array): Promise<PlanItemRecord> {
    const row = BSON.deserialize(bytes) as ItemRow;
    const image = async (side: Side, inline: Binary | undefined) => {
      if (!row.s?.includes(side)) return inline?.buffer;
      const pieces = this.home.plans.collection(`pieces_${plan}`);
      const found = await pieces.find({ i: row._id, side }).sort({ n: 1 }).toArray();
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
      ...(row.t ? { touched: { id: row.t.id.buffer, from, to } } : {}),
    };
  }
}

/** The item that takes this one back. */
export function reverse(item: PlanItemRecord): PlanItemRecord {
  const { touched } = item;
  return {
    ...item,
    expect: item.result,
    result: item.expect,
    ...(touched ? { touched: { id: touched.id, from: touched.to, to: touched.from } } : {}),
  };
}

interface ItemRow {
  _id: number;
  n: string;
  k: Binary;
  e?: Binary;
  r?: Binary;
  /** Only the base moves. */
  o?: boolean;
  s?: Side[];
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

function encodeItem(item: PlanItemRecord): { row: Uint8Array; pieces: Uint8Array[] } {
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
