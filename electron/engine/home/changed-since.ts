import { BSON, type Binary, type Document } from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { rawReadAll } from '../mongod/raw.ts';
import type { Home } from './home.ts';
import { changesOf } from './past.ts';
import { engineActor } from './records.ts';
import { schemaEventsOf } from './schema-events.ts';
import { keyFrom } from './stored-key.ts';

/** Documents of one collection that changed after a sequence. */
export interface ChangedCount {
  readonly uuid: Uint8Array;
  readonly count: number;
  /** Of so many the engine itself wrote the last change: an adoption, an undo, a restore. */
  readonly byEngine: number;
}

/** A document with the sequences of its first and its last change. */
export interface ChangedDocument {
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  readonly first: number;
  readonly last: number;
}

const ofDocument = { k: { $exists: true } };

/** Each document that changed after a sequence once; what `which` takes besides, all as one that has no `_id`. */
function documentsAfter(seq: number, which: Document = ofDocument): Document[] {
  return [
    { $match: { _id: { $gt: seq }, ...which } },
    { $sort: { _id: 1 } },
    {
      $group: {
        _id: { u: '$u', k: '$k' },
        first: { $first: '$_id' },
        last: { $last: '$_id' },
        byEngine: { $last: { $eq: ['$c', engineActor] } },
      },
    },
  ];
}

/** How many documents of a branch changed after a sequence, by collection, and whether an import into it was begun. */
export async function countChangedAfter(
  home: Home,
  branchId: string,
  seq: number,
): Promise<{ readonly changed: ChangedCount[]; readonly hasImport: boolean }> {
  const groups = await home.history
    .collection(changesOf(branchId))
    .aggregate<{ _id?: Binary | null; count: number; byEngine: number }>([
      ...documentsAfter(seq, { $or: [ofDocument, { o: 'import' }] }),
      { $group: { _id: '$_id.u', count: { $sum: 1 }, byEngine: { $sum: { $cond: ['$byEngine', 1, 0] } } } },
    ])
    .toArray();
  const changed = groups.flatMap(({ _id, ...counts }) => (_id ? [{ uuid: _id.buffer, ...counts }] : []));
  return { changed, hasImport: changed.length < groups.length };
}

/** The documents of which the engine wrote the last change after a sequence. */
export async function changedByEngineAfter(home: Home, branchId: string, seq: number): Promise<ChangedDocument[]> {
  const pipeline = [
    ...documentsAfter(seq),
    { $match: { byEngine: true } },
    { $project: { _id: 0, u: '$_id.u', k: '$_id.k', f: '$first', l: '$last' } },
  ];
  const found = await rawReadAll(home.history, { aggregate: changesOf(branchId), pipeline, cursor: {} });
  return found.map((bytes) => {
    const { u, f, l } = BSON.deserialize(bytes, { validation: { utf8: false } }) as { u: Binary; f: number; l: number };
    return { uuid: u.buffer, key: keyFrom(field(bytes, 'k')!), first: f, last: l };
  });
}

/** The sequence of a branch's last schema event; 0 where there is none. */
export async function lastSchemaEvent(home: Home, branchId: string): Promise<number> {
  const events = home.history.collection<{ _id: number }>(schemaEventsOf(branchId));
  return Number((await events.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } }))?._id ?? 0);
}
