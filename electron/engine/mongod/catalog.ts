import type { Document, MongoClient } from 'mongodb';
import { rawReadAll } from './raw.ts';

/**
 * Everything the server knows of its collections, views and indexes, in one command, as bytes.
 * `$listCatalog` needs MongoDB 6.0.
 */
export function listCatalog(client: MongoClient, match: Document = {}): Promise<Uint8Array[]> {
  const pipeline = [{ $listCatalog: {} }, { $match: { db: { $nin: ['admin', 'local', 'config'] }, ...match } }];
  return rawReadAll(client.db('admin'), { aggregate: 1, pipeline, cursor: { batchSize: 10_000 } });
}
