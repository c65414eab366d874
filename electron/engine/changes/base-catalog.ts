import { Binary, type MongoClient } from 'mongodb';
import type { Home } from '../home/home.ts';
import { listCatalog } from '../mongod/catalog.ts';
import { withAgreed, type Agreement } from './agreed.ts';
import { hashAdmin, parseCatalog, type Catalog } from './catalog.ts';

interface StoredSchema {
  _id: string;
  entries: Binary[];
  /** What `admin` held in ordinary collections, which no stream shows. */
  adminHash: string;
  agreed?: Agreement[];
}

/** Keeps a branch's catalog at its fork: the base of every schema comparison. */
export async function storeBaseCatalog(home: Home, branchId: string, client: MongoClient): Promise<Catalog> {
  const entries = await listCatalog(client);
  const adminHash = await hashAdmin(client);
  await home.catalog
    .collection<StoredSchema>('schemas')
    .replaceOne({ _id: branchId }, { entries: entries.map((entry) => new Binary(entry)), adminHash }, { upsert: true });
  return parseCatalog(entries);
}

/** A branch's base: its catalog at the fork, and with what was agreed since. */
export async function loadBaseCatalog(
  home: Home,
  branchId: string,
): Promise<{ atFork: Catalog; catalog: Catalog; adminHash: string }> {
  const stored = await home.catalog.collection<StoredSchema>('schemas').findOne({ _id: branchId });
  const entries = stored?.entries.map((entry) => entry.buffer as Uint8Array) ?? [];
  const atFork = parseCatalog(entries);
  return { atFork, catalog: withAgreed(atFork, stored?.agreed ?? []), adminHash: stored?.adminHash ?? '' };
}
