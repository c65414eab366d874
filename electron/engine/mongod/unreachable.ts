import {
  MongoClientClosedError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoRuntimeError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';

/** What a client says that was closed: it never opens again. */
const closedForGood = [MongoClientClosedError, MongoNotConnectedError];
/** What a client ends in that was closed because its server had ended; its pool's error has no class for others. */
const closed = [...closedForGood, MongoExpiredSessionError, MongoServerClosedError, MongoTopologyClosedError];
const poolClosed = 'MongoPoolClosedError';

/**
 * InterruptedAtShutdown, ShutdownInProgress, InterruptedDueToReplStateChange, NotWritablePrimary, PrimarySteppedDown; and
 * CursorNotFound: what was being read page by page went with the server, which runs again already.
 */
const goneCodes = new Set([11600, 91, 11602, 10107, 189, 43]);

/**
 * What Node says of a socket whose other end went away. The driver passes it on as it is where a command was still to be
 * written then (seen with 7.8).
 */
const brokenSocket = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** What a commit ends in whose client was closed meanwhile, because its server had ended: that aborts the session's transaction. */
const closedInCommit = 'Attempted illegal state transition';

/** Whether the client itself was closed, by whoever had opened it. */
export function isClosed(error: unknown): boolean {
  return closedForGood.some((kind) => error instanceof kind);
}

/** Whether a server ended or went away, so that nobody knows what became of what it was asked. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  if (closed.some((kind) => error instanceof kind)) return true;
  if (error instanceof MongoServerError && goneCodes.has(Number(error.code))) return true;
  if (error instanceof Error && brokenSocket.has(String((error as NodeJS.ErrnoException).code))) return true;
  if (error instanceof MongoRuntimeError && error.message.startsWith(closedInCommit)) return true;
  return (
    error instanceof MongoError && (error.name === poolClosed || error.hasErrorLabel('UnknownTransactionCommitResult'))
  );
}
