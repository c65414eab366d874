import { Long, type Document, type MongoClient } from 'mongodb';
import { rawCursorCommand } from './raw.ts';

/**
 * Everything the server knows of its collections, views and indexes, in one command, as bytes.
 * `$listCatalog` needs MongoDB 6.0.
 */
export async function listCatalog(client: MongoClient, match: Document = {}): Promise<Uint8Array[]> {
  const db = client.db('admin');
  const session = client.startSession();
  try {
    const pipeline = [{ $listCatalog: {} }, { $match: { db: { $nin: ['admin', 'local', 'config'] }, ...match } }];
    let reply = await rawCursorCommand(db, { aggregate: 1, pipeline, cursor: { batchSize: 10_000 } }, { session });
    const all = [...reply.documents];
    while (reply.id !== 0n) {
      reply = await rawCursorCommand(db, { getMore: Long.fromBigInt(reply.id), collection: reply.name }, { session });
      all.push(...reply.documents);
    }
    return all;
  } finally {
    await session.endSession();
  }
}
