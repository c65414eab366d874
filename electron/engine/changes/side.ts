import type { MongoClient } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Capture } from '../capture/capture.ts';
import type { History } from '../home/history.ts';
import type { BranchRecord } from '../home/records.ts';
import { roomHint } from '../mongod/disk-space.ts';
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

/**
 * Why work that needs a whole history is refused now.
 * @param soThat what it would miss, the end of the sentence
 */
export function notUpToDate({ record, capture }: Side, soThat = ''): ForkyardError {
  if (capture.paused) {
    return new ForkyardError('no_space', `${pausedText(record.name)}${soThat}.`, {
      hint: roomHint,
      retry: true,
    });
  }
  return new ForkyardError('branch_failed', `The history of ${record.name} is not up to date yet${soThat}.`, {
    hint: 'Wait for capture to catch up (see lagMs in "forkyard branches") and try again.',
    retry: true,
  });
}

/** The beginning of a sentence on a branch whose recording waits for room. */
export function pausedText(name: string): string {
  return `The disk is nearly full, so recording what happens in ${name} waits until there is room`;
}
