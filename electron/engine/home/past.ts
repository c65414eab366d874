import type { Document } from 'mongodb';
import { rawFind } from '../mongod/raw.ts';
import { decodeChange, decodeTouched } from './encode.ts';
import type { Home } from './home.ts';
import type { ChangeRecord, TouchedRecord } from './records.ts';

export function changesOf(branchId: string): string {
  return `changes_${branchId}`;
}

export function touchedOf(branchId: string): string {
  return `touched_${branchId}`;
}

/** A change without its images. */
export type Mark = Omit<ChangeRecord, 'before' | 'after'>;

/** Changes with `after < seq <= upTo` that match, ascending, without their images: what happened, not what it left. */
export async function* marks(
  home: Home,
  branchId: string,
  range: { readonly after: number; readonly upTo: number },
  filter: Document = {},
): AsyncGenerator<Mark[]> {
  const query = {
    collection: changesOf(branchId),
    filter: { _id: { $gt: range.after, $lte: range.upTo }, ...filter },
    projection: { a: 0, b: 0, r: 0 },
    sort: { _id: 1 },
    batchSize: 5_000,
  };
  for await (const batch of rawFind(home.history, query)) yield batch.map(decodeChange);
}

/** Documents that imports after `seq` brought, where their keys were kept; without their bases. */
export async function* importedAfter(
  home: Home,
  branchId: string,
  seq: number,
): AsyncGenerator<Omit<TouchedRecord, 'base'>[]> {
  const query = { collection: touchedOf(branchId), filter: { im: { $gt: seq } }, batchSize: 5_000 };
  for await (const batch of rawFind(home.history, query)) yield batch.map(decodeTouched);
}

/** Writes within one stretch of time. */
export interface TrackBar {
  /** Which stretch, from 0. */
  readonly index: number;
  /** Its last change. */
  readonly seq: number;
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
  readonly gap: boolean;
}

const added = ['insert', 'create', 'createIndexes', 'import'];
const removed = ['delete', 'drop', 'dropDatabase', 'dropIndexes'];

/** How much was written when: the time from `from` to `to` cut into stretches, those with changes, in order. */
export async function track(
  home: Home,
  branchId: string,
  { from, to, stretches }: { readonly from: Date; readonly to: Date; readonly stretches: number },
): Promise<TrackBar[]> {
  const length = Math.max(1, to.getTime() - from.getTime());
  const at = { $floor: { $multiply: [{ $divide: [{ $subtract: ['$w', from] }, length] }, stretches] } };
  const when = (test: Document) => ({ $sum: { $cond: [test, 1, 0] } });
  const bars = await home.history
    .collection(changesOf(branchId))
    .aggregate<Omit<TrackBar, 'index' | 'gap'> & { _id: number; gaps: number }>([
      { $match: { w: { $gte: from, $lte: to } } },
      {
        $group: {
          _id: { $min: [stretches - 1, at] },
          seq: { $max: '$_id' },
          added: when({ $in: ['$o', added] }),
          removed: when({ $in: ['$o', removed] }),
          modified: when({ $not: [{ $in: ['$o', [...added, ...removed, 'gap']] }] }),
          gaps: when({ $eq: ['$o', 'gap'] }),
        },
      },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  return bars.map(({ _id, gaps, ...bar }) => ({ index: _id, ...bar, gap: gaps > 0 }));
}

/** The newest change at a time or before it; looked for from the end. */
export async function lastMarkAt(
  home: Home,
  branchId: string,
  where: { readonly time: Date } | { readonly seq: number },
): Promise<Mark | undefined> {
  const filter = 'seq' in where ? { _id: { $lte: where.seq } } : { w: { $lte: where.time } };
  const query = {
    collection: changesOf(branchId),
    filter,
    projection: { a: 0, b: 0, r: 0 },
    sort: { _id: -1 },
    limit: 1,
  };
  for await (const [bytes] of rawFind(home.history, query)) return bytes && decodeChange(bytes);
  return undefined;
}
