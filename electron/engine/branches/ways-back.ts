import { ForkyardError } from '../../../shared/errors.ts';
import type { LogRecord } from '../home/records.ts';
import { undiscard, unexpire } from './expiry.ts';
import { switchBack } from './reset.ts';
import type { Workspace } from './workspace.ts';

/**
 * Takes back what was done to a whole branch: a discard or an expiry while its files are kept, a reset, the undo of one.
 * @returns the entry of it; undefined where the entry is of another kind
 * @throws ForkyardError `undo_refused`, `name_taken`
 */
export async function undoOnBranch(workspace: Workspace, entryId: string): Promise<LogRecord | undefined> {
  const entry = await workspace.home.log.findOne({ _id: entryId });
  if (!entry || entry.undoneBy !== undefined) return undefined;
  if (entry.swap) return (await switchBack(workspace, entry)).entry;
  if (entry.kind === 'expire') return undoExpiry(workspace, entry);
  if (entry.kind !== 'discard') return undefined;
  const discarded = await workspace.home.branches.findOne({ _id: entry.branchId, state: 'trashed' });
  if (discarded?.goneAt && discarded.goneAt > new Date()) return (await undiscard(workspace, discarded)).entry;
  throw new ForkyardError('undo_refused', `${entry.branch} cannot be brought back: its files are gone.`, {
    hint: 'A discarded sandbox is kept for an hour, unless it is discarded with --now or the disk is needed.',
  });
}

async function undoExpiry(workspace: Workspace, entry: LogRecord): Promise<LogRecord> {
  const record = await workspace.home.branches.findOne({ _id: entry.branchId });
  const back = record?.state === 'expired' ? await unexpire(workspace, record) : undefined;
  if (back) return back;
  const isBack = record !== null && record.state !== 'trashed';
  throw new ForkyardError(
    'undo_refused',
    isBack ? `${entry.branch} is back already.` : `${entry.branch} cannot be brought back: it was removed since.`,
    { hint: 'An expired sandbox is kept for a day, unless it is discarded earlier.' },
  );
}
