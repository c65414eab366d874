import { History } from '../home/history.ts';
import type { BranchRecord } from '../home/records.ts';
import { createAccount, dropInheritedAccounts, newAccount } from '../mongod/accounts.ts';
import { firstStart, needsFirstStart } from '../mongod/first-start.ts';
import { branchFolder } from './folders.ts';
import { startBranchServer } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

export const mainId = 'main';
export const mainName = 'main';

/** Makes main, or takes its data up as it is where that is there and the catalog does not know it. */
export async function createMain(workspace: Workspace): Promise<void> {
  const folder = branchFolder(workspace.data, mainId);
  if (await needsFirstStart(folder)) await firstStart(folder, () => noteMain(workspace, true));
  else await noteMain(workspace, false);
}

async function noteMain(workspace: Workspace, fresh: boolean): Promise<void> {
  const { server, client } = await startBranchServer(workspace, { _id: mainId, ttlIndexes: false }, fresh);
  const account = newAccount('owner', 'schema');
  await dropInheritedAccounts(client, workspace.credentials.user);
  await createAccount(client, account);
  await new History(workspace.home, mainId).create();
  const record: BranchRecord = {
    _id: mainId,
    name: mainName,
    state: 'live',
    access: 'schema',
    accounts: [account],
    port: server.port,
    forkedAt: new Date(),
    ttlIndexes: false,
    active: true,
  };
  await workspace.attach(record, server, client, true);
  await workspace.home.branches.insertOne(record);
}
