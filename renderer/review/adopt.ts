import type { Bson, BranchRow, Check, FieldPath, Output } from '../../shared/api.ts';
import type { z } from 'zod';
import { call } from '../store/engine.ts';
import { planDecisions } from './decisions.ts';
import { placesOf, reviewOf } from './review.ts';
import { partialDocuments, planTargets } from './selection.ts';

/** Items read for the dialog; a longer plan says how many more there are. */
const itemsRead = 1_000;

export interface AdoptPlan {
  readonly plan: string;
  readonly parent: string;
  readonly items: number;
  readonly conflicts: number;
  readonly checks: readonly z.infer<typeof Check>[];
  readonly read: Output<'plan.items'>['items'];
  readonly mongosh: string;
}

/** Stores a plan of what is chosen and decided for a branch. Nothing runs yet. Throws the engine's errors. */
export async function createPlan(branch: Pick<BranchRow, 'id' | 'name'>, parentName: string): Promise<AdoptPlan> {
  const review = reviewOf(branch.id);
  const { diff, selection, decisions, strict } = review;
  const fields = await fieldsOfPartial(branch, partialDocuments(selection));
  const targets = planTargets(
    selection,
    diff?.summary.map((row) => row.ns) ?? [],
    diff?.schema ?? [],
    (ns, id) => fields.get(`${ns}\n${id}`) ?? [],
  );
  const take = planDecisions(decisions, placesOf(review), { parent: parentName, branch: branch.name });
  const created = await call('plan.create', {
    branch: branch.name,
    ...targets,
    ...(take.length === 0 ? {} : { take }),
    ...(strict ? { strict } : {}),
  });
  const { items, mongosh } = await readItems(created.plan);
  return { ...created, read: items, mongosh };
}

/** The changed fields of partly chosen documents as they are now, so that none slips in or out. */
async function fieldsOfPartial(
  branch: Pick<BranchRow, 'id' | 'name'>,
  documents: readonly { readonly ns: string; readonly id: Bson }[],
): Promise<Map<string, readonly FieldPath[]>> {
  const fields = new Map<string, readonly FieldPath[]>();
  for (const { ns, id } of documents) {
    const { change } = await call('diff.document', { branch: branch.name, ns, id });
    fields.set(`${ns}\n${id}`, change?.fields.map((field) => field.path) ?? []);
  }
  return fields;
}

async function readItems(plan: string): Promise<Output<'plan.items'>> {
  return call('plan.items', { plan, limit: itemsRead });
}
