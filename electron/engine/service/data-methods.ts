import type { CollectionInfo } from '../../../shared/api.ts';
import { documentValue, fromBase64, toBase64 } from '../../../shared/bson/value.ts';
import { browseCollections, type BrowsedCollection } from '../browse/collections.ts';
import { browseDocuments } from '../browse/documents.ts';
import { settleNow } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import { touchedId } from '../home/touched-id.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import { uuidOf } from './change-methods.ts';
import type { Methods } from './service.ts';

const pageDefault = 50;

export const dataMethods: Methods<'data.collections' | 'data.documents' | 'data.lastWrites'> = {
  async 'data.collections'({ workspace }, { branch: name }) {
    const branch = await workspace.branch(name);
    const databases = new Map<string, CollectionInfo[]>();
    for (const collection of await browseCollections(branch.client)) {
      const known = databases.get(collection.db) ?? [];
      databases.set(collection.db, [...known, present(collection)]);
    }
    return { databases: [...databases].map(([db, collections]) => ({ name: db, collections })) };
  },

  async 'data.documents'({ workspace }, { branch: name, ns, filter, sort, skip, after, limit }, { signal }) {
    const branch = await workspace.branch(name);
    const [db, collection] = splitNamespace(ns);
    const { documents, next } = await browseDocuments(branch.client, {
      db,
      name: collection,
      filter,
      sort,
      skip: skip ?? 0,
      after,
      limit: limit ?? pageDefault,
      signal,
    });
    return {
      documents: documents.map((document) => toBase64(documentValue(document))),
      ...(next === undefined ? {} : { next }),
    };
  },

  async 'data.lastWrites'({ workspace }, { branch: name, ns, ids }) {
    const branch = await workspace.branch(name);
    const uuid = await uuidOf(branch, ns);
    if (uuid === undefined) return { writes: [] };
    await settleNow(branch);
    const rows = await branch.history.touched.rows(ids.map((id) => touchedId(uuid, fromBase64(id))));
    const last = await branch.history.changes.bySeq(
      rows.map((row) => row.last),
      {},
    );
    return {
      writes: rows.flatMap((row) => {
        const change = last.get(row.last);
        return change === undefined ? [] : [presentWrite(row, change)];
      }),
    };
  },
};

function presentWrite({ key }: TouchedRecord, { wall, actor, actors }: ChangeRecord) {
  return {
    id: toBase64(key),
    time: wall.toISOString(),
    ...(actor === undefined ? {} : { actor }),
    ...(actors ? { actors: [...actors] } : {}),
  };
}

function present({
  db,
  name,
  type,
  documents,
  sizeBytes,
  indexes,
  options,
  validator,
}: BrowsedCollection): CollectionInfo {
  return {
    ns: `${db}.${name}`,
    name,
    type,
    ...(documents === undefined ? {} : { documents }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    indexes: indexes.map((index) => ({
      name: index.name,
      spec: toBase64(index.spec),
      ...(index.sizeBytes === undefined ? {} : { sizeBytes: index.sizeBytes }),
    })),
    options: toBase64(options),
    ...(validator ? { validator: toBase64(validator) } : {}),
  };
}
