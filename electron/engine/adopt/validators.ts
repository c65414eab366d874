import { MongoServerError, type Document } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { Side } from '../changes/side.ts';
import { readByKey, splitNamespace } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import type { PlanItemRecord } from '../home/plans.ts';
import { driverValue, rawFind } from '../mongod/raw.ts';
import { lookMs } from './new-index.ts';
import { Rehearsal } from './rehearsal.ts';
import type { ItemSource } from './unique-clashes.ts';

const text = (value: BsonValue | undefined) =>
  value === undefined ? '' : new TextDecoder().decode(value.subarray(5, value.length - 1));

/** Whether the server refuses what this validator does not take. @param validation as the catalog tells it */
function refuses(validation: Uint8Array): boolean {
  return text(field(validation, 'validationAction')) !== 'warn' && text(field(validation, 'validationLevel')) !== 'off';
}

/**
 * The plan's items that a validator would not take. The documents go into a collection of home that has it; under `moderate`
 * a document that was refused before may stay so.
 */
export async function refusedItems(home: Home, validation: Uint8Array, items: ItemSource): Promise<PlanItemRecord[]> {
  if (!refuses(validation)) return [];
  const moderate = text(field(validation, 'validationLevel')) === 'moderate';
  const rehearsal = await Rehearsal.withValidator(home, validation);
  try {
    const refused: PlanItemRecord[] = [];
    for await (const page of items()) {
      const written = page.filter(({ result }) => result);
      for (const at of await rehearsal.admit(written.map(({ result }) => result!))) refused.push(written[at]!);
    }
    if (!moderate) return refused;
    const wasTaken: PlanItemRecord[] = [];
    for (const item of refused) {
      // Its result was refused, so its _id is free there.
      if (!item.expect || (await rehearsal.admit([item.expect])).length === 0) wasTaken.push(item);
    }
    return wasTaken;
  } finally {
    await rehearsal.close();
  }
}

const maxTimeExpired = 50;
const named = 20;

export interface Unfit {
  /** The first of them. */
  readonly keys: readonly BsonValue[];
  /** False where the collection is too large to be looked through in time. */
  readonly whole: boolean;
}

/**
 * Documents of the parent that the branch's validator would not take, and that the branch does not hold as they are: those it
 * had under this validator too are no news.
 * @param leaving documents that the plan writes, by {@link keyText}
 */
export async function unfitDocuments(
  parent: { readonly side: Side; readonly ns: string },
  branch: { readonly side: Side; readonly ns: string },
  validation: Uint8Array,
  leaving: ReadonlySet<string>,
): Promise<Unfit> {
  if (!refuses(validation)) return { keys: [], whole: true };
  const [db, collection] = splitNamespace(parent.ns);
  const filter: Document = { $nor: [driverValue(field(validation, 'validator')!)] };
  const keys: BsonValue[] = [];
  const started = Date.now();
  try {
    for await (const batch of rawFind(parent.side.client.db(db), { collection, filter, maxTimeMS: lookMs })) {
      const ids = batch.map((document) => field(document, '_id')!);
      const known = await readByKey(branch.side, branch.ns, ids);
      batch.forEach((document, at) => {
        const id = keyText(ids[at]!);
        if (!leaving.has(id) && !sameBytes(known.get(id), document)) keys.push(ids[at]!);
      });
      if (keys.length >= named) break;
      if (Date.now() - started > lookMs) return { keys, whole: false };
    }
  } catch (error) {
    if (error instanceof MongoServerError && Number(error.code) === maxTimeExpired) return { keys, whole: false };
    throw error;
  }
  return { keys, whole: true };
}
