import { Binary, BSON, MongoClient } from 'mongodb';
import { homeClient } from './engine-client.ts';

/**
 * Has the record of a branch that no engine captures go on from a position that its change log does not hold, as one that has
 * rolled over does not: that of a write to another branch, which it never saw. Its server finds out as soon as it has a write
 * of a later time.
 * @param position see {@link positionOfWrite}
 * @param alter what else is to be different in home when an engine looks at it again
 */
export async function loseLog(
  data: string,
  position: Uint8Array,
  branchId: string,
  alter: (home: MongoClient, seq: number) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const home = await homeClient({ data });
  try {
    const states = home.db('forkyard').collection<{ _id: string }>('capture');
    const changes = home.db('history').collection<{ _id: number }>(`changes_${branchId}`);
    const seq = (await changes.findOne({}, { sort: { _id: -1 } }))?._id ?? 0;
    const { matchedCount } = await states.updateOne({ _id: branchId }, { $set: { token: new Binary(position), seq } });
    if (matchedCount !== 1) throw new Error(`nothing was ever recorded of ${branchId}`);
    await alter(home, seq);
  } finally {
    await home.close();
  }
}

/** The position of a write that is made for it. */
export async function positionOfWrite(uri: string): Promise<Uint8Array> {
  const client = await new MongoClient(uri).connect();
  try {
    const notes = client.db('shop').collection('notes');
    const stream = notes.watch();
    // Answers with the first, empty batch: from here on nothing is missed.
    await stream.tryNext();
    await notes.insertOne({ text: 'only here' });
    const { _id } = await stream.next();
    await stream.close();
    return BSON.serialize(_id as BSON.Document);
  } finally {
    await client.close();
  }
}
