import { type ClientSession, type Document, Long, type MongoClient } from 'mongodb';
import { buildArray, buildDocument, field, rawElement } from '../../../shared/bson/walk.ts';
import { type BsonValue, documentValue, sameBytes, Type, valueOf } from '../../../shared/bson/value.ts';
import { rawFindAll, rawWrite } from '../mongod/raw.ts';
import { commandValue } from './command.ts';
import type { ImportTarget, InsertOutcome, RefusedDocument } from './contract.ts';

export interface ClientTargetOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: ImportTarget['onProgress'];
  /** Throws where the disk has no room for more. */
  readonly room?: () => Promise<void>;
  /** Writes are retryable ones of this session: the oplog names it, so capture tells them from everybody else's. */
  readonly session?: ClientSession;
}

/** An import target that writes through this client. */
export function clientTarget(client: MongoClient, options: ClientTargetOptions = {}): ImportTarget {
  const { session } = options;
  const marked = { session, extra: () => (session ? nextRetryable(session) : {}) };
  return {
    client,
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => undefined),

    async insert(ns, documents, { bypassValidation }): Promise<InsertOutcome> {
      const command: Document = { insert: ns.collection, ordered: false };
      if (bypassValidation) command['bypassDocumentValidation'] = true;
      await options.room?.();
      const { n, problems } = await rawWrite(
        client.db(ns.db),
        command,
        { name: 'documents', items: documents },
        marked,
      );
      return {
        inserted: n,
        duplicates: problems.filter(({ code }) => code === duplicateKey),
        problems: problems.filter(({ code }) => code !== duplicateKey),
      };
    },

    async rewrite(ns, documents): Promise<readonly RefusedDocument[]> {
      const command: Document = { update: ns.collection, ordered: false, bypassDocumentValidation: true };
      const items = documents.map(literalReplacement);
      const { problems } = await rawWrite(client.db(ns.db), command, { name: 'updates', items }, marked);
      const refused: RefusedDocument[] = [...problems];
      for (const [index, document] of documents.entries()) {
        if (refused.some((problem) => problem.index === index)) continue;
        const [stored] = await rawFindAll(client.db(ns.db), { collection: ns.collection, filter: byId(document) });
        if (!sameBytes(stored, document)) refused.push({ index, message: 'it could not be kept exactly' });
      }
      return refused;
    },
  };
}

const duplicateKey = 11000;

/**
 * What makes a command a retryable write. The number goes on from the driver's own count and is kept there: sessions come
 * from a pool and go back to it, and the server refuses a number that it has seen.
 */
function nextRetryable(session: ClientSession): Document {
  const { serverSession } = session;
  serverSession.txnNumber += 1;
  return { txnNumber: Long.fromNumber(serverSession.txnNumber) };
}

function byId(document: Uint8Array): Document {
  return { _id: { $eq: commandValue(idOf(document)) } };
}

function idOf(document: Uint8Array): BsonValue {
  const id = field(document, '_id');
  if (id === undefined) throw new TypeError('a document without _id cannot be rewritten');
  return id;
}

/** The update statement that replaces the document of this `_id` by exactly these bytes. */
function literalReplacement(document: Uint8Array): Uint8Array {
  const equals = documentValue(buildDocument([rawElement('$eq', idOf(document))]));
  const query = buildDocument([rawElement('_id', equals)]);
  const literal = documentValue(buildDocument([rawElement('$literal', documentValue(document))]));
  const stage = documentValue(buildDocument([rawElement('$replaceWith', literal)]));
  return buildDocument([
    rawElement('q', documentValue(query)),
    rawElement('u', valueOf(Type.Array, buildArray([stage]))),
  ]);
}
