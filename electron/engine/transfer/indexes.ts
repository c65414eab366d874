import { type Db, Int32, MongoServerError } from 'mongodb';
import { field } from '../../../shared/bson/walk.ts';
import { buildableIndex } from '../mongod/index-spec.ts';
import { rawReadAll } from '../mongod/raw.ts';
import { commandMap } from './command.ts';
import { text } from './schema.ts';

/**
 * Builds the source's indexes of a collection, each specification in full. One that this server refuses is tried again
 * without what older servers left in it, with a report; one that cannot be built is reported.
 */
export async function buildIndexes(
  from: Db,
  into: Db,
  collection: string,
  report: (message: string) => void,
): Promise<void> {
  const specifications = (await rawReadAll(from, { listIndexes: collection, cursor: {} }))
    .filter(isBuiltByHand)
    .map((spec) => commandMap(buildableIndex(spec)));
  if (specifications.length === 0) return;
  // Together they take one scan; apart, what one is refused for does not keep the others away.
  if ((await build(into, collection, specifications)) === undefined) return;
  for (const specification of specifications) {
    const refusal = await build(into, collection, [specification]);
    if (refusal === undefined) continue;
    const { modern, dropped } = withoutLegacy(specification);
    const still = dropped.length > 0 ? await build(into, collection, [modern]) : refusal;
    const index = `the index ${String(specification.get('name'))}`;
    if (still) report(`${index} could not be built (${still.message})`);
    else report(`${index} was built without ${dropped.join(', ')}, which this server does not take`);
  }
}

type Specification = Map<string, unknown>;

/** Not the `_id` index, nor a clustered collection's entry, which come with the collection. */
function isBuiltByHand(specification: Uint8Array): boolean {
  return text(field(specification, 'name')) !== '_id_' && field(specification, 'clustered') === undefined;
}

/** Undefined when built, or the server's refusal. */
async function build(
  into: Db,
  collection: string,
  indexes: readonly Specification[],
): Promise<MongoServerError | undefined> {
  try {
    await into.command({ createIndexes: collection, indexes });
    return undefined;
  } catch (error) {
    if (error instanceof MongoServerError) return error;
    throw error;
  }
}

/** Left in specifications by servers before 4.4, by old drivers and by hand; none changes what an index holds today. */
const legacyOptions = ['v', 'ns', 'background', 'safe', 'dropDups'];

function withoutLegacy(specification: Specification): { modern: Specification; dropped: string[] } {
  const modern = new Map(specification);
  const dropped = legacyOptions.filter((name) => modern.delete(name));
  const key = modern.get('key');
  // Old servers took { key: true } and anything else that is not false for 1.
  if (key instanceof Map && [...key.values()].some((direction) => typeof direction === 'boolean')) {
    modern.set(
      'key',
      new Map([...key].map(([name, value]) => [name, typeof value === 'boolean' ? new Int32(1) : value])),
    );
    dropped.push('a direction that is no number');
  }
  return { modern, dropped };
}
