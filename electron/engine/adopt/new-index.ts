import { MongoServerError, type Document } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { Side } from '../changes/side.ts';
import { readByKey, splitNamespace } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { driverValue, rawReadAll } from '../mongod/raw.ts';
import { Rehearsal } from './rehearsal.ts';
import { indexedPart, type UniqueIndex } from './unique-keys.ts';

/** A look through a whole collection ends after this: the server that builds the index has the last word. */
export const lookMs = 20_000;
const maxTimeExpired = 50;
const groups = 20;

export interface Duplicates {
  readonly pairs: readonly (readonly [BsonValue, BsonValue])[];
  /** False where the collection is too large to be looked through in time. */
  readonly whole: boolean;
}

/**
 * Documents of a branch that a new unique index would refuse: the server groups by values, and what shares one is tried
 * against the index itself.
 * @param leaving the `_id`s of documents that a plan writes, by {@link keyText}: they are judged with the plan
 */
export async function findDuplicates(
  home: Home,
  side: Side,
  index: UniqueIndex,
  leaving: ReadonlyMap<string, BsonValue>,
): Promise<Duplicates> {
  const [db, collection] = splitNamespace(index.ns);
  const command: Document = {
    aggregate: collection,
    pipeline: [...without([...leaving.values()]), ...groupsByValue(index)],
    cursor: {},
    collation: index.collation,
    allowDiskUse: true,
    maxTimeMS: lookMs,
  };
  let found: Uint8Array[];
  try {
    found = await rawReadAll(side.client.db(db), command);
  } catch (error) {
    if (error instanceof MongoServerError && Number(error.code) === maxTimeExpired) return { pairs: [], whole: false };
    throw error;
  }
  const pairs: [BsonValue, BsonValue][] = [];
  // Of so many that were not left out, one may stand in the place of two that share a value.
  let whole = true;
  for (const group of found) {
    const ids = [field(group, 'first')!, field(group, 'last')!] as const;
    if (ids.some((id) => leaving.has(keyText(id)))) {
      whole = false;
      continue;
    }
    const documents = [...(await readByKey(side, index.ns, ids)).values()];
    if (await shareKey(home, index, documents)) pairs.push([ids[0], ids[1]]);
  }
  return { pairs, whole };
}

/** More would not go into one command. */
const mostLeftOut = 50_000;

function without(keys: readonly BsonValue[]): Document[] {
  return keys.length === 0 || keys.length > mostLeftOut ? [] : [{ $match: { _id: { $nin: keys.map(driverValue) } } }];
}

/** Groups of documents that could share a key: by each path's values, arrays taken apart as deep as the path goes. */
function groupsByValue({ paths, partial, sparse }: UniqueIndex): Document[] {
  const names = paths.map((_, at) => `p${at}`);
  const project = Object.fromEntries(paths.map((path, at) => [names[at]!, `$${path}`]));
  const unwind = paths.flatMap((path, at) =>
    path.split('.').map(() => ({ $unwind: { path: `$${names[at]}`, preserveNullAndEmptyArrays: true } })),
  );
  return [
    ...(partial ? [{ $match: partial }] : []),
    ...(sparse ? [{ $match: { $or: paths.map((path) => ({ [path]: { $exists: true } })) } }] : []),
    { $project: project },
    ...unwind,
    {
      $group: {
        _id: Object.fromEntries(names.map((name) => [name, { $ifNull: [`$${name}`, null] }])),
        first: { $min: '$_id' },
        last: { $max: '$_id' },
      },
    },
    { $match: { $expr: { $ne: ['$first', '$last'] } } },
    { $sort: { first: 1 } },
    { $limit: groups },
  ];
}

async function shareKey(home: Home, index: UniqueIndex, documents: readonly Uint8Array[]): Promise<boolean> {
  const rehearsal = await Rehearsal.withIndex(home, index);
  try {
    return (await rehearsal.admit(documents.map((document) => indexedPart(document, index)))).length > 0;
  } finally {
    await rehearsal.close();
  }
}
