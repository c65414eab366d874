import { rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { MongoError, type MongoClient } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { History } from '../home/history.ts';
import { waitForExit } from '../mongod/identity.ts';
import { serverEnded } from '../mongod/replica.ts';
import type { Server } from '../mongod/server.ts';
import { branchFolder } from './folders.ts';
import type { Workspace } from './workspace.ts';

/** What there is of a sandbox so far: a failure takes it away again. */
export interface Making {
  server?: Server;
  client?: MongoClient;
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

/** Takes away what there is of a branch in the making: process, files, history and row. */
export async function unmake(workspace: Workspace, branchId: string, { server, client, work }: Making): Promise<void> {
  const attached = workspace.live.get(branchId);
  if (attached) attached.stopping = true;
  await server?.kill().catch(() => undefined);
  // Closing says goodbye to the server, which is gone.
  void client?.close().catch(() => undefined);
  await Promise.all(work);
  const branch = workspace.live.get(branchId);
  workspace.live.delete(branchId);
  await branch?.release().catch(() => undefined);
  await rm(branchFolder(workspace.data, branchId).root, { recursive: true, force: true });
  await new History(workspace.home, branchId).drop().catch(() => undefined);
  await workspace.patiently(() => workspace.home.branches.deleteOne({ _id: branchId }));
  workspace.options.onBranches();
}
