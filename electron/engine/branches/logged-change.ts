import type { Filter } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import type { Workspace } from './workspace.ts';

export interface LoggedChange {
  /** Only a record that is so; any where left out. */
  readonly where?: Filter<BranchRecord>;
  readonly set: Partial<BranchRecord>;
  readonly unset: readonly (keyof BranchRecord)[];
  readonly entry: LogRecord;
  /** Entries that this takes back: they are marked so. */
  readonly undone?: Filter<LogRecord>;
}

/**
 * Changes a branch's record and logs why, in one transaction: an engine that is killed leaves both or neither.
 * @throws ForkyardError `unknown_branch` where there is none, or none that is so: nothing is logged then
 */
export async function changeAndLog(
  workspace: Workspace,
  branchId: string,
  { where = {}, set, unset, entry, undone }: LoggedChange,
): Promise<{ record: BranchRecord; entry: LogRecord }> {
  const { branches, log, client } = workspace.home;
  const update = { $set: set, $unset: Object.fromEntries(unset.map((name) => [name, 1])) };
  await client.withSession((session) =>
    session.withTransaction(
      async () => {
        const { matchedCount } = await branches.updateOne({ ...where, _id: branchId }, update as never, { session });
        if (matchedCount === 0) throw new ForkyardError('unknown_branch', 'This branch is gone.');
        await log.insertOne(entry, { session });
        if (undone !== undefined) await log.updateMany(undone, { $set: { undoneBy: entry._id } }, { session });
      },
      { writeConcern: { w: 'majority', j: true } },
    ),
  );
  workspace.options.onLog(entry);
  // It is done: what is asked after it must not make it look as if it were not.
  const record = await workspace.patiently(() => branches.findOne({ _id: branchId }));
  return { record: workspace.noted(record), entry };
}
