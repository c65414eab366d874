/** Plans that carry changes over or take them back, and the log of what was done. */
import { z } from 'zod';
import { Target } from './changes.ts';
import { Bson, Namespace, Time, method } from './values.ts';

/** A decided conflict: take a side by its branch's name, or (not for schema items) set an edited result. */
export const Decision = z.object({
  target: Target,
  take: z.union([z.object({ side: z.string() }), z.object({ value: Bson })]),
});
export type Decision = z.infer<typeof Decision>;

export const Selection = z.object({
  /** Only these; left out = everything. */
  only: z.array(Target).optional(),
  /** All but these. */
  except: z.array(Target).optional(),
  take: z.array(Decision).optional(),
  /** Leave out schema changes. */
  documentsOnly: z.boolean().optional(),
  /** Any edit of one document on both sides is a conflict, also where the fields differ. */
  strict: z.boolean().optional(),
});

export const Check = z.object({
  name: z.string(),
  ok: z.boolean(),
  /** One sentence. */
  detail: z.string(),
});

export const PlanItem = z.object({
  ns: Namespace,
  id: Bson.optional(),
  /** What will happen to the parent: insert, replace, delete, or the name of a schema command. */
  action: z.string(),
  expect: Bson.optional(),
  result: Bson.optional(),
});

export const Applied = z.object({
  applied: z.number().int(),
  entry: z.string().optional(),
  /** What was shown and not carried over, a sentence each; left out when there is none. */
  leftOut: z.array(z.string()).optional(),
});

/** A plan that goes back, stored and not yet applied. `plan.items` lists it, `plan.apply` carries it out. */
export const BackPlan = z.object({
  plan: z.string(),
  items: z.number().int(),
  conflicts: z.number().int(),
  checks: z.array(Check),
  /** What stays as it is, and why, a sentence each; left out when there is none. */
  leftOut: z.array(z.string()).optional(),
});

export const LogEntry = z.object({
  entry: z.string(),
  time: Time,
  kind: z.string(),
  branch: z.string(),
  actor: z.string().optional(),
  items: z.number().int().optional(),
  undoneBy: z.string().optional(),
  /** One sentence for people. */
  text: z.string(),
  /** True where `log.undo` can take it back. */
  undoable: z.boolean(),
  /** True where `log.undoPlan` can show first what that would change. */
  previewable: z.boolean().optional(),
});
export type LogEntry = z.infer<typeof LogEntry>;

export const planApi = {
  'plan.create': method(
    Selection.extend({ branch: z.string() }),
    z.object({
      plan: z.string(),
      items: z.number().int(),
      conflicts: z.number().int(),
      checks: z.array(Check),
      parent: z.string(),
    }),
  ),
  'plan.items': method(
    z.object({
      plan: z.string(),
      after: z.number().int().optional(),
      limit: z.number().int().positive().max(1000).optional(),
    }),
    z.object({ items: z.array(PlanItem), mongosh: z.string() }),
  ),
  'plan.apply': method(z.object({ plan: z.string(), job: z.string().optional() }), Applied),
  /** plan + apply in one. Undecided conflicts: error `conflicts`, nothing changed. */
  'plan.adopt': method(Selection.extend({ branch: z.string() }), Applied),
  'log.list': method(z.object({ branch: z.string().optional() }), z.array(LogEntry)),
  /** Plans to take a `previewable` entry back, to look at first; `plan.apply` carries it out. Errors as `log.undo`. */
  'log.undoPlan': method(z.object({ entry: z.string() }), BackPlan),
  /** Takes an entry back. Of a reset or a discard: brings `branch` back whole, and `applied` is 1. */
  'log.undo': method(z.object({ entry: z.string() }), Applied.extend({ branch: z.string().optional() })),
} as const;
