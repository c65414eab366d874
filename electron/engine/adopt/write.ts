import { MongoServerError, type ClientSession, type MongoClient } from 'mongodb';
import { shellText } from '../../../shared/bson/ejson.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentValue, sameBytes, toBase64, Type, valueOf, type BsonValue } from '../../../shared/bson/value.ts';
import { buildArray, buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanItemRecord } from '../home/plans.ts';
import { driverValue, rawFind, rawWrite, type WriteProblem } from '../mongod/raw.ts';
import { byNamespace } from './checks.ts';

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
  for (const item of group) {
    if (!item.result) deletes.push(item);
    else if (!item.expect) inserts.push(item);
    else {
      const way = removeFirst ? 'rewrite' : wayToReplace(ns, item);
      if (way === 'rewrite') {
        deletes.push(item);
        inserts.push(item);
      } else updates.push({ item, statement: updateStatement(item, way === 'literal') });
    }
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
    inserts.map(({ result }) => result!),
    (index) => inserts[index],
  );
}

/**
 * A replacement keeps every byte, but for a top-level name that begins with a dollar (an error) and a top-level zero
 * timestamp (the server puts the time there). The first is removed and inserted; the second is set as a literal, which
 * never may hold duplicate names: the server aborts on them (seen on 6.0.5).
 */
function wayToReplace(ns: string, item: PlanItemRecord): 'replace' | 'rewrite' | 'literal' {
  const parts = elements(item.result!);
  const dollar = parts.some(({ name }) => name.startsWith('$') || name === '' || name.includes('.'));
  const zeroTime = parts.some(
    ({ value }) => value[0] === Type.Timestamp && value.every((byte, index) => index === 0 || byte === 0),
  );
  const sameId = sameBytes(field(item.expect!, '_id'), field(item.result!, '_id'));
  if (zeroTime) {
    if (hasDuplicateNames(documentValue(item.result!)) || hasDuplicateNames(documentValue(item.expect!))) {
      throw new ForkyardError(
        'not_writable_exactly',
        `${shellText(item.key)} of ${ns} holds both a zero timestamp and a field name twice; the server has no way to write it exactly.`,
        { hint: 'Leave this document out of the selection.' },
      );
    }
    return 'literal';
  }
  // An _id that equals another as the server compares (1 and 1.0) is not replaced by it.
  return dollar || !sameId ? 'rewrite' : 'replace';
}

function hasDuplicateNames(value: BsonValue): boolean {
  if (value[0] !== Type.Object && value[0] !== Type.Array) return false;
  const parts = elements(value.subarray(1));
  return (
    new Set(parts.map(({ name }) => name)).size < parts.length || parts.some((part) => hasDuplicateNames(part.value))
  );
}

function keyQuery(key: BsonValue): BsonValue {
  return documentValue(buildDocument([rawElement('_id', documentValue(buildDocument([rawElement('$eq', key)])))]));
}

function deleteStatement(item: PlanItemRecord): Uint8Array {
  return buildDocument([rawElement('q', keyQuery(item.key)), rawElement('limit', int32(1))]);
}

function updateStatement(item: PlanItemRecord, literal: boolean): Uint8Array {
  const result = documentValue(item.result!);
  const wrapped = (name: string, value: BsonValue) => documentValue(buildDocument([rawElement(name, value)]));
  const update = literal
    ? valueOf(Type.Array, buildArray([wrapped('$replaceWith', wrapped('$literal', result))]))
    : result;
  return buildDocument([rawElement('q', keyQuery(item.key)), rawElement('u', update)]);
}

function int32(value: number): BsonValue {
  return new Uint8Array([Type.Int32, value & 0xff, 0, 0, 0]);
}

function refused(ns: string, item: PlanItemRecord | undefined, problem: WriteProblem, removeFirst: boolean): Error {
  if (problem.code === duplicateKey && !removeFirst) return new OrderMatters();
  const which = item ? `${shellText(item.key)} of ${ns}` : `A document of ${ns}`;
  const index = /index: (\S+)/.exec(problem.message)?.[1];
  const why =
    problem.code === duplicateKey
      ? `another document already has its key in the unique index ${index ?? ''}`.trimEnd()
      : problem.code === 121
        ? 'the validator of the collection refuses it'
        : problem.message;
  return new ForkyardError('write_refused', `${which} was not written: ${why}. Nothing of the plan was applied.`, {
    hint: 'Leave the document out, or change it in one of the two branches.',
    details: item ? { ns, id: toBase64(item.key) } : { ns },
  });
}

function notExact(ns: string, item: PlanItemRecord): ForkyardError {
  return new ForkyardError(
    'not_writable_exactly',
    `The server would not keep ${shellText(item.key)} of ${ns} byte for byte. Nothing of the plan was applied.`,
    { hint: 'Leave this document out of the selection.' },
  );
}
