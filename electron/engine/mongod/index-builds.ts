import type { MongoClient } from 'mongodb';

/** The longest a look may hold up writers, milliseconds. */
const lookMs = 100;
const pauseMs = 20;
/** A sort is over by then: what is sorted fits into memory. */
const patienceMs = 10_000;

/**
 * Waits until no index build keeps its locks without a pause, as it does while it sorts: four seconds on end for a
 * million keys (seen on 6.0.5), with the writer lock and all writers waiting behind it. While a build reads the
 * collection or fills the index it lets others in.
 * A command that takes the same kind of lock on the database and may be given up tells which it is.
 */
export async function waitForSorts(client: MongoClient): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (const name of await databasesWithBuilds(client)) {
    while (performance.now() < deadline && !(await letsIn(client, name))) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function databasesWithBuilds(client: MongoClient): Promise<string[]> {
  const builds = await client
    .db('admin')
    .aggregate([
      { $currentOp: { allUsers: true } },
      { $match: { 'command.createIndexes': { $exists: true } } },
      { $group: { _id: '$command.$db' } },
    ])
    .toArray();
  return builds.map(({ _id }) => String(_id));
}

/** Hashes nothing of a database, for which it is locked against writers. */
async function letsIn(client: MongoClient, name: string): Promise<boolean> {
  return client
    .db(name)
    .command({ dbHash: 1, collections: [''], maxTimeMS: lookMs })
    .then(
      () => true,
      () => false,
    );
}
