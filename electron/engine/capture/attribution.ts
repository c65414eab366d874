import type { Binary, Long, MongoClient, Timestamp } from 'mongodb';
import type { StreamEvent } from './event.ts';

/** Who wrote an event, as far as the server tells. */
export interface Author {
  /** `lsid.uid`, base64: SHA-256 of `user@db`. */
  readonly uid: string;
  /** `lsid.id`, hex: the client's session. */
  readonly session: string;
  readonly txnNumber: string;
}

/**
 * Reads the authors of a batch from the oplog: entries of retryable writes and of transactions carry the session's
 * user. Entries without one (updateMany, deleteMany) stay without. By cluster time, `t.i`.
 */
export async function authorsOf(client: MongoClient, events: readonly StreamEvent[]): Promise<Map<string, Author>> {
  const first = events[0];
  const last = events[events.length - 1];
  if (!first || !last) return new Map();
  const entries = await client
    .db('local')
    .collection('oplog.rs')
    .find<{ ts: Timestamp; lsid: { id: Binary; uid: Binary }; txnNumber: Long | number | undefined }>(
      // A range: the oplog has no index, but finds a start by time.
      { ts: { $gte: first.clusterTime, $lte: last.clusterTime }, lsid: { $exists: true } },
      { projection: { ts: 1, lsid: 1, txnNumber: 1 }, batchSize: 10_000 },
    )
    .toArray();
  return new Map(
    entries.map(({ ts, lsid, txnNumber }) => [
      timeKey(ts),
      { uid: lsid.uid.toString('base64'), session: lsid.id.toString('hex'), txnNumber: String(txnNumber ?? '') },
    ]),
  );
}

export function timeKey(time: Timestamp): string {
  return `${time.t}.${time.i}`;
}
