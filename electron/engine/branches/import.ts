import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { sessionId } from '../adopt/pieces.ts';
import { settleNow } from '../changes/side.ts';
import type { ImportOptions, ImportProgress, ImportResult } from '../transfer/contract.ts';
import { importInto } from '../transfer/import.ts';
import { parseSource, sourceLabel } from '../transfer/source.ts';
import { clientTarget } from '../transfer/target.ts';
import type { LocalBranch } from './local-branch.ts';
import { mainId } from './main-branch.ts';
import type { Workspace } from './workspace.ts';

export interface ImportRequest {
  readonly source: string;
  readonly options: ImportOptions;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportProgress) => void;
}

/**
 * Imports into a branch. Its writes are retryable ones of one session, which the oplog names: so capture records the
 * whole as one entry, whatever others write meanwhile.
 */
export function importIntoBranch(
  workspace: Workspace,
  branch: LocalBranch,
  request: ImportRequest,
): Promise<ImportResult> {
  return branch.duringJob(() => runImport(workspace, branch, request));
}

async function runImport(workspace: Workspace, branch: LocalBranch, request: ImportRequest): Promise<ImportResult> {
  const source = parseSource(request.source);
  const label = sourceLabel(source);
  await workspace.disk.require(wanted, await sizeOf(source));
  const session = branch.client.startSession();
  const target = clientTarget(branch.client, {
    session,
    signal: request.signal,
    onProgress: request.onProgress,
    room: () => workspace.disk.require(wanted, 0),
  });
  // A main that nothing was forked from has nobody to compare with: keys of what was there first need not be kept.
  const recordKeys = branch.record._id !== mainId || (await workspace.children(mainId)).length > 0;
  const importId = randomUUID();
  const started = new Date();
  const seq = await branch.capture.note('import', {
    detail: { source: label, importId, state: 'running', keys: recordKeys },
  });
  const endWork = branch.capture.beginWork({
    session: sessionId(session),
    importSeq: seq,
    recordKeys,
    namespaces: 'all',
  });
  const detail = (state: string, rest: Record<string, unknown> = {}) => ({
    source: label,
    importId,
    state,
    keys: recordKeys,
    startedAt: started.toISOString(),
    endedAt: new Date().toISOString(),
    ...rest,
  });
  try {
    const result = await importInto(target, source, request.options);
    // Its last writes must be known as the import's before the mark goes.
    await settleNow(branch, 10 * 60_000);
    const documents = result.collections.reduce((sum, collection) => sum + collection.documents, 0);
    const summary = { collections: result.collections, documents, problems: result.problems.length, hash: result.hash };
    await branch.history.changes.completeEntry(seq, detail('done', summary));
    await workspace.logEntry({
      kind: 'import',
      branch: branch.record.name,
      branchId: branch.record._id,
      items: documents,
      text: `Imported ${documents === 1 ? '1 document' : `${documents.toLocaleString('en')} documents`} from ${label} into ${branch.record.name}`,
    });
    workspace.options.onBranches();
    return result;
  } catch (error) {
    await settleNow(branch, 60_000).catch(() => false);
    await branch.history.changes.completeEntry(seq, detail('failed'));
    throw error;
  } finally {
    endWork();
    await session.endSession();
  }
}

const wanted = 'this import';

/** What an import is going to write, bytes, where its source tells: at least what a file holds. */
async function sizeOf(source: ReturnType<typeof parseSource>): Promise<number> {
  return source.kind === 'file' ? ((await stat(source.path).catch(() => undefined))?.size ?? 0) : 0;
}
