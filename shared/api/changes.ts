/** What was written, and the net effect of it. */
import { z } from 'zod';
import { Bson, ChangeKind, FieldPath, Namespace, Time, method } from './values.ts';

/** One captured write (or a gap, or an import). `op` is the server's operationType, `import` or `gap`. */
export const Change = z.object({
  seq: z.number().int(),
  time: Time,
  op: z.string(),
  ns: z.string().optional(),
  id: Bson.optional(),
  actor: z.string().optional(),
  /** Where only "one of" is known. */
  actors: z.array(z.string()).optional(),
  transaction: z.string().optional(),
  before: Bson.optional(),
  after: Bson.optional(),
  /** True where an image was folded from update descriptions; a gap tells whether that was verified. */
  folded: z.boolean().optional(),
  /** What a schema event, an import or a gap says of itself. */
  detail: z.record(z.string(), z.unknown()).optional(),
});
export type Change = z.infer<typeof Change>;

export const MergeClass = z.enum(['clean', 'convergent', 'divergent']);

export const FieldChange = z.object({
  path: FieldPath,
  base: Bson.optional(),
  parent: Bson.optional(),
  branch: Bson.optional(),
  class: MergeClass,
  /** An order-only change of the object at `path`: the three sides are the names in order. */
  order: z.literal(true).optional(),
});
export type FieldChange = z.infer<typeof FieldChange>;

/** What became of documents; `conflicts` is a subset of the three. */
const Counts = z.object({
  added: z.number().int(),
  modified: z.number().int(),
  removed: z.number().int(),
  conflicts: z.number().int(),
});

export const DocumentChange = z.object({
  ns: Namespace,
  id: Bson,
  kind: ChangeKind,
  conflict: z.boolean(),
  fields: z.array(FieldChange),
  /** Of a document in conflict, where it was asked for: what the parent alone changed in it. */
  parentFields: z.array(FieldChange).optional(),
  /** Of a bucket of a time-series collection: what became of the measurements in it. */
  measurements: Counts.omit({ conflicts: true }).optional(),
});
export type DocumentChange = z.infer<typeof DocumentChange>;

export const SchemaType = z.enum(['collection', 'options', 'validator', 'view', 'index', 'rename']);

export const SchemaChange = z.object({
  type: SchemaType,
  kind: ChangeKind,
  ns: Namespace,
  name: z.string().optional(),
  /** How many documents a created or dropped collection holds. */
  documents: z.number().int().optional(),
  base: Bson.optional(),
  parent: Bson.optional(),
  branch: Bson.optional(),
  conflict: z.boolean(),
  /** Documents of a dropped collection that the parent changed since, by `_id`: at most 100. */
  edited: z.array(Bson).optional(),
});
export type SchemaChange = z.infer<typeof SchemaChange>;

export const Gap = z.object({
  ns: z.string().optional(),
  from: Time.optional(),
  to: Time.optional(),
  reason: z.string(),
  /** True once an exact comparison has settled what changed. */
  settled: z.boolean(),
});

/** Of a time-series collection it counts measurements, and `buckets` the documents they are stored and listed in. */
export const NamespaceSummary = Counts.extend({ ns: Namespace, buckets: Counts.optional() });

export const Diff = z.object({
  branch: z.string(),
  parent: z.string(),
  complete: z.boolean(),
  gaps: z.array(Gap),
  summary: z.array(NamespaceSummary),
  schema: z.array(SchemaChange),
  documents: z.array(DocumentChange),
  /** Pass as `after` for the next page. */
  next: z.string().optional(),
  /** When both sides were compared. */
  comparedAt: Time,
});
export type Diff = z.infer<typeof Diff>;

/**
 * One schema item of a collection, by what its {@link SchemaChange} says: `kind` tells a dropped collection from the one
 * that was made under its name, `name` is an index's. What is left out matches every item.
 */
export const SchemaTarget = z.object({
  type: SchemaType.optional(),
  kind: ChangeKind.optional(),
  name: z.string().optional(),
});
export type SchemaTarget = z.infer<typeof SchemaTarget>;

/**
 * What a plan takes in or leaves out: a collection with its documents and schema items, a document of it, a field of that,
 * or (with `schema`) schema items of it alone.
 */
export const Target = z.object({
  ns: Namespace,
  id: Bson.optional(),
  path: FieldPath.optional(),
  schema: SchemaTarget.optional(),
});
export type Target = z.infer<typeof Target>;

export const changeApi = {
  /**
   * A page of history, ascending, `after` exclusive. With `waitMs` it answers as soon as there is something after `after`
   * (long poll): this is how a feed follows. With `before` it pages backwards from there (exclusive), still ascending.
   * `settle` first waits until capture has passed the time of the request.
   */
  'changes.page': method(
    z.object({
      branch: z.string(),
      after: z.number().int().nonnegative().optional(),
      before: z.number().int().positive().optional(),
      limit: z.number().int().positive().max(5000).optional(),
      waitMs: z.number().int().nonnegative().max(30_000).optional(),
      settle: z.boolean().optional(),
    }),
    z.object({ changes: z.array(Change), last: z.number().int(), complete: z.boolean() }),
  ),
  /** Everything that happened to one document, oldest first. */
  'changes.ofDocument': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, limit: z.number().int().positive().max(1000).optional() }),
    z.object({ changes: z.array(Change) }),
  ),
  'diff.get': method(
    z.object({
      branch: z.string(),
      only: z.array(Target).optional(),
      against: z.string().optional(),
      /** Leave the documents out. */
      summary: z.boolean().optional(),
      limit: z.number().int().positive().max(10_000).optional(),
      after: z.string().optional(),
      /** Keep only documents with conflicts. */
      conflictsOnly: z.boolean().optional(),
      /** Tell of documents in conflict what the parent alone changed too; not with `against`. */
      parentFields: z.boolean().optional(),
      /** Any edit of one document on both sides is a conflict. */
      strict: z.boolean().optional(),
      /** Only the page of documents: answered as soon as it is full, `summary` and `schema` stay empty. */
      listing: z.boolean().optional(),
    }),
    Diff,
  ),
  /** The three whole sides of one document. One that the branch never touched has its own bytes as base, and no `change`. */
  'diff.document': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, strict: z.boolean().optional() }),
    z.object({
      change: DocumentChange.optional(),
      base: Bson.optional(),
      parent: Bson.optional(),
      branch: Bson.optional(),
      writes: z.object({ count: z.number().int(), lastAt: Time.optional(), actors: z.array(z.string()) }),
    }),
  ),
  /**
   * When a branch was written to: stretches of time in which something happened, in order. `seq` is the last change in
   * one, `gap` says that its changes are not all known.
   */
  'changes.track': method(
    z.object({
      branch: z.string(),
      /** Left out = from the branch's beginning. */
      from: Time.optional(),
      /** How many stretches the time up to now is cut into. */
      stretches: z.number().int().positive().max(1000),
    }),
    z.object({
      from: Time,
      to: Time,
      last: z.number().int(),
      bars: z.array(
        z.object({
          index: z.number().int(),
          seq: z.number().int(),
          added: z.number().int(),
          modified: z.number().int(),
          removed: z.number().int(),
          gap: z.boolean(),
        }),
      ),
    }),
  ),
} as const;
