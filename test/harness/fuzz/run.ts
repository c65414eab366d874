import type { MongoClient } from 'mongodb';
import type { Change } from '../../../shared/api.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { fromBase64 } from '../../../shared/bson/value.ts';
import type { TestYard } from '../in-process.ts';
import { collections, database, operation, transaction } from './operations.ts';
import { fields, key, Random } from './random.ts';
import {
  databaseHash,
  effectDifferences,
  exactDifference,
  recordedEffect,
  snapshot,
  type NetEffect,
} from './snapshot.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly operations: number;
}

/**
 * One random history on main and a sandbox at once, with two actors on each, and what must hold afterwards.
 * @returns what did not hold, in words
 */
export async function fuzz(yard: TestYard, { seed, operations }: FuzzOptions): Promise<string[]> {
  const random = new Random(seed);
  const name = `fuzz-${seed}`;
  await startingData(random, await yard.client('main'));
  const problems: string[] = [];
  const check = (what: string, found: readonly string[]) => problems.push(...found.map((each) => `${what}: ${each}`));

  await yard.fork(name, { ttlMs: null, actor: 'one' });
  const before = await moment(yard, name);
  await Promise.all([
    write(random.int(2 ** 31), operations, yard, 'main'),
    write(random.int(2 ** 31), operations, yard, name),
  ]);
  const after = await moment(yard, name);
  check(
    'main',
    effectDifferences(
      recordedEffect(await changesSince(yard, 'main', before.mainSeq)),
      exactDifference(before.main, after.main),
    ),
  );
  const effect = exactDifference(before.sandbox, after.sandbox);
  check(name, effectDifferences(recordedEffect(await changesSince(yard, name, 0)), effect));
  check('diff', await diffDifferences(yard, name, effect, after.main));
  await yard.call('branches.discard', { branch: name, now: true });

  check('adoption', await adoption(random, yard, `${name}-adopt`, operations));
  return problems;
}

/** A sandbox written alone, adopted whole into its untouched parent, and the adoption undone. */
async function adoption(random: Random, yard: TestYard, name: string, operations: number): Promise<string[]> {
  const main = await yard.client('main');
  await yard.fork(name, { ttlMs: null, actor: 'one' });
  const original = await databaseHash(main);
  await write(random.int(2 ** 31), operations, yard, name);
  const wanted = await databaseHash(await yard.client(name, 'one'));
  const problems: string[] = [];
  const { complete } = await yard.call('diff.get', { branch: name, summary: true });
  if (!complete) problems.push('the diff is not complete');
  const { entry } = await yard.call('plan.adopt', { branch: name });
  problems.push(...sameHash('after adopting everything', await databaseHash(main), wanted));
  const rest = await yard.call('diff.get', { branch: name });
  if (rest.summary.length > 0)
    problems.push(`after adopting everything the diff still lists ${JSON.stringify(rest.summary)}`);
  if (entry !== undefined) {
    await yard.call('log.undo', { entry });
    problems.push(...sameHash('after undo', await databaseHash(main), original));
  }
  await yard.call('branches.discard', { branch: name, now: true });
  return problems;
}

function sameHash(when: string, found: unknown, wanted: unknown): string[] {
  return JSON.stringify(found) === JSON.stringify(wanted)
    ? []
    : [`${when} dbHash is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`];
}

async function startingData(random: Random, main: MongoClient): Promise<void> {
  for (const name of collections) {
    const documents = new Map<string, { _id: never }>();
    for (let index = 0; index < 15; index += 1) {
      const _id = key(random);
      documents.set(JSON.stringify(_id), { _id: _id as never, ...fields(random) });
    }
    const collection = main.db(database).collection(name);
    await collection.deleteMany({});
    await collection.insertMany([...documents.values()]);
  }
}

async function write(seed: number, count: number, yard: TestYard, branch: string): Promise<void> {
  const random = new Random(seed);
  const actors = [undefined, 'two'] as const;
  const clients = await Promise.all(
    actors.map((actor) => yard.client(branch, actor, actor ? { retryWrites: false, w: 1 } : {})),
  );
  for (let index = 0; index < count; index += 1) {
    const client = random.pick(clients);
    if (random.chance(0.15)) await transaction(random, client);
    else await operation(random)(client);
  }
}

async function moment(yard: TestYard, sandbox: string) {
  const { last } = await yard.call('changes.page', { branch: 'main', settle: true, limit: 1 });
  return {
    main: await snapshot(await yard.client('main')),
    sandbox: await snapshot(await yard.client(sandbox)),
    mainSeq: last,
  };
}

async function changesSince(yard: TestYard, branch: string, after: number): Promise<Change[]> {
  const all: Change[] = [];
  for (;;) {
    const { changes } = await yard.call('changes.page', { branch, settle: true, after: all.at(-1)?.seq ?? after });
    if (changes.length === 0) return all;
    all.push(...changes);
  }
}

/** A document is listed exactly where the branch changed it and it is not as the parent has it by now. */
async function diffDifferences(
  yard: TestYard,
  name: string,
  effect: NetEffect,
  main: ReadonlyMap<string, Uint8Array>,
): Promise<string[]> {
  const diff = await yard.call('diff.get', { branch: name, limit: 10_000 });
  const problems = diff.complete ? [] : ['it is not complete'];
  const listed = new Map(
    diff.documents.map((document) => [`${document.ns}/${keyText(fromBase64(document.id))}`, document]),
  );
  for (const [id, { before, after }] of effect) {
    const document = listed.get(id);
    listed.delete(id);
    const parent = main.get(id);
    const asParent = parent && after ? Buffer.compare(parent, after) === 0 : parent === after;
    if (document && asParent) problems.push(`${id} is listed though both sides are alike`);
    const untouched = parent && before ? Buffer.compare(parent, before) === 0 : parent === before;
    if (!document && !asParent && untouched) problems.push(`${id} is not listed`);
    if (document?.conflict && untouched) problems.push(`${id} is a conflict though main did not touch it`);
    const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'modified';
    if (document && document.kind !== kind) problems.push(`${id} is called ${document.kind}, it was ${kind}`);
  }
  for (const id of listed.keys()) problems.push(`${id} is listed and was not changed`);
  return problems;
}
