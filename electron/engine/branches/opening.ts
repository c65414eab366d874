import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { History } from '../home/history.ts';
import { serversUnder, type LeftServer } from '../mongod/identity.ts';
import { settleLeft } from './cut-off.ts';
import { branchFolder } from './folders.ts';
import { stopLeft } from './left-servers.ts';
import { createMain, mainId } from './main-branch.ts';
import type { Workspace } from './workspace.ts';

/** Brings up every branch that the catalog has as live, and settles what a killed engine left half done. */
export async function openBranches(workspace: Workspace, left: readonly LeftServer[], home: string): Promise<void> {
  await removeHalfMade(workspace);
  const records = await workspace.home.branches.find({ state: 'live' }).toArray();
  const kept = new Set(records.map(({ _id }) => branchFolder(workspace.data, _id).db));
  kept.add(home);
  await Promise.all(left.filter(({ dbPath }) => !kept.has(dbPath)).map(stopLeft));
  const main = records.find(({ _id }) => _id === mainId);
  if (main) await workspace.openBranch(main, left);
  else await createMain(workspace);
  await Promise.all(
    records
      .filter(({ _id }) => _id !== mainId)
      .map((record) => workspace.openBranch(record, left).catch((error: unknown) => workspace.failed(record, error))),
  );
  await settleLeft(workspace);
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
  // The row goes last: cut off again, the next start finds it.
  for (const { _id, name, restoring } of halfMade) {
    await new History(home, _id).drop();
    if (restoring) {
      const text = `A restore to a new branch ${name} was cut off; nothing of it is left`;
      await workspace.logEntry({ kind: 'recover', branch: name, branchId: _id, text });
    }
    await home.branches.deleteOne({ _id });
  }
}
