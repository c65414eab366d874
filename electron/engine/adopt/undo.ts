import { randomBytes } from 'node:crypto';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, type PlanRecord } from '../home/plans.ts';
import type { LogRecord } from '../home/records.ts';
import { reverseSteps } from './schema-apply.ts';

/** Kinds of log entries that a reversed plan takes back. */
export function isUndoable(entry: LogRecord): boolean {
  return entry.plan !== undefined && entry.undoneBy === undefined;
}

/**
 * The plan that takes an entry back: the same documents, with what they were and what they became swapped. It is
 * guarded like any plan: a document that changed since is not overwritten.
 * @throws ForkyardError `unknown_entry`, `undo_refused`
 */
export async function createUndoPlan(home: Home, entryId: string): Promise<PlanRecord> {
  const entry = await home.log.findOne({ _id: entryId });
  if (!entry) {
    throw new ForkyardError('unknown_entry', `There is no entry ${entryId} in the log.`, {
      hint: 'See "forkyard log".',
    });
  }
  if (entry.undoneBy !== undefined) {
    throw new ForkyardError('undo_refused', `${entryId} was taken back already, by ${entry.undoneBy}.`, {
      hint: `Take that back with "forkyard undo ${entry.undoneBy}".`,
    });
  }
  const store = new PlanStore(home);
  const original = entry.plan === undefined ? undefined : await store.find(entry.plan);
  if (!original) {
    throw new ForkyardError('undo_refused', `${entryId} (${entry.text}) cannot be taken back.`, {
      hint: 'Adoptions and their undos can.',
    });
  }
  const source = original.source ?? { plan: original._id, reversed: false };
  const plan: PlanRecord = {
    _id: `plan-${randomBytes(6).toString('hex')}`,
    kind: 'undo',
    branchId: original.branchId,
    branchName: original.branchName,
    parentId: original.parentId,
    parentName: original.parentName,
    createdAt: new Date(),
    items: original.items,
    conflicts: 0,
    bytes: original.bytes,
    schema: reverseSteps(original.schema),
    checks: [],
    state: 'ready',
    source: { plan: source.plan, reversed: !source.reversed },
    undoes: entryId,
  };
  await store.plans.insertOne(plan);
  return plan;
}
