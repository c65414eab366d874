import { randomBytes } from 'node:crypto';
import { shellText } from '../../../shared/bson/ejson.ts';
import { sameBytes, toBase64 } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Side } from '../changes/side.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, type PlanItemRecord, type PlanRecord } from '../home/plans.ts';
import type { LogRecord } from '../home/records.ts';
import { basesBack } from './bases.ts';
import { invertDocuments, type InverseDocument } from './inverse.ts';
import { reverseSteps } from './schema-apply.ts';

/** Kinds of log entries that an undo takes back. */
export function isUndoable(entry: LogRecord): boolean {
  if (entry.undoneBy !== undefined) return false;
  return (
    entry.plan !== undefined || entry.swap !== undefined || (entry.until !== undefined && entry.until > new Date())
  );
}

/**
 * The plan of an entry that can be taken back.
 * @throws ForkyardError `unknown_entry`, `undo_refused`
 */
export async function undoablePlan(home: Home, entryId: string): Promise<PlanRecord> {
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
  const plan = entry.plan === undefined ? undefined : await new PlanStore(home).find(entry.plan);
  if (plan) return plan;
  throw new ForkyardError('undo_refused', `${entryId} (${entry.text}) cannot be taken back.`, {
    hint: 'Adoptions, restores, resets, discards that are no hour old, undone changes and their undos can.',
  });
}

/**
 * Plans the way back of an applied plan: each document gets back what it was, and keeps what else was changed in it since.
 * Like any plan it is stored, and guarded when it is applied.
 * @param parent the branch that the plan was applied to
 * @param history the adopted branch's, whose bases move back; undefined once that is gone
 * @throws ForkyardError `undo_refused` with `conflicts` where the same fields were changed again since
 */
export async function createUndoPlan(
  home: Home,
  parent: Side,
  history: History | undefined,
  undone: { readonly entry: string; readonly plan: PlanRecord },
): Promise<PlanRecord> {
  const { entry, plan: original } = undone;
  const store = new PlanStore(home);
  const id = `plan-${randomBytes(6).toString('hex')}`;
  const clashing: InverseDocument[] = [];
  let [writes, bytes] = [0, 0];
  try {
    for await (const items of store.items(original)) {
      const inverse = await invertItems(parent, items);
      clashing.push(...inverse.filter(({ clashes }) => clashes.length > 0));
      const bases = history ? await basesBack(history, items) : [];
      const back = items.map((item, at): PlanItemRecord => {
        const { current, result } = inverse[at]!;
        const base = bases[at];
        return {
          index: item.index,
          ns: item.ns,
          key: item.key,
          expect: current,
          result,
          writes: !sameBytes(current, result),
          ...(base ? { touched: base } : {}),
        };
      });
      for (const item of back) {
        if (!item.writes) continue;
        writes += 1;
        bytes += (item.expect?.length ?? 0) + (item.result?.length ?? 0);
      }
      await store.addItems(id, back);
    }
    if (clashing.length > 0) throw changedAgain(parent, entry, clashing);
  } catch (error) {
    await store.drop(id);
    throw error;
  }
  const plan: PlanRecord = {
    _id: id,
    kind: 'undo',
    branchId: original.branchId,
    branchName: original.branchName,
    parentId: original.parentId,
    parentName: original.parentName,
    createdAt: new Date(),
    items: writes + original.schema.length,
    conflicts: 0,
    bytes,
    schema: reverseSteps(original.schema),
    checks: [],
    state: 'ready',
    schemaLast: original.schemaLast !== true,
    undoes: entry,
    ...(original.text === undefined ? {} : { text: takenBackText(original.text) }),
  };
  await store.plans.insertOne(plan);
  return plan;
}

const takenBack = 'Took back: ';

function takenBackText(text: string): string {
  return text.startsWith(takenBack)
    ? `Did again: ${text.slice(takenBack.length)}`
    : `${takenBack}${text.replace(/^Did again: /, '')}`;
}

/** Where the plan wrote nothing there is nothing to take back. */
async function invertItems(parent: Side, items: readonly PlanItemRecord[]): Promise<InverseDocument[]> {
  const documents = items.map(({ ns, key, expect, result, writes }) => ({
    ns,
    key,
    changes: writes ? [{ before: expect, after: result }] : [],
  }));
  return invertDocuments(parent, documents);
}

const named = 3;

function changedAgain(parent: Side, entry: string, clashing: readonly InverseDocument[]): ForkyardError {
  const names = clashing.slice(0, named).map(({ ns, key, clashes }) => {
    const places = clashes.filter(({ path }) => path.length > 0).map(({ path }) => `/${path.join('/')}`);
    return `${shellText(key)} of ${ns}${places.length > 0 ? ` (${places.join(', ')})` : ''}`;
  });
  const more = clashing.length > named ? ` and ${clashing.length - named} more` : '';
  return new ForkyardError(
    'undo_refused',
    `What ${entry} wrote was changed again in ${parent.record.name} since: ${names.join(', ')}${more}. Nothing was taken back.`,
    {
      hint: 'Take back what changed it later first, or change it by hand.',
      details: {
        conflicts: clashing.map(({ ns, key, clashes }) => ({
          ns,
          id: toBase64(key),
          paths: clashes.map(({ path }) => [...path]),
        })),
      },
    },
  );
}
