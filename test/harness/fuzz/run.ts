import type { MongoClient } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import type { TestYard } from '../in-process.ts';
import { allChanges, completeDiff, onceComplete } from '../settled.ts';
import { collections, database, operation, transaction } from './operations.ts';
import { momentDifferences } from './moments.ts';
import { fields, key, Random } from './random.ts';
import { Replay } from './replay.ts';
import { schemaDatabases, schemaOperation, schemaWrite } from './schema-operations.ts';
import { exactDifference, fingerprint, printDifferences, snapshot, type NetEffect, type Snapshot } from './snapshot.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Writes to each of main and the two sandboxes, and again to the one that is adopted. */
  readonly operations: number;
  /** So many random moments are restored and compared with the model. */
  readonly moments: number;
}

/**
 * One random history on main and two sandboxes at once, three actors on each, and what must hold afterwards.
 * @returns what did not hold, in words
 */
export async function fuzz(yard: TestYard, { seed, operations, moments }: FuzzOptions): Promise<string[]> {
  const random = new Random(seed);
  const sandboxes = [`fuzz-${seed}-a`, `fuzz-${seed}-b`];
  await startingData(random, await yard.client('main'));
  const problems: string[] = [];
  const check = (what: string, found: readonly string[]) => problems.push(...found.map((each) => `${what}: ${each}`));

  for (const name of sandboxes) await yard.fork(name, { ttlMs: null, actor: 'one' });
  const branches = ['main', ...sandboxes];
  const before = await Promise.all(branches.map((name) => moment(yard, name)));
  await Promise.all(branches.map((name) => write(new Random(random.int(2 ** 31)), operations, yard, name)));
  const main = await snapshot(await yard.client('main'));
  for (const [index, name] of branches.entries()) {
    const start = before[index]!;
    const after = index === 0 ? main : await snapshot(await yard.client(name));
    const changes = await allChanges(yard, name, start.seq);
    const replay = new Replay(start.documents);
    for (const change of changes) replay.apply(change);
    check(name, [...replay.problems, ...replay.differences(after)]);
    if (index === 0) continue;
    check(`verify ${name}`, await verifyDifferences(yard, name));
    check(`diff ${name}`, await diffDifferences(yard, name, exactDifference(start.documents, after), main));
  }
  for (const name of sandboxes) await yard.call('branches.discard', { branch: name, now: true });

  check('adoption', await adoption(random, yard, `fuzz-${seed}-adopt`, operations, moments));
  return problems;
}

/** A sandbox written alone: moments of it restored, then all of it adopted into its untouched parent, and that undone. */
async function adoption(
  random: Random,
  yard: TestYard,
  name: string,
  operations: number,
  moments: number,
): Promise<string[]> {
  const main = await yard.client('main');
  await dropCapped(main);
  const start = await snapshot(main);
  await yard.fork(name, { ttlMs: null, actor: 'one' });
  const original = await fingerprint(main);
  await write(new Random(random.int(2 ** 31)), operations, yard, name);
  const wanted = await fingerprint(await yard.client(name, 'one'));
  const changes = await allChanges(yard, name);
  const problems = await momentDifferences(random, yard, name, start, changes, moments);
  const { complete, gaps } = await completeDiff(yard, { branch: name, summary: true });
  if (!complete) problems.push(`the diff is not complete: ${JSON.stringify(gaps)}`);
  const { entry, leftOut } = await yard.call('plan.adopt', { branch: name });
  if (leftOut) problems.push(`left out: ${leftOut.join(' ')}`);
  problems.push(...printDifferences('after adopting everything', await fingerprint(main), wanted));
  const rest = await yard.call('diff.get', { branch: name });
  if (rest.summary.length + rest.schema.length > 0)
    problems.push(`after adopting everything the diff still lists ${JSON.stringify([rest.summary, rest.schema])}`);
  problems.push(...(await verifyDifferences(yard, name)));
  if (entry !== undefined) {
    await yard.call('log.undo', { entry });
    problems.push(...printDifferences('after undo', await fingerprint(main), original));
  }
  await yard.call('branches.discard', { branch: name, now: true });
  return problems;
}

/** The server takes no document of a capped collection in a transaction: an adoption leaves out those that both sides have. */
async function dropCapped(main: MongoClient): Promise<void> {
  for (const name of schemaDatabases) {
    const capped = main.db(name).listCollections({ 'options.capped': true });
    for await (const collection of capped) await main.db(name).dropCollection(collection.name);
  }
}

async function startingData(random: Random, main: MongoClient): Promise<void> {
  for (const db of schemaDatabases) await main.db(db).dropDatabase();
  const places = [
    ...collections.map((name) => [database, name]),
    ...['p', 'q'].map((name) => [schemaDatabases[0], name]),
  ];
  for (const [db, name] of places) {
    const documents = new Map<string, { _id: never }>();
    for (let index = 0; index < 15; index += 1) {
      const _id = key(random);
      documents.set(JSON.stringify(_id), { _id: _id as never, ...fields(random) });
    }
    const collection = main.db(db!).collection(name!);
    await collection.deleteMany({});
    await collection.insertMany([...documents.values()]);
  }
}

async function write(random: Random, count: number, yard: TestYard, branch: string): Promise<void> {
  // As drivers differ: with retries, whose author the server tells, and without.
  const clients = await Promise.all([
    yard.client(branch),
    yard.client(branch, 'two', { retryWrites: false, w: 1 }),
    yard.client(branch, 'three'),
  ]);
  for (let index = 0; index < count; index += 1) {
    const client = random.pick(clients);
    const kind = random.next();
    if (kind < 0.12) await transaction(random, client);
    else if (kind < 0.15) await transaction(random, client, schemaWrite);
    else if (kind < 0.4) await schemaOperation(random)(client);
    else await operation(random)(client);
  }
}

async function moment(yard: TestYard, branch: string): Promise<{ documents: Snapshot; seq: number }> {
  const { last } = await onceComplete(() => yard.call('changes.page', { branch, settle: true, limit: 1 }));
  return { documents: await snapshot(await yard.client(branch)), seq: last };
}

/** The engine's own exact comparison finds nothing either; what main has dropped it may call unverified. */
async function verifyDifferences(yard: TestYard, branch: string): Promise<string[]> {
  const { differences, unverified } = await yard.call('branches.verify', { branch });
  const unexpected = unverified.filter(({ reason }) => !reason.includes('has dropped it since'));
  return [
    ...differences.first.map(({ branch: side, ns, kind, id }) => `${kind} in ${side}: ${ns} ${id}`),
    ...unexpected.map(({ ns, reason }) => `unverified ${ns}: ${reason}`),
  ];
}

/** A document is listed exactly where the branch changed it and it is not as the parent has it by now. */
async function diffDifferences(yard: TestYard, name: string, effect: NetEffect, main: Snapshot): Promise<string[]> {
  const diff = await completeDiff(yard, { branch: name, limit: 10_000 });
  const problems = diff.complete ? [] : [`it is not complete: ${JSON.stringify(diff.gaps)}`];
  const ofDocuments = (ns: string) => ns.startsWith(`${database}.`);
  const listed = new Map(
    diff.documents
      .filter(({ ns }) => ofDocuments(ns))
      .map((document) => [`${document.ns}/${keyText(fromBase64(document.id))}`, document]),
  );
  for (const [id, { before, after }] of effect) {
    const [ns, documentKey] = [id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)];
    if (!ofDocuments(ns)) continue;
    const document = listed.get(id);
    listed.delete(id);
    const parent = main.get(ns)?.get(documentKey);
    const asParent = sameBytes(parent, after);
    if (document && asParent) problems.push(`${id} is listed though both sides are alike`);
    const untouched = sameBytes(parent, before);
    if (!document && !asParent && untouched) problems.push(`${id} is not listed`);
    if (document?.conflict && untouched) problems.push(`${id} is a conflict though main did not touch it`);
    const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'modified';
    if (document && document.kind !== kind) problems.push(`${id} is called ${document.kind}, it was ${kind}`);
  }
  for (const id of listed.keys()) problems.push(`${id} is listed and was not changed`);
  return problems;
}
