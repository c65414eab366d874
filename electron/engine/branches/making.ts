import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MongoError, type MongoClient } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { History } from '../home/history.ts';
import type { LogRecord } from '../home/records.ts';
import { waitForExit } from '../mongod/identity.ts';
import { serverEnded } from '../mongod/replica.ts';
import type { Server } from '../mongod/server.ts';
import { branchFolder } from './folders.ts';
import type { Workspace } from './workspace.ts';

/** What there is of a sandbox so far: a failure takes it away again. */
export interface Making {
  server?: Server;
  client?: MongoClient;
  /** Comes with the row's being ready. */
  entry?: LogRecord;
  /** Goes on after a failure elsewhere; what it makes is taken away when it has ended. */
  readonly work: Promise<unknown>[];
}

const exitMs = 200;
/** A clone is ready within a second of its server's start; what takes so much longer will not come. */
const readyMs = 60_000;

/** Resolves as `work` does; rejects at once when the server ends or the workspace is closed, and after a minute. */
export async function whileItRuns<T>(server: Server, signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
  const ended = server.exited.then(() => Promise.reject(serverEnded(server)));
  const over = new AbortController();
  const late = setTimeout(readyMs, undefined, { signal: over.signal, ref: false }).then(() =>
    Promise.reject(notReady()),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, ended, aborted, late]);
  } catch (error) {
    // Its connections close just before it is gone.
    if (error instanceof MongoError && (await waitForExit(server.identity, exitMs))) throw serverEnded(server);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    over.abort();
  }
}

function notReady(): ForkyardError {
  return new ForkyardError('mongod_failed', 'The database server runs, but did not get ready within a minute.', {
    hint: 'What was made of it is taken away. Try again.',
    retry: true,
  });
}

/**
 * Takes away what there is of a branch in the making: process, files, history, row and what the log says of it.
 * @param error why; the server's own log is kept where it sends there
 * @returns the error as the user is to be told it
 */
export async function unmake(
  workspace: Workspace,
  branchId: string,
  { server, client, entry, work }: Making,
  error: unknown,
): Promise<unknown> {
  const attached = workspace.live.get(branchId);
  if (attached) attached.stopping = true;
  await server?.kill().catch(() => undefined);
  // Closing says goodbye to the server, which is gone.
  void client?.close().catch(() => undefined);
  await Promise.all(work);
  const branch = workspace.live.get(branchId);
  workspace.live.delete(branchId);
  await branch?.release().catch(() => undefined);
  if (entry) await workspace.patiently(() => takeBack(workspace, branchId, entry));
  const { root, log } = branchFolder(workspace.data, branchId);
  const told = await keepLog(error, log, join(workspace.data, failedServerLog));
  await rm(root, { recursive: true, force: true });
  await new History(workspace.home, branchId).drop().catch(() => undefined);
  await workspace.patiently(() => workspace.home.branches.deleteOne({ _id: branchId }));
  workspace.options.onBranches();
  return told;
}

/** That of the last server which did not come up, for whoever looks for the cause. */
const failedServerLog = 'failed-server.log';

async function keepLog(error: unknown, log: string, kept: string): Promise<unknown> {
  if (!(error instanceof ForkyardError) || !error.hint?.includes(log)) return error;
  // On a disk that is full, or where the server wrote none, there is nothing to send anybody to.
  const isKept = await rename(log, kept).then(
    () => true,
    () => false,
  );
  const { code, message, retry, details } = error;
  const hint = isKept ? error.hint.replace(log, kept) : 'Try again.';
  return new ForkyardError(code, message, { hint, retry, ...(details ? { details } : {}), cause: error });
}

/** What was ready, or may be for all anybody knows, is half made again: killed on the way, the next engine takes it away. */
async function takeBack({ home }: Workspace, branchId: string, entry: LogRecord): Promise<void> {
  await home.client.withSession((session) =>
    session.withTransaction(async () => {
      await home.branches.updateOne({ _id: branchId }, { $set: { state: 'starting' } }, { session });
      await home.log.deleteOne({ _id: entry._id }, { session });
    }),
  );
}
