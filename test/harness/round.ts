import { createHash } from 'node:crypto';
import { BSON, type Document, type MongoClient } from 'mongodb';
import { expect } from 'vitest';
import type { Change, DocumentChange, Output } from '../../shared/api.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { documentValue } from '../../shared/bson/value.ts';
import { field } from '../../shared/bson/walk.ts';
import { rawWrite } from '../../electron/engine/mongod/raw.ts';
import { ejson } from './bson.ts';
import type { TestYard } from './in-process.ts';
import { allChanges } from './settled.ts';

/** Documents by `_id` as Extended JSON: each as text and, since text cannot show all, its exact bytes' hash. */
export type Contents = Map<string, string>;

export async function contents(client: MongoClient, ns: string): Promise<Contents> {
  const [db, collection] = split(ns);
  // By the driver's own way to bytes, not by the engine's: that is what is being tested.
  const found = client
    .db(db)
    .collection(collection)
    .find({}, { raw: true, sort: { _id: 1 } });
  const documents = (await found.toArray()) as unknown as Uint8Array[];
  return new Map(documents.map((bytes) => [toEjson(field(bytes, '_id')!), shown(bytes)]));
}

function shown(bytes: Uint8Array): string {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return `${bytes.length > 2_000 ? `${bytes.length} bytes` : toEjson(documentValue(bytes))} ${hash}`;
}

/** Inserts documents, given as bytes or as what the driver serialises. */
export async function insertExactly(
  client: MongoClient,
  ns: string,
  documents: readonly (Uint8Array | Document)[],
): Promise<void> {
  const [db, collection] = split(ns);
  const items = documents.map((each) =>
    each instanceof Uint8Array ? each : BSON.serialize(each, { ignoreUndefined: false }),
  );
  const { problems } = await rawWrite(client.db(db), { insert: collection }, { name: 'documents', items });
  expect(problems).toEqual([]);
}

export function split(ns: string): [db: string, collection: string] {
  const dot = ns.indexOf('.');
  return [ns.slice(0, dot), ns.slice(dot + 1)];
}

export interface RoundOptions {
  /** `database.collection`, used by this round alone. */
  readonly ns: string;
  /** What main holds at the fork. */
  readonly documents: readonly (Uint8Array | Document)[];
  /** What happens in the sandbox. */
  readonly edit: (sandbox: MongoClient) => Promise<unknown>;
}

export interface Round {
  readonly diff: Output<'diff.get'>;
  readonly changes: readonly Change[];
}

let rounds = 0;

/**
 * Fork → edit → diff → adopt → undo, with main's bytes compared at every step: after the adoption they are the
 * sandbox's, after the undo those from before.
 */
export async function round(yard: TestYard, { ns, documents, edit }: RoundOptions): Promise<Round> {
  const branch = `round-${(rounds += 1)}`;
  const main = await yard.client('main');
  await insertExactly(main, ns, documents);
  const before = await contents(main, ns);
  await yard.fork(branch, { ttlMs: null });
  const sandbox = await yard.client(branch);
  expect(await contents(sandbox, ns)).toEqual(before);

  await edit(sandbox);
  const wanted = await contents(sandbox, ns);
  const changes = await allChanges(yard, branch);
  const diff = await yard.call('diff.get', { branch });
  expect(diff).toMatchObject({ complete: true, gaps: [] });
  const { entry } = await yard.call('plan.adopt', { branch });
  expect(await contents(main, ns)).toEqual(wanted);
  expect((await yard.call('diff.get', { branch })).documents).toEqual([]);
  await yard.call('log.undo', { entry: entry! });
  expect(await contents(main, ns)).toEqual(before);
  expect((await yard.call('diff.get', { branch })).documents).toEqual(diff.documents);
  await yard.call('branches.discard', { branch, now: true });
  return { diff, changes };
}

/** The fields of one changed document as `[path, base, branch]`, the values as Extended JSON. */
export function fieldRows(diff: Output<'diff.get'>, id?: unknown): [path: (string | number)[], unknown, unknown][] {
  const document = documentOf(diff, id);
  return document.fields.map(({ path, base, branch }) => [path, ejson(base), ejson(branch)]);
}

/** One changed document of a diff, by the Extended JSON of its `_id`; without one the only document there is. */
export function documentOf(diff: Output<'diff.get'>, id?: unknown): DocumentChange {
  const found =
    id === undefined
      ? diff.documents
      : diff.documents.filter((each) => JSON.stringify(ejson(each.id)) === JSON.stringify(id));
  expect(found).toHaveLength(1);
  return found[0]!;
}
