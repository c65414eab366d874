import type { Long, MongoClient, Timestamp } from 'mongodb';

/**
 * The time of the last write that a clone's files brought along. It may be earlier than what the parent told under the
 * lock: a write that is not journaled yet (nobody waiting for the journal, or not answered so far) is cut off when the
 * clone recovers (seen on 6.0.5). The clone's own entries are of a later election term.
 * @param client of a clone that is primary and that nobody has written to but the engine
 */
export async function lastInheritedTime(client: MongoClient): Promise<Timestamp> {
  const hello = await client.db('admin').command({ hello: 1 });
  const { t: term, ts } = (hello['lastWrite'] as { opTime: { t: Long | number; ts: Timestamp } }).opTime;
  const oplog = client.db('local').collection<{ t: Long; ts: Timestamp }>('oplog.rs');
  const inherited = await oplog.findOne(
    { t: { $lt: term as Long } },
    { sort: { $natural: -1 }, projection: { ts: 1 } },
  );
  return inherited?.ts ?? ts;
}
