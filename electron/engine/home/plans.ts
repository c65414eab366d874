import { randomBytes } from 'node:crypto';
import { BSON, type Collection } from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { rawFind, rawWrite } from '../mongod/raw.ts';
import type { Home } from './home.ts';
import { dropKept } from './kept.ts';
import { decodeItem, encodeItem, movedRow, type ItemMove, type ItemRow } from './plan-rows.ts';
import type { BaseOverride } from './records.ts';

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
  /** Items with the same number are written in one transaction. */
  readonly together?: number;
  /** Half of what is done to the document, which is removed in one turn and comes back in another: two items are about it. */
  readonly part?: 'leave' | 'come';
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
  /** Its documents are more than one transaction takes. */
  readonly inPieces: boolean;
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
  /** Of a stale one: what had moved, by id in base64, or a collection; at most a thousand of them. */
  readonly moved?: readonly { readonly ns: string; readonly id?: string }[];
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
const movedAtOnce = 1_000;

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
      yield await Promise.all(batch.map((bytes) => decodeItem(this.home, owner, bytes)));
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

  /** Gives items of a plan that is being made another index; an item may go to two places, one for each part of it. */
  async moveItems(plan: string, moves: readonly ItemMove[]): Promise<void> {
    const items = this.home.plans.collection<ItemRow>(`items_${plan}`);
    for (let start = 0; start < moves.length; start += movedAtOnce) {
      const page = moves.slice(start, start + movedAtOnce);
      const query = { collection: `items_${plan}`, filter: { _id: { $in: page.map(({ index }) => index) } } };
      for await (const batch of rawFind(this.home.plans, query)) {
        const rows = new Map(batch.map((bytes) => BSON.deserialize(bytes) as ItemRow).map((row) => [row._id, row]));
        const moved = page.flatMap((move) => {
          const row = rows.get(move.index);
          return row ? [BSON.serialize(movedRow(row, move))] : [];
        });
        const write = { insert: `items_${plan}` };
        const { problems } = await rawWrite(this.home.plans, write, { name: 'documents', items: moved });
        if (problems[0]) throw new Error(`home refused a plan: ${problems[0].message}`);
      }
    }
    // Not before all are there: of what goes to two places the second one may be far behind the first.
    for (let start = 0; start < moves.length; start += movedAtOnce) {
      const page = moves.slice(start, start + movedAtOnce);
      await items.deleteMany({ _id: { $in: page.map(({ index }) => index) } });
    }
  }

  async drop(plan: string): Promise<void> {
    await this.home.plans.collection(`items_${plan}`).drop();
    await this.home.plans.collection(`pieces_${plan}`).drop();
    await dropKept(this.home, plan);
    await this.plans.deleteOne({ _id: plan });
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
