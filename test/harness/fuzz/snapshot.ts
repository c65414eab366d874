import { BSON, type MongoClient } from 'mongodb';
import { toEjson } from '../../../shared/bson/ejson.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentValue, sameBytes } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { rawFindAll } from '../../../electron/engine/mongod/raw.ts';
import { database } from './operations.ts';
import { schemaDatabases } from './schema-operations.ts';

const databases = [database, ...schemaDatabases];

/** Every document of the fuzzed databases as bytes, by namespace and key; collections without any are left out. */
export type Snapshot = Map<string, ReadonlyMap<string, Uint8Array>>;

export async function snapshot(client: MongoClient): Promise<Snapshot> {
  const all: Snapshot = new Map();
  for (const each of databases) {
    const db = client.db(each);
    for (const { name } of await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()) {
      if (name.startsWith('system.')) continue;
      const documents = await rawFindAll(db, { collection: name, filter: {} });
      if (documents.length === 0) continue;
      all.set(`${each}.${name}`, new Map(documents.map((bytes) => [keyText(field(bytes, '_id')!), bytes])));
    }
  }
  return all;
}

/** What differs between two moments: each document's bytes before and after, by `namespace/key`. */
export type NetEffect = Map<string, { before: Uint8Array | undefined; after: Uint8Array | undefined }>;

export function exactDifference(before: Snapshot, after: Snapshot): NetEffect {
  const effect: NetEffect = new Map();
  for (const ns of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(ns), after.get(ns)];
    for (const key of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
      const sides = { before: old?.get(key), after: now?.get(key) };
      if (!sameBytes(sides.before, sides.after)) effect.set(`${ns}/${key}`, sides);
    }
  }
  return effect;
}

/** A document in words. */
export function documentText(document: Uint8Array | undefined): string {
  return document ? toEjson(documentValue(document)) : 'nothing';
}

/** Where two snapshots differ, in words; empty where they are the same by bytes. */
export function snapshotDifferences(found: Snapshot, wanted: Snapshot): { ns: string; text: string }[] {
  return [...exactDifference(wanted, found)].map(([id, { before, after }]) => ({
    ns: id.slice(0, id.indexOf('/')),
    text: `${documentText(after)}, not ${documentText(before)}`,
  }));
}

/**
 * The server's own fingerprint of the fuzzed databases, contents of all collections, and how each collection, view and
 * index is defined.
 */
export async function fingerprint(client: MongoClient): Promise<Map<string, string>> {
  const prints = new Map<string, string>();
  for (const each of databases) {
    const db = client.db(each);
    const { collections } = (await db.command({ dbHash: 1 })) as { collections: Record<string, string> };
    for (const [name, hash] of Object.entries(collections)) {
      if (!name.startsWith('system.')) prints.set(`${each}.${name} contents`, hash);
    }
    for (const { name, type, options = {} } of (await db.listCollections().toArray()) as Listed[]) {
      if (name.startsWith('system.')) continue;
      prints.set(`${each}.${name} options`, JSON.stringify({ type, ...meaningful(options) }));
      if (type !== 'collection') continue;
      for (const index of await db.collection(name).indexes()) {
        prints.set(`${each}.${name} index ${index.name}`, BSON.EJSON.stringify(index));
      }
    }
  }
  return prints;
}

/** Without a validator its level and action say nothing, and the images are the engine's own. */
function meaningful({ changeStreamPreAndPostImages: _images, ...options }: Record<string, unknown>) {
  const { validator, validationLevel, validationAction, ...rest } = options;
  if (Object.keys(validator ?? {}).length === 0) return rest;
  return {
    ...rest,
    validator,
    validationLevel: validationLevel ?? 'strict',
    validationAction: validationAction ?? 'error',
  };
}

interface Listed {
  readonly name: string;
  readonly type?: string;
  readonly options?: Record<string, unknown>;
}

/** Where two fingerprints differ, in words. */
export function printDifferences(
  when: string,
  found: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): string[] {
  return [...new Set([...found.keys(), ...wanted.keys()])].flatMap((name) =>
    found.get(name) === wanted.get(name)
      ? []
      : [`${when}, ${name} is ${found.get(name) ?? 'not there'}, not ${wanted.get(name) ?? 'not there'}`],
  );
}
