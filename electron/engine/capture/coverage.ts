import { MongoServerError, type MongoClient } from 'mongodb';
import { isClosed } from '../mongod/unreachable.ts';
import { openTransactions } from '../mongod/transactions.ts';

/** NamespaceNotFound, CommandNotSupportedOnView, InvalidOptions, CommandNotSupported, Unauthorized-on-system, InvalidNamespace. */
const hopeless = new Set([26, 166, 72, 115, 73, 20]);

/** So often an attempt is put off while transactions are open: about five seconds. */
const politeAttempts = 16;

/**
 * Switches the server's before- and after-images on for one collection. The command waits behind open transactions
 * and is refused during an index build; it is given up after 50 ms each time, so that nobody waits behind it, and
 * tried again until it took, the collection is gone, or the client was closed, as it is with its branch.
 */
export async function switchImagesOn(
  client: MongoClient,
  db: string,
  collection: string,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0, pauseMs = 5; !signal.aborted; attempt += 1, pauseMs = Math.min(pauseMs * 2, 500)) {
    try {
      // A transaction's own statements fail at once behind a waiting collMod: let those that are open end first.
      if (attempt < politeAttempts && (await openTransactions(client)).length > 0) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        continue;
      }
      await client
        .db(db)
        .command({ collMod: collection, changeStreamPreAndPostImages: { enabled: true }, maxTimeMS: 50 }, { signal });
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (isClosed(error) || (error instanceof MongoServerError && hopeless.has(Number(error.code)))) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Collections that hold documents of their own and can have images. */
export function canHaveImages(collection: string): boolean {
  return !collection.startsWith('system.') || collection === 'system.js';
}
