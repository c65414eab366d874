import { type Db, MongoServerError } from 'mongodb';
import { field } from '../../../shared/bson/walk.ts';
import { type BsonValue, documentBytes, sameBytes } from '../../../shared/bson/value.ts';
import { rawReadAll } from '../mongod/raw.ts';
import { commandMap } from './command.ts';

/** A collection, view or time-series collection as `listCollections` tells of it. */
export interface SourceCollection {
  readonly name: string;
  readonly type: 'collection' | 'view' | 'timeseries';
  /** The options document's bytes. */
  readonly options: Uint8Array;
}

/** All collections of a database but those that the server makes itself: `system.views`, time-series buckets, profiles. */
export async function listCollections(db: Db): Promise<SourceCollection[]> {
  const found: SourceCollection[] = [];
  for (const entry of await rawReadAll(db, { listCollections: 1, cursor: {} })) {
    const name = text(field(entry, 'name'));
    if (/^system\./.test(name) && name !== 'system.js') continue;
    const options = field(entry, 'options');
    found.push({
      name,
      type: (text(field(entry, 'type')) || 'collection') as SourceCollection['type'],
      options: options ? documentBytes(options) : emptyDocument,
    });
  }
  return found;
}

/**
 * Makes the collection with the source's options in full; an option that this server does not know is left out with a
 * report. One that exists is kept, and a difference reported. False where the documents have nowhere to go.
 */
export async function createCollection(
  db: Db,
  source: SourceCollection,
  report: (message: string) => void,
): Promise<boolean> {
  const existing = (await listCollections(db)).find(({ name }) => name === source.name);
  if (existing && existing.type !== source.type) {
    report(`not imported: the branch has a ${existing.type} of this name, the source a ${source.type}`);
    return false;
  }
  if (existing) {
    if (!sameOptions(existing.options, source.options))
      report("its options differ from the source's; the branch's are kept");
    return true;
  }
  try {
    await create(db, source, report);
    return true;
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    report(`not imported: it could not be created with the source's options (${error.message})`);
    return false;
  }
}

/** Makes the views among these, each after the view it is made on. */
export async function createViews(
  db: Db,
  collections: readonly SourceCollection[],
  report: (name: string, message: string) => void,
): Promise<void> {
  const views = new Map(collections.filter(({ type }) => type === 'view').map((view) => [view.name, view]));
  const existing = new Map((await listCollections(db)).map((one) => [one.name, one]));
  const createView = async (view: SourceCollection): Promise<void> => {
    // Taken out first, so that a circle ends.
    views.delete(view.name);
    const base = views.get(text(field(view.options, 'viewOn')));
    if (base) await createView(base);
    const there = existing.get(view.name);
    if (there) {
      if (there.type !== 'view' || !sameBytes(there.options, view.options)) {
        report(view.name, "the branch has another of this name, which is kept; the source's view was not imported");
      }
      return;
    }
    try {
      await create(db, view, (message) => report(view.name, message));
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error;
      report(view.name, `the view could not be created (${error.message})`);
    }
  };
  for (const view of [...views.values()]) if (views.has(view.name)) await createView(view);
}

/** What `listCollections` tells and `create` does not take. */
const reportedOnly = ['flags', 'temp', 'uuid', 'autoIndexId'];

async function create(db: Db, source: SourceCollection, report: (message: string) => void): Promise<void> {
  const options = commandMap(source.options);
  for (const name of reportedOnly) options.delete(name);
  for (;;) {
    try {
      await db.command({ create: source.name, ...Object.fromEntries(options) });
      return;
    } catch (error) {
      const unknown = error instanceof MongoServerError ? unknownField(error.message) : undefined;
      if (unknown === undefined || !removeField(options, unknown)) throw error;
      report(`the option ${unknown} was left out: this server does not know it`);
    }
  }
}

/** The name at the end of "BSON field 'create.timeseries.bucketRoundingSeconds' is an unknown field." */
function unknownField(message: string): string | undefined {
  return /BSON field '(?:\w+\.)*(\w+)' is an unknown field/.exec(message)?.[1];
}

/** Takes the option out, from the options or from a structure in them: the server names the latter in its own words. */
function removeField(options: Map<string, unknown>, name: string): boolean {
  if (options.delete(name)) return true;
  return [...options.values()].some((value) => value instanceof Map && value.delete(name));
}

/** Apart from the switch for images, which the branch has on for every collection. */
function sameOptions(a: Uint8Array, b: Uint8Array): boolean {
  const [left, right] = [a, b].map((options) => {
    const map = commandMap(options);
    map.delete('changeStreamPreAndPostImages');
    return JSON.stringify([...map].map(([name, value]) => [name, canonical(value)]));
  });
  return left === right;
}

function canonical(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(([name, inner]) => [name, canonical(inner)]);
  return Array.isArray(value) ? value.map(canonical) : value;
}

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0]);
const utf8 = new TextDecoder();

/** A String value's text; empty where there is none. */
export function text(value: BsonValue | undefined): string {
  return value ? utf8.decode(value.subarray(5, value.length - 1)) : '';
}
