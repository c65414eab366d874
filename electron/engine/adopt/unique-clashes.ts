import { keyText } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { documentName } from '../../../shared/changes/explain.ts';
import type { Side } from '../changes/side.ts';
import type { Home } from '../home/home.ts';
import type { PlanItemRecord } from '../home/plans.ts';
import { Rehearsal } from './rehearsal.ts';
import { changesKeys, findCandidates, indexedPart, sharers, type UniqueIndex } from './unique-keys.ts';

/** An item of a plan that would share a key with another document. */
export interface Clash {
  readonly item: Pick<PlanItemRecord, 'index' | 'ns' | 'key'>;
  readonly text: string;
}

/** A plan's items of one collection, as often as asked. */
export type ItemSource = () => AsyncIterable<readonly PlanItemRecord[]>;

interface Member {
  readonly index: number;
  readonly key: BsonValue;
  readonly ns: string;
}

const candidateBatch = 100;

/**
 * What a plan would break of one unique index: its results among each other, and beside what stays in the parent. Keys are not
 * computed here: the documents go into a collection of home that has the index.
 */
export class UniqueTrial {
  private readonly side: Side;
  private readonly index: UniqueIndex;
  private readonly indexed: boolean;
  private readonly rehearsal: Rehearsal;
  /** Items whose result is in, by {@link keyText} of their `_id`. */
  private readonly results = new Map<string, Member>();
  /** Documents of the parent that give up their keys: the index of the item that does it. */
  private readonly leaving = new Map<string, number>();
  private readonly staying = new Set<string>();

  private constructor(side: Side, index: UniqueIndex, indexed: boolean, rehearsal: Rehearsal) {
    this.side = side;
    this.index = index;
    this.indexed = indexed;
    this.rehearsal = rehearsal;
  }

  /** @param indexed whether the parent has this index now; a new one is tried in the same way */
  static async open(home: Home, side: Side, index: UniqueIndex, indexed: boolean): Promise<UniqueTrial> {
    return new UniqueTrial(side, index, indexed, await Rehearsal.withIndex(home, index));
  }

  async close(): Promise<void> {
    await this.rehearsal.close();
  }

  /**
   * Documents that share a key with another, each item once.
   * @param takes gets which items take a key that another item gives up; undefined = nobody asks
   */
  async run(items: ItemSource, takes: Map<number, number[]> | undefined): Promise<Clash[]> {
    const clashes: Clash[] = [];
    for await (const page of items()) clashes.push(...(await this.addResults(page)));
    // A new index is built when the documents are written.
    if (this.results.size > 0) clashes.push(...(await this.addStaying(this.indexed ? takes : undefined)));
    return clashes;
  }

  private async addResults(page: readonly PlanItemRecord[]): Promise<Clash[]> {
    const changed = page.filter(({ expect, result }) => changesKeys(expect, result, this.index));
    for (const { index, key, expect } of changed) if (expect) this.leaving.set(keyText(key), index);
    const added = changed.filter(({ result }) => result);
    const parts = added.map(({ result }) => indexedPart(result!, this.index));
    const refused = new Set(await this.rehearsal.admit(parts));
    added.forEach((item, at) => {
      if (!refused.has(at)) this.results.set(keyText(item.key), memberOf(item));
    });
    const clashes: Clash[] = [];
    for (const at of refused) {
      const holder = await this.rehearsal.holderOf(parts[at]!, this.index);
      const other = holder && this.results.get(keyText(field(holder, '_id')!));
      clashes.push(this.clash(added[at]!, other?.key));
      if (other) clashes.push(this.clash(other, added[at]!.key));
    }
    return clashes;
  }

  private async addStaying(takes: Map<number, number[]> | undefined): Promise<Clash[]> {
    const clashes: Clash[] = [];
    for await (const batch of this.rehearsal.documents(candidateBatch)) {
      const results = batch.filter((each) => this.results.has(keyText(field(each, '_id')!)));
      if (results.length === 0) continue;
      const found = await findCandidates(this.side, results, this.index, this.indexed);
      for (const document of found) {
        const id = keyText(field(document, '_id')!);
        if (this.leaving.has(id) || this.staying.has(id)) continue;
        clashes.push(...(await this.stay(document)));
      }
      const givers = found.filter((document) => this.leaving.has(idText(document)));
      if (takes && givers.length > 0) await this.noteTakes(results, givers, takes);
    }
    return clashes;
  }

  /** Which of these results take a key that one of the documents holds. What is equal under a collation the server tells. */
  private async noteTakes(
    results: readonly Uint8Array[],
    givers: readonly Uint8Array[],
    takes: Map<number, number[]>,
  ): Promise<void> {
    const isSimple = this.index.collation['locale'] === 'simple';
    const shared = isSimple ? sharers(results, givers, this.index) : undefined;
    for (const [at, result] of results.entries()) {
      const own = idText(result);
      const from = shared
        ? shared[at]!.map((place) => givers[place]!)
        : await findCandidates(this.side, [result], this.index, this.indexed);
      const items = from
        .map(idText)
        .filter((id) => id !== own)
        .flatMap((id) => this.leaving.get(id) ?? []);
      const taker = this.results.get(own)?.index;
      if (taker !== undefined && items.length > 0) takes.set(taker, [...(takes.get(taker) ?? []), ...items]);
    }
  }

  /** An item is left out: what its document is now stays. @returns who clashes with that */
  async withdraw({ key }: Pick<PlanItemRecord, 'key'>, current: Uint8Array | undefined): Promise<Clash[]> {
    const id = keyText(key);
    if (this.results.delete(id)) await this.rehearsal.remove(key);
    if (!current || !this.leaving.delete(id)) return [];
    return this.stay(current);
  }

  /** Puts a document of the parent in; results that keep it out clash with it and go. */
  private async stay(document: Uint8Array): Promise<Clash[]> {
    const part = indexedPart(document, this.index);
    const id = field(document, '_id')!;
    this.staying.add(keyText(id));
    const clashes: Clash[] = [];
    while ((await this.rehearsal.admit([part])).length > 0) {
      const holder = await this.rehearsal.holderOf(part, this.index);
      const member = holder && this.results.get(keyText(field(holder, '_id')!));
      if (!member) break;
      clashes.push(this.clash(member, id));
      this.results.delete(keyText(member.key));
      await this.rehearsal.remove(member.key);
    }
    return clashes;
  }

  private clash(item: Member, other: BsonValue | undefined): Clash {
    const { ns, name } = this.index;
    const second = other ? documentName(ns, other) : 'another document';
    return {
      item: memberOf(item),
      text: `${documentName(ns, item.key)} and ${second} would share a key of the unique index ${name}.`,
    };
  }
}

function idText(document: Uint8Array): string {
  return keyText(field(document, '_id')!);
}

function memberOf({ index, key, ns }: Member): Member {
  return { index, key, ns };
}
