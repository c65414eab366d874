import type { MongoClient } from 'mongodb';

/** The collection behind a time-series collection: its measurements, packed. */
export interface Buckets {
  readonly name: string;
  /** 16 bytes. */
  readonly uuid: Uint8Array;
}

/** Undefined where there is no such time-series collection. */
export async function bucketsOf(client: MongoClient, db: string, series: string): Promise<Buckets | undefined> {
  const name = `system.buckets.${series}`;
  const [found] = await client.db(db).listCollections({ name }).toArray();
  const uuid = (found as { info?: { uuid?: { buffer: Uint8Array } } } | undefined)?.info?.uuid?.buffer;
  return uuid && { name, uuid: uuid.slice(0, 16) };
}
