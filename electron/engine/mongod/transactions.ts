import { BSON, type Document, type MongoClient } from 'mongodb';
import { engineProgram } from './replica.ts';

/** A transaction somebody has open on a server. */
export interface OpenTransaction {
  readonly lsid: Document;
  /** `program at address`, as far as the client told. */
  readonly client: string;
  readonly ageMs: number;
  /** True where it is the engine's own. */
  readonly own: boolean;
}

/**
 * All open transactions, idle ones too; the writer lock of a fork waits behind every one of them. The server lists what
 * runs and what is idle one after the other: one that goes from one to the other is there twice, and told once.
 */
export async function openTransactions(client: MongoClient): Promise<OpenTransaction[]> {
  const operations = await client
    .db('admin')
    .aggregate([
      { $currentOp: { allUsers: true, idleSessions: true, idleConnections: false } },
      { $match: { 'transaction.parameters.autocommit': false } },
      { $project: { lsid: 1, client: 1, appName: 1, clientMetadata: 1, transaction: 1 } },
    ])
    .toArray();
  const known = new Set<string>();
  return operations.flatMap((operation) => {
    const session = BSON.EJSON.stringify(operation['lsid']);
    if (known.has(session)) return [];
    known.add(session);
    const metadata = operation['clientMetadata'] as
      { application?: { name?: string }; driver?: { name?: string } } | undefined;
    const program = operation['appName'] ?? metadata?.application?.name ?? metadata?.driver?.name;
    const address = String(operation['client'] ?? 'a client');
    const micros = Number((operation['transaction'] as Document)['timeOpenMicros'] ?? 0);
    return {
      lsid: operation['lsid'] as Document,
      client: program ? `${String(program)} at ${address}` : address,
      ageMs: Math.round(micros / 1000),
      own: program === engineProgram,
    };
  });
}

/**
 * Whether none is open. The list is taken in two parts, what runs and what is idle, and may miss one that changes from
 * one to the other in between (seen twice in 500 looks at a busy writer); the server's count does not.
 */
export async function noneIsOpen(client: MongoClient): Promise<boolean> {
  const status = await client
    .db('admin')
    .command({ serverStatus: 1, metrics: 0, wiredTiger: 0, locks: 0, tcmalloc: 0 });
  return Number((status['transactions'] as Document)['currentOpen']) === 0;
}

/**
 * Aborts these transactions. Their owners get a TransientTransactionError, which drivers retry, with their next command; a
 * command that is being carried out at that moment fails as interrupted (11601), which they do not.
 */
export async function endTransactions(client: MongoClient, transactions: readonly OpenTransaction[]): Promise<void> {
  if (transactions.length === 0) return;
  await client.db('admin').command({ killAllSessionsByPattern: transactions.map(({ lsid }) => ({ lsid })) });
}
