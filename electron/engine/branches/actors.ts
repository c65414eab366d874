import { isDeepStrictEqual } from 'node:util';
import { MongoClient, MongoServerError } from 'mongodb';
import type { AccessLevel } from '../../../shared/api.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import {
  connectionString,
  createAccount,
  dropAccount,
  newAccount,
  setAccess,
  type Account,
} from '../mongod/accounts.ts';
import { settleNow } from '../changes/side.ts';
import { requireActorName } from './actor-name.ts';
import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

/** How many of a branch's newest writes are counted by actor. */
const countedWrites = 20_000;
const testTimeoutMs = 5_000;

export interface ActorState {
  readonly account: Account;
  /** Open connections that have signed in with it. */
  readonly connections: number;
  readonly lastWriteAt?: Date;
  readonly writes: { readonly added: number; readonly modified: number; readonly removed: number };
}

/** The actors of a branch with what came of them. Writes are those among the newest 20,000 of the branch. */
export async function listActors(branch: LocalBranch): Promise<ActorState[]> {
  const [open, written] = await Promise.all([
    connectionsByUser(branch.client),
    branch.history.changes.writesByActor(countedWrites),
  ]);
  return branch.record.accounts.map((account) => {
    const own = written.get(account.actor);
    return {
      account,
      connections: open.get(account.user) ?? 0,
      ...(own ? { lastWriteAt: own.lastAt } : {}),
      writes: { added: own?.added ?? 0, modified: own?.modified ?? 0, removed: own?.removed ?? 0 },
    };
  });
}

/** A credential of its own for one more program. @throws ForkyardError `name_taken`, `name_invalid` */
export function addActor(
  workspace: Workspace,
  branch: LocalBranch,
  actor: string,
  access: AccessLevel,
): Promise<Account> {
  return branch.exclusively(async () => {
    if (!accountOf(branch, actor)) return create(workspace, branch, actor, access);
    throw new ForkyardError('name_taken', `${branch.record.name} has an actor ${actor} already.`, {
      hint: 'Choose another name, or change what this one may do.',
    });
  });
}

/** The credential of an actor, made with the branch's own access level where there is none yet. */
export async function ensureActor(workspace: Workspace, branch: LocalBranch, actor: string): Promise<Account> {
  const known = accountOf(branch, actor);
  if (known) return known;
  return branch.exclusively(
    async () => accountOf(branch, actor) ?? (await create(workspace, branch, actor, branch.record.access)),
  );
}

function accountOf(branch: LocalBranch, actor: string): Account | undefined {
  return branch.record.accounts.find((account) => account.actor === actor);
}

async function create(workspace: Workspace, branch: LocalBranch, actor: string, access: AccessLevel): Promise<Account> {
  const { accounts, name } = branch.record;
  requireActorName(actor);
  const account = newAccount(actor, access);
  if (accounts.some(({ user }) => user === account.user)) {
    throw new ForkyardError(
      'name_taken',
      `"${actor}" reads like another actor of ${name} as a user name (${account.user}).`,
      { hint: 'Choose a name that differs in letters or digits.' },
    );
  }
  await changeAccounts(workspace, branch, async () => {
    await createAccount(branch.client, account);
    return [...accounts, account];
  });
  return account;
}

/**
 * Changes accounts on a branch's server, then in the catalog. Cut off in between, the server gets back those that the catalog
 * has: at once, or when it or the engine starts again.
 */
async function changeAccounts(
  workspace: Workspace,
  branch: LocalBranch,
  change: () => Promise<readonly Account[]>,
): Promise<void> {
  const { _id, name } = branch.record;
  await workspace.update(_id, { accountsDue: true });
  let accounts: readonly Account[];
  try {
    accounts = await change();
  } catch (error) {
    await workspace.makeDueAccounts(branch).catch((problem: unknown) => {
      workspace.log(`the accounts of ${name}: ${String(problem)}`);
    });
    throw error;
  }
  await workspace.patiently(() => decide(workspace, branch, accounts));
}

/** @throws ForkyardError `mongod_failed` where the server ended meanwhile and its restart gave it the catalog's accounts back */
async function decide(workspace: Workspace, { record }: LocalBranch, accounts: readonly Account[]): Promise<void> {
  const { branches } = workspace.home;
  const update = { $set: { accounts }, $unset: { accountsDue: 1 } };
  const { _id, name } = record;
  const { matchedCount } = await branches.updateOne({ _id, accountsDue: true }, update as never);
  const now = workspace.noted(await branches.findOne({ _id }));
  // Asked a second time it may have been done the first.
  if (matchedCount > 0 || isDeepStrictEqual(now.accounts, accounts)) return;
  throw new ForkyardError(
    'mongod_failed',
    `The database server of ${name} ended meanwhile; its actors are as they were.`,
    {
      hint: 'It runs again: try once more.',
      retry: true,
    },
  );
}

/** Changes what an actor may do; its URI stays, open connections follow at once. */
export function changeAccess(
  workspace: Workspace,
  branch: LocalBranch,
  actor: string,
  access: AccessLevel,
): Promise<Account> {
  return replaceAccount(workspace, branch, actor, async (account) => {
    const changed = { ...account, access };
    await setAccess(branch.client, changed);
    // Capture tells authors by the accounts there are: what was written before is told by those of before.
    await settleNow(branch);
    return changed;
  });
}

/** A new password; whoever is connected with the old one is cut off. */
export function renewPassword(workspace: Workspace, branch: LocalBranch, actor: string): Promise<Account> {
  return replaceAccount(workspace, branch, actor, async (account) => {
    const renewed = { ...newAccount(account.actor, account.access), user: account.user };
    await dropAccount(branch.client, account);
    await createAccount(branch.client, renewed);
    return renewed;
  });
}

/** Takes a credential away; whoever is connected with it is cut off. A branch keeps at least one. */
export function removeActor(workspace: Workspace, branch: LocalBranch, actor: string): Promise<void> {
  return branch.exclusively(async () => {
    const account = requireActor(branch, actor);
    const others = branch.record.accounts.filter((other) => other !== account);
    if (others.length === 0) {
      throw new ForkyardError('usage', `${actor} is the only actor of ${branch.record.name}.`, {
        hint: 'Add another first, or give this one a new password.',
      });
    }
    await changeAccounts(workspace, branch, async () => {
      await dropAccount(branch.client, account);
      // Its last writes are known as its own before its name goes.
      await settleNow(branch);
      return others;
    });
  });
}

export interface ConnectionTest {
  readonly actor: string;
  readonly access: AccessLevel;
  /** From nothing to the first answer, milliseconds. */
  readonly ms: number;
  readonly version: string;
  readonly databases: readonly string[];
}

/**
 * Connects as a program would that has nothing but the connection string, and says what it saw.
 * @throws ForkyardError `branch_failed` where it is not let in or does not answer
 */
export async function testConnection(branch: LocalBranch, actor?: string): Promise<ConnectionTest> {
  const account = actor === undefined ? branch.record.accounts[0] : requireActor(branch, actor);
  if (!account) throw new ForkyardError('usage', `${branch.record.name} has no actor to connect as.`);
  const startedAt = performance.now();
  const client = new MongoClient(connectionString(branch.server.port, account), {
    serverSelectionTimeoutMS: testTimeoutMs,
    maxPoolSize: 1,
  });
  try {
    const admin = client.db('admin');
    await admin.command({ connectionStatus: 1 });
    const ms = performance.now() - startedAt;
    const { databases } = await admin.admin().listDatabases({ nameOnly: true });
    const { version } = (await admin.command({ buildInfo: 1 })) as unknown as { version: string };
    const own = databases.map(({ name }) => name).filter((name) => !['admin', 'local', 'config'].includes(name));
    return { actor: account.actor, access: account.access, ms, version, databases: own };
  } catch (error) {
    const refused = error instanceof MongoServerError && error.code === 18;
    throw new ForkyardError(
      'branch_failed',
      refused
        ? `${branch.record.name} does not let ${account.actor} in.`
        : `${branch.record.name} does not answer on port ${branch.server.port}: ${(error as Error).message}`,
      {
        hint: refused ? 'Give the actor a new password.' : 'The engine log in the data folder says more.',
        retry: true,
      },
    );
  } finally {
    await client.close();
  }
}

function replaceAccount(
  workspace: Workspace,
  branch: LocalBranch,
  actor: string,
  change: (account: Account) => Promise<Account>,
): Promise<Account> {
  return branch.exclusively(async () => {
    const account = requireActor(branch, actor);
    let changed = account;
    await changeAccounts(workspace, branch, async () => {
      changed = await change(account);
      return branch.record.accounts.map((other) => (other.actor === actor ? changed : other));
    });
    return changed;
  });
}

function requireActor(branch: LocalBranch, actor: string): Account {
  const { accounts, name } = branch.record;
  const account = accountOf(branch, actor);
  if (account) return account;
  throw new ForkyardError('usage', `${name} has no actor ${actor}.`, {
    hint: `Its actors are: ${accounts.map((known) => known.actor).join(', ')}.`,
  });
}

/** Open connections by the user they signed in as. */
async function connectionsByUser(client: MongoClient): Promise<Map<string, number>> {
  const rows = await client
    .db('admin')
    .aggregate<{ _id: string; connections: number }>([
      { $currentOp: { allUsers: true, idleConnections: true } },
      { $match: { connectionId: { $exists: true } } },
      { $unwind: '$effectiveUsers' },
      { $group: { _id: '$effectiveUsers.user', ids: { $addToSet: '$connectionId' } } },
      { $project: { connections: { $size: '$ids' } } },
    ])
    .toArray();
  return new Map(rows.map(({ _id, connections }) => [_id, connections]));
}
