import type { MongoClient } from 'mongodb';
import type { BsonValue } from '../../../shared/bson/value.ts';

/** A collection by database and name; the name may hold dots. */
export interface Namespace {
  readonly db: string;
  readonly collection: string;
}

/** What is to be imported. {@link parseSource} makes one of a command line's or a form's text. */
export type ImportSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'deployment'; readonly uri: string }
  | { readonly kind: 'sample'; readonly name: SampleName };

export type SampleName = 'three' | 'shop';

/** Where a file's documents go, or which part of a deployment is taken; a sample goes to `db` instead of its own. */
export interface ImportOptions {
  readonly db?: string | undefined;
  readonly collection?: string | undefined;
}

/** A refused document, by its index in what was handed over. */
export interface RefusedDocument {
  readonly index: number;
  readonly message: string;
}

export interface InsertOutcome {
  readonly inserted: number;
  /** Documents whose `_id`, or another unique key, is there already. */
  readonly duplicates: readonly RefusedDocument[];
  /** Documents refused for any other reason. */
  readonly problems: readonly RefusedDocument[];
}

/**
 * The branch that takes an import, and the only hands that write documents to it: whoever makes the target marks its
 * writes, so that capture records the import as one. {@link clientTarget} makes one of a client.
 */
export interface ImportTarget {
  /** As the engine's own user, for collections, indexes and counts. */
  readonly client: MongoClient;
  /**
   * Inserts documents given as bytes, unordered, in one message: at most 10,000 documents and 40 MB. Throws where the
   * server refuses the message as a whole.
   */
  insert(ns: Namespace, documents: readonly Uint8Array[], options: InsertOptions): Promise<InsertOutcome>;
  /**
   * Gives documents that are there, found by `_id`, exactly these bytes by a pipeline's `$literal`, which keeps what an
   * insert changes: a top-level Timestamp(0, 0). Never called with duplicate field names, which abort the server there.
   */
  rewrite(ns: Namespace, documents: readonly Uint8Array[]): Promise<readonly RefusedDocument[]>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportProgress) => void;
}

export interface InsertOptions {
  /** A copy of a deployment may hold documents that its validator would refuse today; they were accepted once. */
  readonly bypassValidation: boolean;
}

export interface ImportProgress {
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
}

export interface ImportProblem {
  readonly ns?: string;
  /** In the file, from 1: where the document begins. */
  readonly line?: number;
  readonly id?: BsonValue;
  readonly message: string;
}

export interface ImportedCollection {
  /** `database.collection` */
  readonly ns: string;
  readonly documents: number;
}

export interface ImportResult {
  /** Every collection of the source, also an empty one, with the documents inserted. */
  readonly collections: readonly ImportedCollection[];
  readonly problems: readonly ImportProblem[];
  /** SHA-256, hex, over the bytes of the documents inserted or tried, in order. */
  readonly hash: string;
}
