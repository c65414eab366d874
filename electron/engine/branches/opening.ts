import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { History } from '../home/history.ts';
import { logEntry } from '../home/log-entry.ts';
import type { BranchRecord, LogRecord } from '../home/records.ts';
import { serversUnder, type LeftServer } from '../mongod/identity.ts';
import { settleLeft } from './cut-off.ts';
import { branchFolder } from './folders.ts';
import { stopLeft } from './left-servers.ts';
import { createMain, mainId } from './main-branch.ts';
import type { Workspace } from './workspace.ts';

/** Brings up every branch that the catalog has as live, and settles what a killed engine left half done. */
export async function openBranches(workspace: Workspace, left: readonly LeftServer[], home: string): Promise<void> {
  await removeHalfMade(workspace);
  // One that failed may come up today: its disk has room again, its server's program is back.
  const records = await workspace.home.branches.find({ state: { $in: ['live', 'failed'] } }).toArray();
  const kept = new Set(records.map(({ _id }) => branchFolder(workspace.data, _id).db));
  kept.add(home);
  await Promise.all(left.filter(({ dbPath }) => !kept.has(dbPath)).map(stopLeft));
  const main = records.find(({ _id }) => _id === mainId);
  if (main) await open(workspace, main, left);
  else await createMain(workspace);
  await Promise.all(
    records
      .filter(({ _id }) => _id !== mainId)
      .map((record) => open(workspace, record, left).catch((error: unknown) => workspace.failed(record, error))),
  );
  await settleLeft(workspace);
}

async function open(workspace: Workspace, record: BranchRecord, left: readonly LeftServer[]): Promise<void> {
  const branch = await workspace.openBranch(record, left);
  if (record.state === 'failed')
    await workspace.update(record._id, { state: 'live' }, branch.record.note === record.note ? ['note'] : []);
}

/** What a fork, or a restore to a fork, that was cut off left: nothing of it stays. */
async function removeHalfMade(workspace: Workspace): Promise<void> {
  const { home, data } = workspace;
  const records = await home.branches.find({}, { projection: { state: 1, name: 1, restoring: 1 } }).toArray();
  const isHalfMade = ({ state, restoring }: (typeof records)[number]) => state === 'starting' || restoring === true;
  const halfMade = records.filter(isHalfMade);
  const known = new Set(records.filter((record) => !isHalfMade(record)).map(({ _id }) => _id));
  const left = await serversUnder(join(data, 'branches'));
  for (const name of await readdir(join(data, 'branches'))) {
    if (known.has(name) || name === mainId) continue;
    const folder = branchFolder(data, name);
    await Promise.all(left.filter(({ dbPath }) => dbPath === folder.db).map(stopLeft));
    await rm(folder.root, { recursive: true, force: true });
  }
  for (const { _id, name, restoring } of halfMade) {
    await new History(home, _id).drop();
    // The row goes last, and with it is said why: cut off again, the next start finds the one and not the other.
    await home.client.withSession((session) =>
      session.withTransaction(async () => {
        await home.branches.deleteOne({ _id }, { session });
        if (restoring) await home.log.insertOne(cutOffRestore(_id, name), { session });
      }),
    );
  }
}

function cutOffRestore(branchId: string, name: string): LogRecord {
  const text = `A restore to a new branch ${name} was cut off; nothing of it is left`;
  return logEntry({ kind: 'recover', branch: name, branchId, text });
}
