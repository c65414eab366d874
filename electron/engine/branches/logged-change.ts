import type { Filter } from 'mongodb';
import { logEntry, type NewEntry } from '../home/log-entry.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import type { Workspace } from './workspace.ts';

export interface LoggedChange {
  readonly set: Partial<BranchRecord>;
  readonly unset: readonly (keyof BranchRecord)[];
  readonly entry: NewEntry;
  /** Entries that this takes back: they are marked so. */
  readonly undone?: Filter<LogRecord>;
}

/** Changes a branch's record and logs why, in one transaction: an engine that is killed leaves both or neither. */
export async function changeAndLog(
  workspace: Workspace,
  branchId: string,
  { set, unset, entry, undone }: LoggedChange,
): Promise<{ record: BranchRecord; entry: LogRecord }> {
  const { branches, log, client } = workspace.home;
  const logged = logEntry(entry);
  const update = { $set: set, $unset: Object.fromEntries(unset.map((name) => [name, 1])) };
  await client.withSession((session) =>
    session.withTransaction(
      async () => {
        await branches.updateOne({ _id: branchId }, update as never, { session });
        await log.insertOne(logged, { session });
        if (undone !== undefined) await log.updateMany(undone, { $set: { undoneBy: logged._id } }, { session });
      },
      { writeConcern: { w: 'majority', j: true } },
    ),
  );
  workspace.options.onLog(logged);
  return { record: workspace.noted(await branches.findOne({ _id: branchId })), entry: logged };
}
