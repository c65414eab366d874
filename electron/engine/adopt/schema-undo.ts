import { Binary } from 'mongodb';
import { Catalog, type CollectionSchema } from '../changes/catalog.ts';
import { DroppedCollection } from '../changes/dropped.ts';
import { goneSeries, Rewind, type LeftOut } from '../changes/rewind.ts';
import { catalogsAt, droppedTarget, unlikeServer } from '../changes/schema-history.ts';
import type { Side } from '../changes/side.ts';
import { uuidText } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { importedAfter, marks } from '../home/past.ts';
import { schemaEvents, type SchemaEvent } from '../home/schema-events.ts';
import type { ChosenChanges } from './undo-changes.ts';

/** The schema without the chosen changes, three-way. */
export interface SchemaWithout {
  /** As the chosen changes left it. */
  readonly base: Catalog;
  readonly then: Catalog;
  /** Collections made by the chosen changes, which hold nothing else: they go as a whole. By UUID. */
  readonly leaving: ReadonlySet<string>;
  /** Those dropped by the chosen changes, which come back as they were right before. */
  readonly returning: readonly DroppedCollection[];
  /** All that the chosen changes dropped, also what cannot come back. By UUID. */
  readonly dropped: ReadonlySet<string>;
  readonly leftOut: readonly LeftOut[];
}

/** The stretch of chosen schema changes of one collection or view. */
interface Stretch {
  readonly first: number;
  readonly last: number;
  readonly isWhole: boolean;
  /** The first of them that dropped it. */
  readonly drop: number | undefined;
}

/** What the schema would be without the chosen changes of it; what others changed in it since stays. */
export async function schemaWithout(
  home: Home,
  side: Side,
  changes: ChosenChanges,
  now: Catalog,
  parent: Side | undefined,
): Promise<SchemaWithout> {
  const leftOut: LeftOut[] = [];
  if (changes.schema.length === 0) {
    return { base: now, then: now, leaving: new Set(), returning: [], dropped: new Set(), leftOut };
  }
  const upTo = side.capture.seq;
  const stretches = await stretchesOf(home, side, changes, upTo);
  const edges = [...stretches.values()].flatMap(({ first, last }) => [first - 1, last]);
  const sorted = [...new Set([...edges, upTo])].sort((a, b) => a - b);
  const catalogs = new Map((await catalogsAt(home, side.record._id, sorted)).map((each, at) => [sorted[at]!, each]));
  const unlike = unlikeServer(catalogs.get(upTo)!, now);
  const [base, then] = [entriesOf(now), entriesOf(now)];
  const leaving = new Set<string>();
  const returning: DroppedCollection[] = [];
  const leave = (name: LeftOut['name'], detail: string) => leftOut.push({ name, detail });
  for (const [id, { first, last, isWhole, drop }] of stretches) {
    const [after, before] = [entryOf(catalogs.get(last)!, id), entryOf(catalogs.get(first - 1)!, id)];
    const ns = (entryOf(now, id) ?? after ?? before)?.ns;
    if (ns === undefined) continue;
    if (unlike.has(ns)) leave('schema', `What options and indexes ${ns} had is not known; they stay as they are.`);
    else if (!isWhole) leave('schema', `The schema of ${ns} was changed by others in between; it stays as it is.`);
    else if (after && !before && now.byUuid.has(id) && !(await holdsOnlyChosen(home, side, id, changes, upTo)))
      leave('schema', `${ns} was made by these changes and others wrote to it; it stays.`);
    else if (before?.kind === 'timeseries' && drop !== undefined) leftOut.push(goneSeries(ns));
    else {
      if (before && drop !== undefined && !now.byUuid.has(id) && before.uuid !== undefined) {
        const at = { seq: drop - 1, time: undefined };
        const collection = await DroppedCollection.open(await Rewind.open(home, side, side, at, upTo), id, parent);
        if (typeof collection === 'string') {
          leave('documents', `${collection} It stays as it is now.`);
          continue;
        }
        returning.push(collection);
      }
      if (after && !before) leaving.add(id);
      put(base, id, after);
      put(then, id, before);
    }
  }
  return {
    base: new Catalog([...base.values()]),
    then: new Catalog([...then.values()]),
    leaving,
    returning,
    dropped: new Set([...stretches].flatMap(([id, { drop }]) => (drop === undefined ? [] : [id]))),
    leftOut,
  };
}

/** Chosen schema changes by what they are about, and whether nothing else changed it in between. */
async function stretchesOf(
  home: Home,
  side: Side,
  changes: ChosenChanges,
  upTo: number,
): Promise<Map<string, Stretch>> {
  const chosen = new Set(changes.schema.map(({ seq }) => seq));
  const stretches = new Map<string, Stretch>();
  const others = new Map<string, number>();
  for await (const event of schemaEvents(home, side.record._id, upTo)) {
    for (const { id, drops } of affected(event)) {
      const known = stretches.get(id);
      if (!chosen.has(event.seq)) {
        others.set(id, event.seq);
        continue;
      }
      stretches.set(id, {
        first: known?.first ?? event.seq,
        last: event.seq,
        isWhole: known === undefined || (known.isWhole && (others.get(id) ?? 0) < known.last),
        drop: known?.drop ?? (drops ? event.seq : undefined),
      });
    }
  }
  return stretches;
}

/** Collections by UUID, views by name. */
function affected({ op, ns, uuid, description }: SchemaEvent): { id: string; drops: boolean }[] {
  // The collections of a dropped database are told one by one.
  if (op === 'dropDatabase') return [];
  const target = op === 'rename' ? droppedTarget(description) : undefined;
  return [
    { id: uuid ? uuidText(uuid) : ns, drops: op === 'drop' },
    ...(target === undefined ? [] : [{ id: target, drops: true }]),
  ];
}

function entriesOf(catalog: Catalog): Map<string, CollectionSchema> {
  return new Map([...catalog.byNamespace.values()].map((each) => [each.uuid ?? each.ns, each]));
}

function entryOf(catalog: Catalog, id: string): CollectionSchema | undefined {
  const named = catalog.byNamespace.get(id);
  return catalog.byUuid.get(id) ?? (named?.uuid === undefined ? named : undefined);
}

function put(entries: Map<string, CollectionSchema>, id: string, entry: CollectionSchema | undefined): void {
  if (entry) entries.set(id, entry);
  else entries.delete(id);
}

/** Whether every write to a collection that the chosen changes made is one of them. */
async function holdsOnlyChosen(
  home: Home,
  side: Side,
  id: string,
  changes: ChosenChanges,
  upTo: number,
): Promise<boolean> {
  const uuid = Buffer.from(id, 'hex');
  const own = [...changes.documents.values()].filter((each) => uuidText(each.uuid) === id);
  let chosen = own.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const filter = { u: new Binary(uuid, 4), k: { $exists: true } };
  for await (const page of marks(home, side.record._id, { after: 0, upTo }, filter)) chosen -= page.length;
  if (chosen !== 0) return false;
  const imported = new Set(own.flatMap((each) => (each.imported === undefined ? [] : [each.imported])));
  for await (const rows of importedAfter(home, side.record._id, 0)) {
    for (const row of rows) {
      if (uuidText(row.uuid) === id && row.imports?.some((seq) => !imported.has(seq))) return false;
    }
  }
  return true;
}
