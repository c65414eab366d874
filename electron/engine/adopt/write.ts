import { MongoServerError, type ClientSession, type MongoClient } from 'mongodb';
import { shellText } from '../../../shared/bson/ejson.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { shownNamespace } from '../changes/catalog.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanItemRecord } from '../home/plans.ts';
import { driverValue, rawFind, rawWrite, type WriteProblem } from '../mongod/raw.ts';
import { byNamespace } from './checks.ts';
import {
  deleteStatement,
  hasZeroTime,
  isReplaceable,
  unwritable,
  updateStatement,
  withoutZeroTimes,
} from './exact-write.ts';

/** A document that is not what the plan expects. */
export interface Moved {
  readonly ns: string;
  readonly id?: BsonValue;
}

/** Documents moved since the plan was made: nothing of it is written. */
export class StalePlan extends Error {
  readonly moved: readonly Moved[];

  constructor(moved: readonly Moved[]) {
    super('the plan is stale');
    this.moved = moved;
  }
}

/** How a plan's documents are written. */
export interface WriteOptions {
  /** Every document of the plan is removed before the first one is written: values that swap places never meet. */
  readonly removeFirst: boolean;
  /** Whether documents of this collection are written past its validator. */
  readonly pastValidator: (ns: string) => boolean;
}

/** What was there before comes back in any case, also where a validator would not take it today. */
export const asItWas: WriteOptions = { removeFirst: false, pastValidator: () => true };

/** A write would break a unique index in this order: the whole is tried again with every document removed first. */
export class OrderMatters extends Error {}

const duplicateKey = 11000;

/**
 * Compares documents, read raw, with what the plan expects of them.
 * @throws StalePlan naming every one that differs
 */
export async function checkItems(
  client: MongoClient,
  session: ClientSession,
  items: readonly PlanItemRecord[],
): Promise<void> {
  const moved: Moved[] = [];
  for (const [ns, group] of byNamespace(items)) {
    const current = await readInSession(client, session, ns, group);
    for (const item of group) {
      if (!sameBytes(current.get(keyText(item.key)), item.expect)) moved.push({ ns, id: item.key });
    }
  }
  if (moved.length > 0) throw new StalePlan(moved);
}

/**
 * Writes items inside an open transaction: each document is checked, written with its exact bytes, read back and
 * compared with what the plan leaves. The caller commits.
 * @throws StalePlan, OrderMatters, ForkyardError `not_writable_exactly` or `write_refused`
 */
export async function writeItems(
  client: MongoClient,
  session: ClientSession,
  items: readonly PlanItemRecord[],
  options: WriteOptions,
): Promise<void> {
  await checkItems(client, session, items);
  const groups = byNamespace(items);
  for (const [ns, group] of groups) await writeGroup(client, session, ns, group, options);
  for (const [ns, group] of groups) {
    const current = await readInSession(client, session, ns, group);
    for (const item of group) {
      if (!sameBytes(current.get(keyText(item.key)), item.result)) throw notExact(ns, item);
    }
  }
}

async function readInSession(
  client: MongoClient,
  session: ClientSession,
  ns: string,
  group: readonly PlanItemRecord[],
) {
  const [db, collection] = splitNamespace(ns);
  const found = new Map<string, Uint8Array>();
  for (let start = 0; start < group.length; start += 5_000) {
    const keys = group.slice(start, start + 5_000).map((item) => driverValue(item.key));
    for await (const batch of rawFind(client.db(db), { collection, filter: { _id: { $in: keys } } }, { session })) {
      for (const document of batch) {
        const id = field(document, '_id');
        if (id) found.set(keyText(id), document);
      }
    }
  }
  return found;
}

async function writeGroup(
  client: MongoClient,
  session: ClientSession,
  ns: string,
  group: readonly PlanItemRecord[],
  { removeFirst, pastValidator }: WriteOptions,
): Promise<void> {
  const past = pastValidator(ns) ? { bypassDocumentValidation: true } : {};
  const [db, collection] = splitNamespace(ns);
  const deletes: PlanItemRecord[] = [];
  const updates: { item: PlanItemRecord; statement: Uint8Array }[] = [];
  const inserts: PlanItemRecord[] = [];
  const literals: PlanItemRecord[] = [];
  for (const item of group) {
    const why = unwritable(item);
    if (why !== undefined) throw notWritable(ns, item, why);
    const { expect, result } = item;
    const zeroTime = result !== undefined && hasZeroTime(result);
    if (expect && result && !removeFirst && isReplaceable(expect, result, zeroTime)) {
      updates.push({ item, statement: updateStatement(item, zeroTime) });
      continue;
    }
    if (expect) deletes.push(item);
    if (result) inserts.push(item);
    if (zeroTime) literals.push(item);
  }
  const run = async (
    command: 'delete' | 'update' | 'insert',
    name: 'deletes' | 'updates' | 'documents',
    statements: readonly Uint8Array[],
    of: (index: number) => PlanItemRecord | undefined,
  ) => {
    if (statements.length === 0) return;
    try {
      const { problems } = await rawWrite(
        client.db(db),
        { [command]: collection, ...(command === 'delete' ? {} : past) },
        { name, items: statements },
        { session },
      );
      if (problems[0]) throw refused(ns, of(problems[0].index), problems[0], removeFirst);
    } catch (error) {
      if (error instanceof MongoServerError && Number(error.code) === duplicateKey && !removeFirst)
        throw new OrderMatters();
      throw error;
    }
  };
  await run('delete', 'deletes', deletes.map(deleteStatement), (index) => deletes[index]);
  await run(
    'update',
    'updates',
    updates.map(({ statement }) => statement),
    (index) => updates[index]?.item,
  );
  await run(
    'insert',
    'documents',
    inserts.map(({ result }) => withoutZeroTimes(result!)),
    (index) => inserts[index],
  );
  await run(
    'update',
    'updates',
    literals.map((item) => updateStatement(item, true)),
    (index) => literals[index],
  );
}

function refused(ns: string, item: PlanItemRecord | undefined, problem: WriteProblem, removeFirst: boolean): Error {
  if (problem.code === duplicateKey && !removeFirst) return new OrderMatters();
  const shown = shownNamespace(ns);
  const which = item ? `${shellText(item.key)} of ${shown}` : `A document of ${shown}`;
  const index = /index: (\S+)/.exec(problem.message)?.[1];
  const why =
    problem.code === duplicateKey
      ? `another document already has its key in the unique index ${index ?? ''}`.trimEnd()
      : problem.code === 121
        ? 'the validator of the collection refuses it'
        : problem.message;
  return new ForkyardError('write_refused', `${which} was not written: ${why}. Nothing of the plan was applied.`, {
    hint: 'Leave the document out, or change it in one of the two branches.',
    details: { ns: shown, ...(item ? { id: toBase64(item.key) } : {}) },
  });
}

function notWritable(ns: string, item: PlanItemRecord, why: string): ForkyardError {
  return new ForkyardError(
    'not_writable_exactly',
    `${shellText(item.key)} of ${shownNamespace(ns)} cannot be written byte for byte: ${why}. Nothing of the plan was applied.`,
    { hint: 'Leave this document out of the selection.' },
  );
}

function notExact(ns: string, item: PlanItemRecord): ForkyardError {
  return new ForkyardError(
    'not_writable_exactly',
    `The server would not keep ${shellText(item.key)} of ${shownNamespace(ns)} byte for byte. Nothing of the plan was applied.`,
    { hint: 'Leave this document out of the selection.' },
  );
}
