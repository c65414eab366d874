import { MongoServerError } from 'mongodb';
import { documentBytes, fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import type { Home } from '../home/home.ts';
import type { SchemaStep } from '../home/plans.ts';
import { heldByBranch, type Trial } from './checks.ts';
import { Rehearsal } from './rehearsal.ts';
import { nameBefore } from './schema-steps.ts';

/** CannotCreateIndex, IndexOptionsConflict, IndexKeySpecsConflict. */
const refusals: ReadonlySet<number> = new Set([67, 85, 86]);

/**
 * New and changed indexes of one collection that the server would not build beside one that stays: of the same key and
 * options under another name, or a second text index.
 * @param now what the parent calls the collection before the steps
 * @returns by the name of the new index, the name of the one in its way
 */
export async function unbuildableBeside(
  { home, comparison }: Trial,
  steps: readonly SchemaStep[],
  now: string,
): Promise<Map<string, string>> {
  const own = steps.filter(({ type, ns }, at) => type === 'index' && nameBefore(steps.slice(0, at), ns) === now);
  const there = comparison.parentCatalog.byNamespace.get(now);
  if (there?.kind !== 'collection') return new Map();
  const fresh = new Map(
    own.flatMap(({ name, after }) =>
      name === undefined || after === undefined ? [] : [[name, documentBytes(fromBase64(after))] as const],
    ),
  );
  const last = own.at(-1)?.ns ?? now;
  const branch = heldByBranch(comparison, steps, last)?.indexes;
  const replaced = new Set(own.map(({ name }) => name));
  // What the branch has beside them is known to go together.
  const others = [...there.indexes].filter(
    ([name, spec]) => !replaced.has(name) && !sameBytes(branch?.get(name), spec),
  );
  const inTheWay = new Map<string, string>();
  for (const [other, spec] of others) {
    for (const name of await refusedBeside(home, spec, fresh)) if (!inTheWay.has(name)) inTheWay.set(name, other);
  }
  return inTheWay;
}

async function refusedBeside(
  home: Home,
  there: Uint8Array,
  fresh: ReadonlyMap<string, Uint8Array>,
): Promise<readonly string[]> {
  const rehearsal = await Rehearsal.empty(home);
  try {
    // Refused for another reason, an index is left to the server that is to build it.
    if ((await refusal(rehearsal, there)) !== undefined) return [];
    const refused: string[] = [];
    for (const [name, spec] of fresh) {
      const code = await refusal(rehearsal, spec);
      if (code !== undefined && refusals.has(code)) refused.push(name);
    }
    return refused;
  } finally {
    await rehearsal.close();
  }
}

/** The server's code for why it does not build an index. */
async function refusal(rehearsal: Rehearsal, spec: Uint8Array): Promise<number | undefined> {
  try {
    await rehearsal.addIndex(spec);
    return undefined;
  } catch (error) {
    if (error instanceof MongoServerError) return Number(error.code);
    throw error;
  }
}
