/** Ways back inside a branch: to any moment, and of single changes. */
import { z } from 'zod';
import { Branch } from './branches.ts';
import { DocumentChange, NamespaceSummary } from './changes.ts';
import { Applied, BackPlan } from './plans.ts';
import { Bson, ChangeKind, Namespace, Time, method } from './values.ts';

/**
 * A moment of a branch: right behind the change with this sequence (0 = as it began), or at this time. One that lies
 * inside a transaction is behind all of it: its writes happened together.
 */
export const Moment = z.union([z.object({ seq: z.number().int().nonnegative() }), z.object({ time: Time })]);
export type Moment = z.infer<typeof Moment>;

/** The moment that was meant: behind this change. `time` is left out where nothing had happened yet. */
export const MomentAt = z.object({ seq: z.number().int(), time: Time.optional() });

export const restoreApi = {
  /**
   * What differs between a branch as it was at a moment and as it is now. Counts are of what happened since:
   * `added` documents were not there then. Documents come a page at a time.
   */
  'restore.preview': method(
    z.object({
      branch: z.string(),
      to: Moment,
      ns: Namespace.optional(),
      after: z.string().optional(),
      limit: z.number().int().nonnegative().max(10_000).optional(),
    }),
    z.object({
      at: MomentAt,
      summary: z.array(NamespaceSummary.omit({ conflicts: true })),
      schema: z.array(z.object({ ns: Namespace, text: z.string() })),
      documents: z.array(z.object({ ns: Namespace, id: Bson, kind: ChangeKind })),
      /** Pass as `after` for the next page. */
      next: z.string().optional(),
      /** What could not be restored, and why, a sentence each; left out when there is none. */
      leftOut: z.array(z.string()).optional(),
    }),
  ),
  /** One document as it was at a moment and as it is now; left out where it did not or does not exist. */
  'restore.document': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, to: Moment }),
    z.object({ at: MomentAt, then: Bson.optional(), now: Bson.optional() }),
  ),
  /** Plans to put a branch back to a moment, in place. Nothing changes before `plan.apply`. */
  'restore.plan': method(z.object({ branch: z.string(), to: Moment }), BackPlan.extend({ at: MomentAt })),
  /**
   * Forks a branch and puts the fork back to a moment of the branch. Where something cannot be restored nothing is made,
   * unless `partial`: error `restore_incomplete` with `leftOut`.
   */
  'restore.branch': method(
    z.object({
      branch: z.string(),
      to: Moment,
      as: z.string(),
      partial: z.boolean().optional(),
      ttlMs: z.number().int().positive().nullable().optional(),
    }),
    Applied.extend({ branch: Branch, uri: z.string(), at: MomentAt }),
  ),
  /**
   * Plans to take changes of a branch back inside it, field by field: what others changed later in the same documents
   * stays. Where both changed the same, it is a conflict: such a document is listed and left out of the plan.
   */
  'changes.undo': method(
    z.object({
      branch: z.string(),
      what: z.union([
        z.object({ seqs: z.array(z.number().int().positive()).min(1).max(10_000) }),
        z.object({ from: z.number().int().positive(), to: z.number().int().positive() }),
        z.object({ transaction: z.string() }),
        z.object({ actor: z.string() }),
      ]),
    }),
    BackPlan.extend({
      /** The first hundred. `base` is what the change left, `parent` what is there now, `branch` what was there before. */
      conflicting: z.array(DocumentChange),
    }),
  ),
} as const;
