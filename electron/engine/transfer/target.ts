import type { ClientSession, Document, MongoClient } from 'mongodb';
import { buildArray, buildDocument, field, rawElement } from '../../../shared/bson/walk.ts';
import { type BsonValue, documentValue, sameBytes, Type, valueOf } from '../../../shared/bson/value.ts';
import { rawFindAll, rawWrite } from '../mongod/raw.ts';
import { commandValue } from './command.ts';
import type { ImportTarget, InsertOutcome, RefusedDocument } from './contract.ts';

export interface ClientTargetOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: ImportTarget['onProgress'];
  /** Writes go through this session, by which capture tells them from everybody else's. */
  readonly session?: ClientSession;
  /** Fields for each write message, e.g. the number that makes it a retryable write: those carry their session. */
  readonly mark?: () => Document;
}

/** An import target that writes through this client. */
export function clientTarget(client: MongoClient, options: ClientTargetOptions = {}): ImportTarget {
  const marked = { session: options.session, extra: () => options.mark?.() ?? {} };
  return {
    client,
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => undefined),

    async insert(ns, documents, { bypassValidation }): Promise<InsertOutcome> {
      const command: Document = { insert: ns.collection, ordered: false };
      if (bypassValidation) command['bypassDocumentValidation'] = true;
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
