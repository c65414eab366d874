import type { BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import { documentName } from '../../../shared/changes/explain.ts';
import { setPart } from '../changes/definition.ts';
import { bucketsNamespace, type Catalog, type CollectionSchema } from '../changes/catalog.ts';
import type { Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { SchemaStep, Undecided } from '../home/plans.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import type { Trial } from './checks.ts';
import { isAt, partAfter } from './schema-steps.ts';

/**
 * Which of the steps that take an entry back the parent stands in the way of by now: a name that another has, or a part of
 * the schema that was changed again. Of each collection the first, in one sentence.
 * @param steps in the order in which they are to be run
 */
export function schemaMoved(
  parent: Pick<Side, 'record'>,
  entry: string,
  steps: readonly SchemaStep[],
  now: Catalog,
): Undecided[] {
  const model = new Map(now.byNamespace);
  const moved = new Map<string, Undecided>();
  for (const step of steps) {
    if (!isAt(step, 'before', model) && !moved.has(step.ns))
      moved.set(step.ns, { ns: step.ns, text: obstacle(step, model, parent.record.name, entry) });
    setPart(model, partAfter(step));
  }
  return [...moved.values()];
}

function obstacle(
  { type, ns, to, uuid, name, before }: SchemaStep,
  model: ReadonlyMap<string, CollectionSchema>,
  parent: string,
  entry: string,
): string {
  const there = model.get(ns);
  const otherwise = `is no longer in ${parent} as ${entry} left it.`;
  switch (type) {
    case 'rename': {
      const wanted = to ?? ns;
      return there?.uuid === uuid && model.has(wanted)
        ? `${ns} cannot be called ${wanted} again: ${parent} has something else of that name by now.`
        : `${ns} ${otherwise}`;
    }
    case 'collection':
    case 'view':
      return before === undefined
        ? `${ns} cannot come back: ${parent} has something else of that name by now.`
        : `${ns} ${otherwise}`;
    case 'index':
      return there && before === undefined
        ? `The index ${name ?? ''} of ${ns} cannot come back: ${parent} has another of that name by now.`
        : `${there ? `The index ${name ?? ''} of ${ns}` : ns} ${otherwise}`;
    case 'validator':
    case 'options':
      return there
        ? `What ${entry} changed in the ${type} of ${ns} was changed again in ${parent}.`
        : `${ns} ${otherwise}`;
  }
}

/** More `_id`s would not go into one command. */
const mostLeftOut = 50_000;

/** Collections that an undo would drop, and that hold more than what it takes away: they would go with somebody's documents. */
export async function keptByOthers(trial: Trial, entry: string, steps: readonly SchemaStep[]): Promise<Undecided[]> {
  const { parent, parentCatalog } = trial.comparison;
  const found: Undecided[] = [];
  for (const { type, ns, uuid, after, kept } of steps) {
    if (type !== 'collection' || after !== undefined || !parentCatalog.byNamespace.has(ns)) continue;
    const store = uuid === undefined ? bucketsNamespace(ns) : ns;
    const [db, collection] = splitNamespace(store);
    const gone = await goneFrom(trial, store);
    const most = gone.length + (kept?.documents ?? 0);
    const client = parent.client.db(db);
    if ((await client.collection(collection).countDocuments({}, { limit: most + 1 })) <= most) continue;
    const others = { collection, filter: { _id: { $nin: gone.map(driverValue) } }, limit: 1 };
    const [other] = uuid === undefined || kept || most > mostLeftOut ? [] : await rawFindAll(client, others);
    const what = other ? documentName(ns, field(other, '_id')!) : `what ${parent.record.name} wrote into it`;
    const text = `${ns} would be dropped, and it holds more than what ${entry} put there: ${what}.`;
    found.push({ ns, text });
  }
  return found;
}

async function goneFrom({ store, planId, ranges }: Trial, ns: string): Promise<BsonValue[]> {
  const range = ranges.get(ns);
  const keys: BsonValue[] = [];
  if (!range) return keys;
  for await (const page of store.items({ _id: planId }, range.from, range.to)) {
    for (const item of page) if (item.ns === ns && item.expect && !item.result) keys.push(item.key);
  }
  return keys;
}
