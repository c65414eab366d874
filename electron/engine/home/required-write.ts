import type { ClientSession, Db, Document } from 'mongodb';
import { rawWrite } from '../mongod/raw.ts';

/** Writes documents, or update statements, as bytes. @throws Error where home refuses one of them */
export async function requiredWrite(
  db: Db,
  command: Document,
  items: { readonly name: 'documents' | 'updates'; readonly items: readonly Uint8Array[] },
  session?: ClientSession,
): Promise<void> {
  const { problems } = await rawWrite(db, command, items, session ? { session } : undefined);
  const [first] = problems;
  if (first) throw new Error(`home refused a write: ${first.message}`);
}
