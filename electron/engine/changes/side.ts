import type { MongoClient } from 'mongodb';
import type { Capture } from '../capture/capture.ts';
import type { History } from '../home/history.ts';
import type { BranchRecord } from '../home/records.ts';
import { lastWriteTime } from '../mongod/replica.ts';

/** One branch as comparing and adopting see it: they know nothing of how it is run. */
export interface Side {
  readonly record: BranchRecord;
  readonly history: History;
  readonly client: MongoClient;
  readonly capture: Capture;
}

/**
 * Waits until the side's history holds everything that had happened when this was called.
 * @returns false where that took longer than `deadlineMs`.
 */
export async function settleNow(side: Side, deadlineMs = 10_000): Promise<boolean> {
  return side.capture.settle(await lastWriteTime(side.client), deadlineMs);
}
