import { shellText } from '../../../shared/bson/ejson.ts';
import { sameBytes, toBase64 } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { readCatalog, shownNamespace } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import type { Comparison } from '../changes/touched.ts';
import type { History } from '../home/history.ts';
import type { Home } from '../home/home.ts';
import { PlanStore, type PlanItemRecord, type PlanRecord, type SchemaStep, type Undecided } from '../home/plans.ts';
import type { LogRecord } from '../home/records.ts';
import { basesBack } from './bases.ts';
import { checkItems } from './checks.ts';
import { inverseOf, invertDocuments, type InverseDocument } from './inverse.ts';
import { PlanItems } from './plan-items.ts';
import { countItems, nameBefore } from './schema-steps.ts';
import { checkSteps } from './step-checks.ts';
import { reverseSteps } from './schema-apply.ts';
import { keptByOthers, schemaMoved } from './undo-obstacles.ts';

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
    hint: 'Adoptions, restores, resets, discards that are no hour old, expiries that are no day old, undone changes and their undos can.',
  });
}

/**
 * Plans the way back of an applied plan: each document gets back what it was, and keeps what else was changed in it since.
 * Like any plan it is stored, and guarded when it is applied.
 * @param parent the branch that the plan was applied to
 * @param history the adopted branch's, whose bases move back; undefined once that is gone
 * @throws ForkyardError `undo_refused` with `conflicts` where the same fields were changed again since, a unique index of the
 * parent would not take what was there before, a name is another's by now, or what a step changed was changed again
 */
export async function createUndoPlan(
  home: Home,
  parent: Side,
  history: History | undefined,
  undone: { readonly entry: string; readonly plan: PlanRecord },
): Promise<PlanRecord> {
  const { entry, plan: original } = undone;
  const store = new PlanStore(home);
  const steps = reverseSteps(original.schema);
  const documentsAt = steps.length - (original.documentsAt ?? steps.length);
  const early = steps.slice(0, documentsAt);
  const comparison = await asItIs(parent);
  const moved = schemaMoved(parent, entry, steps, comparison.parentCatalog);
  if (moved.length > 0) throw refusal(entry, moved, schemaHint);
  return store.make(async (id) => {
    const clashing: InverseDocument[] = [];
    const documents = new PlanItems(store, id);
    for await (const page of store.items(original)) {
      // One that stood aside while the plan was applied is there twice.
      const items = page.filter(({ part }) => part !== 'leave');
      const inverse = await invertItems(parent, items, early);
      clashing.push(...inverse.filter(({ clashes }) => clashes.length > 0));
      const bases = history ? await basesBack(history, items) : [];
      const back = items.map((item, at) => {
        const { current, result } = inverse[at]!;
        const base = bases[at];
        return {
          ns: item.ns,
          key: item.key,
          expect: current,
          result,
          writes: !sameBytes(current, result),
          ...(base ? { touched: base } : {}),
        };
      });
      await documents.add(back);
    }
    if (clashing.length > 0) throw changedAgain(parent, entry, clashing);
    const trial = { home, store, planId: id, comparison, ...documents.extent };
    // What the parent's unique indexes, those that come back too, would refuse of what comes back.
    const indexes = await checkSteps(trial, { steps, documentsAt });
    const found = await checkItems(trial, { steps, documentsAt }, { pastValidators: true });
    const taken = [...found.refused.values(), ...indexes.refused.map(({ undecided }) => undecided)];
    if (taken.length > 0) throw refusal(entry, taken, valueHint);
    const kept = await keptByOthers(trial, entry, steps);
    if (kept.length > 0) throw refusal(entry, kept, 'Move or remove what was written there since.');
    await documents.arrange(found.takes);
    return {
      _id: id,
      kind: 'undo',
      branchId: original.branchId,
      branchName: original.branchName,
      parentId: original.parentId,
      parentName: original.parentName,
      createdAt: new Date(),
      items: documents.writes + countItems(original.schema),
      conflicts: 0,
      bytes: documents.bytes,
      inPieces: documents.inPieces,
      schema: steps,
      checks: [],
      state: 'ready',
      documentsAt,
      ...(original.agreement ? { agreement: agreementBack(original._id, original.agreement) } : {}),
      undoes: entry,
      ...(original.text === undefined ? {} : { text: takenBackText(original.text) }),
    };
  });
}

const valueHint = 'Change or remove the documents that have these values by now, or take back what wrote them first.';
const schemaHint = 'Give what is in the way another name, or take back what changed it first.';

const takenBack = 'Took back: ';

function takenBackText(text: string): string {
  return text.startsWith(takenBack)
    ? `Did again: ${text.slice(takenBack.length)}`
    : `${takenBack}${text.replace(/^Did again: /, '')}`;
}

type Agreement = NonNullable<PlanRecord['agreement']>;

/** What was agreed on with a plan is so no longer; taken back once more, it is again. */
function agreementBack(plan: string, { parts, back }: Agreement): Agreement {
  return back === undefined ? { parts, back: plan } : { parts };
}

/** Where the plan wrote nothing there is nothing to take back. */
async function invertItems(
  parent: Side,
  items: readonly PlanItemRecord[],
  early: readonly SchemaStep[],
): Promise<InverseDocument[]> {
  const documents = items.map(({ ns, key, expect, result, writes }) => ({
    ns,
    key,
    changes: writes ? [{ before: expect, after: result }] : [],
  }));
  const placed = documents.flatMap((each, at) => {
    const ns = nameBefore(early, each.ns);
    return ns === undefined ? [] : [{ at, document: { ...each, ns } }];
  });
  const read = await invertDocuments(
    parent,
    placed.map(({ document }) => document),
  );
  const found = new Map(placed.map(({ at }, index) => [at, read[index]!]));
  return documents.map(({ ns, key, changes }, at) => {
    // Whatever has that name now, it is not what the plan will make.
    return found.get(at) ?? { ns, key, current: undefined, ...inverseOf(undefined, changes) };
  });
}

/** One branch against itself: what a dry run of a way back looks at is what is there. */
async function asItIs(parent: Side): Promise<Comparison> {
  const catalog = await readCatalog(parent.client);
  return { branch: parent, parent, base: catalog, branchCatalog: catalog, parentCatalog: catalog };
}

const named = 3;

function refusal(entry: string, inTheWay: readonly Undecided[], hint: string): ForkyardError {
  const more = inTheWay.length > named ? [`And ${inTheWay.length - named} more.`] : [];
  const sentences = [...inTheWay.slice(0, named).map(({ text }) => text), ...more];
  return new ForkyardError('undo_refused', `${entry} was not taken back. ${sentences.join(' ')}`, {
    hint,
    details: { conflicts: inTheWay.map((each) => ({ ...each })) },
  });
}

function changedAgain(parent: Side, entry: string, clashing: readonly InverseDocument[]): ForkyardError {
  const names = clashing.slice(0, named).map(({ ns, key, clashes }) => {
    const places = clashes.filter(({ path }) => path.length > 0).map(({ path }) => `/${path.join('/')}`);
    return `${shellText(key)} of ${shownNamespace(ns)}${places.length > 0 ? ` (${places.join(', ')})` : ''}`;
  });
  const more = clashing.length > named ? ` and ${clashing.length - named} more` : '';
  return new ForkyardError(
    'undo_refused',
    `What ${entry} wrote was changed again in ${parent.record.name} since: ${names.join(', ')}${more}. Nothing was taken back.`,
    {
      hint: 'Take back what changed it later first, or change it by hand.',
      details: {
        conflicts: clashing.map(({ ns, key, clashes }) => ({
          ns: shownNamespace(ns),
          id: toBase64(key),
          paths: clashes.map(({ path }) => [...path]),
        })),
      },
    },
  );
}
