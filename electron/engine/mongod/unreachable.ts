import {
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';

/** InterruptedAtShutdown, ShutdownInProgress, InterruptedDueToReplStateChange, NotWritablePrimary, PrimarySteppedDown. */
const goingDown = new Set([11600, 91, 11602, 10107, 189]);

/** Whether a server ended or went away, so that nobody knows what became of what it was asked. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  if (error instanceof MongoTopologyClosedError) return true;
  if (error instanceof MongoServerError && goingDown.has(Number(error.code))) return true;
  return error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
}
