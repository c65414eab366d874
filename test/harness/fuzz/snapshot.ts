import type { MongoClient } from 'mongodb';
import { toEjson } from '../../../shared/bson/ejson.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentBytes, documentValue, fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { Change } from '../../../shared/api.ts';
import { rawFindAll } from '../../../electron/engine/mongod/raw.ts';
import { database } from './operations.ts';

/** Every document of the fuzzed database as bytes, by `collection/key`. */
export type Snapshot = Map<string, Uint8Array>;

export async function snapshot(client: MongoClient): Promise<Snapshot> {
  const all: Snapshot = new Map();
  const db = client.db(database);
  for (const { name } of await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()) {
    for (const document of await rawFindAll(db, { collection: name, filter: {} })) {
      all.set(`${database}.${name}/${keyText(field(document, '_id')!)}`, document);
    }
  }
  return all;
}

/** What differs between two moments: each document's bytes before and after. */
export type NetEffect = Map<string, { before: Uint8Array | undefined; after: Uint8Array | undefined }>;

export function exactDifference(before: Snapshot, after: Snapshot): NetEffect {
  const effect: NetEffect = new Map();
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const sides = { before: before.get(id), after: after.get(id) };
    if (!sameBytes(sides.before, sides.after)) effect.set(id, sides);
  }
  return effect;
}

/**
 * What a history says was changed: each document's first before-image and last after-image. Fails where a change does
 * not begin where the one before it ended.
 */
export function recordedEffect(changes: readonly Change[]): NetEffect {
  const effect: NetEffect = new Map();
  for (const change of changes) {
    if (change.id === undefined || change.ns === undefined) continue;
    const id = `${change.ns}/${keyText(fromBase64(change.id))}`;
    const before = change.before === undefined ? undefined : documentBytes(fromBase64(change.before));
    const after = change.after === undefined ? undefined : documentBytes(fromBase64(change.after));
    const known = effect.get(id);
    if (known && !sameBytes(known.after, before)) {
      throw new Error(
        `change ${change.seq} (${change.op} ${id}) begins with ${text(before)}, the one before it ended with ${text(known.after)}`,
      );
    }
    if (known) known.after = after;
    else effect.set(id, { before, after });
  }
  for (const [id, { before, after }] of effect) if (sameBytes(before, after)) effect.delete(id);
  return effect;
}

/** Where two effects differ, in words; empty where they are the same by bytes. */
export function effectDifferences(recorded: NetEffect, exact: NetEffect): string[] {
  const differences: string[] = [];
  for (const id of new Set([...recorded.keys(), ...exact.keys()])) {
    const [a, b] = [recorded.get(id), exact.get(id)];
    if (a && b && sameBytes(a.before, b.before) && sameBytes(a.after, b.after)) continue;
    differences.push(
      `${id}: recorded ${text(a?.before)} → ${text(a?.after)}, really ${text(b?.before)} → ${text(b?.after)}`,
    );
  }
  return differences;
}

function text(document: Uint8Array | undefined): string {
  return document ? toEjson(documentValue(document)) : 'nothing';
}

/** The server's own fingerprint of the fuzzed database: names and contents of all its collections. */
export async function databaseHash(client: MongoClient): Promise<unknown> {
  const { collections, md5 } = await client.db(database).command({ dbHash: 1 });
  return { collections: collections as unknown, md5: md5 as unknown };
}
