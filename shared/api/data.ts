/** What a branch holds, and how it gets there. */
import { z } from 'zod';
import { Bson, Namespace, Time, method } from './values.ts';

/** A collection, view or time-series collection as the Data tab lists it. */
export const CollectionInfo = z.object({
  ns: Namespace,
  name: z.string(),
  type: z.enum(['collection', 'view', 'timeseries']),
  /** Estimated, as the server counts without looking; left out for views and time-series collections. */
  documents: z.number().int().optional(),
  /** Uncompressed, without indexes; left out for views. */
  sizeBytes: z.number().int().optional(),
  /** `spec` is the server's whole specification (`key`, `name`, `unique`, …). */
  indexes: z.array(z.object({ name: z.string(), spec: Bson, sizeBytes: z.number().int().optional() })),
  /** Its create options, the validator among them; of a view `viewOn` and `pipeline`. */
  options: Bson,
  validator: Bson.optional(),
});
export type CollectionInfo = z.infer<typeof CollectionInfo>;

export const dataApi = {
  /**
   * Hands a file over piece by piece, for a window that knows no path of it. The first call names the file and answers
   * the `source` that the next ones and the import name; it is gone once it was imported.
   */
  'transfer.upload': method(
    z.object({ name: z.string().max(1_000), source: z.string().optional(), bytes: z.base64() }),
    z.object({ source: z.string() }),
  ),
  /**
   * Imports into a branch. `source` is a `sample:` name, a MongoDB URI, an absolute path of a file, or an upload.
   * Progress comes as `progress` events that carry `job`.
   */
  'transfer.import': method(
    z.object({
      source: z.string(),
      into: z.string(),
      db: z.string().optional(),
      collection: z.string().optional(),
      job: z.string().optional(),
    }),
    z.object({
      collections: z.array(z.object({ ns: Namespace, documents: z.number().int() })),
      problems: z.array(
        z.object({
          ns: z.string().optional(),
          line: z.number().int().optional(),
          id: Bson.optional(),
          message: z.string(),
        }),
      ),
    }),
  ),
  /** Everything a live branch holds, by name; `admin`, `local`, `config` and the server's own collections left out. */
  'data.collections': method(
    z.object({ branch: z.string() }),
    z.object({ databases: z.array(z.object({ name: z.string(), collections: z.array(CollectionInfo) })) }),
  ),
  /**
   * A page of a collection's documents, read-only. `filter` and `sort` are text in shell notation or Extended JSON; errors
   * `query_invalid` (`details: {what, line, column}` where it cannot be read), `query_refused`, `query_slow`. Without both,
   * documents come by `_id`. `after` is the `next` of the page before. A page may hold fewer than `limit` large documents.
   */
  'data.documents': method(
    z.object({
      branch: z.string(),
      ns: Namespace,
      filter: z.string().max(100_000).optional(),
      sort: z.string().max(10_000).optional(),
      skip: z.number().int().nonnegative().optional(),
      after: z.string().optional(),
      limit: z.number().int().positive().max(1000).optional(),
    }),
    z.object({ documents: z.array(Bson), next: z.string().optional() }),
  ),
  /**
   * When documents were last written to in this branch, and by whom, as its history has it. Those it never wrote to are
   * left out.
   */
  'data.lastWrites': method(
    z.object({ branch: z.string(), ns: Namespace, ids: z.array(Bson).max(1000) }),
    z.object({
      writes: z.array(
        z.object({
          id: Bson,
          time: Time,
          actor: z.string().optional(),
          /** Where only "one of" is known. */
          actors: z.array(z.string()).optional(),
        }),
      ),
    }),
  ),
  /** The tour's script: writes to a sandbox of the sample shop through its connection string alone. */
  'demo.change': method(z.object({ branch: z.string() }), z.object({ actor: z.string() })),
  /** Every sandbox goes to the trash and main's sample shop is imported anew. */
  'demo.reset': method(
    z.object({ job: z.string().optional() }),
    z.object({ discarded: z.number().int(), documents: z.number().int() }),
  ),
} as const;
