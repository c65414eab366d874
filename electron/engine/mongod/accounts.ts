import { createHash, randomBytes } from 'node:crypto';
import type { MongoClient } from 'mongodb';
import type { AccessLevel } from '../../../shared/api.ts';

/** One credential of a branch: who wrote is told by it. */
export interface Account {
  /** What people call it, e.g. `agent:run-1`. */
  readonly actor: string;
  readonly user: string;
  readonly password: string;
  readonly access: AccessLevel;
}

const roles: Record<AccessLevel, string[]> = {
  // dropDatabase and collMod need dbAdmin; neither level can read users or the oplog, shut down or set parameters.
  schema: ['readWriteAnyDatabase', 'dbAdminAnyDatabase'],
  readWrite: ['readWriteAnyDatabase'],
  read: ['readAnyDatabase'],
};

/** A new credential; user and password need no escaping in a URI. The server takes no user that begins with a dot. */
export function newAccount(actor: string, access: AccessLevel): Account {
  const user = actor.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+|-+$/g, '') || 'actor';
  return { actor, user, password: randomBytes(18).toString('base64url'), access };
}

export async function createAccount(client: MongoClient, account: Account): Promise<void> {
  await client.db('admin').command({
    createUser: account.user,
    pwd: account.password,
    roles: roles[account.access],
    mechanisms: ['SCRAM-SHA-256'],
  });
}

/** Takes the credential away: what its user is doing ends, and its connections are refused from the next operation on. */
export async function dropAccount(client: MongoClient, account: Account): Promise<void> {
  const admin = client.db('admin');
  // While the user is known: afterwards the server cannot tell whose sessions are meant.
  await admin.command({ killAllSessions: [{ user: account.user, db: 'admin' }] });
  await admin.command({ dropUser: account.user });
}

/** Gives the user the rights of its access level, also on connections that are open. */
export async function setAccess(client: MongoClient, account: Account): Promise<void> {
  await client.db('admin').command({ updateUser: account.user, roles: roles[account.access] });
}

/** Gives the server these accounts and, but for the engine's user, no others; known users get today's password and rights. */
export async function setAccounts(
  client: MongoClient,
  accounts: readonly Account[],
  engineUser: string,
): Promise<void> {
  const admin = client.db('admin');
  const { users } = (await admin.command({ usersInfo: 1 })) as unknown as { users: { user: string }[] };
  const wanted = new Set([engineUser, ...accounts.map(({ user }) => user)]);
  for (const { user } of users) if (!wanted.has(user)) await admin.command({ dropUser: user });
  const known = new Set(users.map(({ user }) => user));
  for (const account of accounts) {
    if (!known.has(account.user)) await createAccount(client, account);
    else await admin.command({ updateUser: account.user, pwd: account.password, roles: roles[account.access] });
  }
}

/** Drops every user that a clone inherited, but the engine's. */
export async function dropInheritedAccounts(client: MongoClient, engineUser: string): Promise<void> {
  const users = await client
    .db('admin')
    .collection('system.users')
    .find({ _id: { $ne: `admin.${engineUser}` as never } }, { projection: { user: 1, db: 1 } })
    .toArray();
  for (const { user, db } of users) await client.db(String(db)).command({ dropUser: String(user) });
}

/** What the server writes as `lsid.uid` into the oplog for this user: SHA-256 of `user@db`. Base64. */
export function uidOf(user: string): string {
  return createHash('sha256').update(`${user}@admin`).digest('base64');
}

/** The connection string an ordinary driver takes. 127.0.0.1, since `localhost` may mean ::1. */
export function connectionString(port: number, account: Account): string {
  return `mongodb://${account.user}:${account.password}@127.0.0.1:${port}/?authSource=admin&directConnection=true`;
}
