import type { Collection } from 'mongodb';

const before = 100;
const after = 100;
/** Between two writes: leaves the processor to the fork, and hides no wait, since a write that waits is being timed. */
const pauseMs = 1;

/** Writes one document after the other while `work` goes on, and some writes before and after it. */
export async function stallOf<T>(
  collection: Collection<{ n: number }>,
  work: () => Promise<T>,
): Promise<{ readonly longestMs: number; readonly writes: number; readonly result: T }> {
  let longestMs = 0;
  let writes = 0;
  const write = async () => {
    const from = performance.now();
    await collection.insertOne({ n: writes });
    longestMs = Math.max(longestMs, performance.now() - from);
    writes += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  };
  while (writes < before) await write();
  // What came before the fork is not its doing.
  longestMs = 0;
  const working = { done: false };
  const result = work().finally(() => (working.done = true));
  // Looked at below, when the writer has seen it.
  result.catch(() => undefined);
  while (!working.done) await write();
  for (let more = 0; more < after; more += 1) await write();
  return { longestMs, writes, result: await result };
}
