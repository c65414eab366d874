import { BSON, type Db, type Document, MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { buildIndexes } from './indexes.ts';
import { createCollection, createViews } from './schema.ts';

/** A database that lists these, notes every command, and refuses those that `refuse` has an answer for. */
function database(listed: readonly Document[], refuse: (command: Document) => string | undefined = () => undefined) {
  const commands: Document[] = [];
  const command = (given: Document): Promise<Document> => {
    if ('listCollections' in given || 'listIndexes' in given) {
      return Promise.resolve({ cursor: BSON.serialize({ id: 0, ns: 'shop.$cmd', firstBatch: listed }) });
    }
    // What the server would be sent.
    const sent = BSON.deserialize(BSON.serialize(given));
    const message = refuse(sent);
    if (message !== undefined) return Promise.reject(new MongoServerError({ message, code: 40415 }));
    commands.push(sent);
    return Promise.resolve({ ok: 1 });
  };
  const session = { endSession: () => Promise.resolve() };
  return { commands, db: { command, client: { startSession: () => session } } as unknown as Db };
}

it('an index keeps its specification; what an old server left in it goes only where it is refused, with a note', async () => {
  const source = database([
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 1, key: { a: true }, name: 'old', ns: 'shop.c', background: true, safe: null, dropDups: true, sparse: true },
    { v: 2, key: { b: 1 }, name: 'new', unique: true },
  ]);
  const branch = database([], ({ indexes }) =>
    (indexes as Document[]).some((index) => 'safe' in index) ? "The field 'safe' is not valid" : undefined,
  );
  const notes: string[] = [];
  await buildIndexes(source.db, branch.db, 'c', (note) => notes.push(note));
  expect(branch.commands.map(({ indexes }) => (indexes as Document[])[0])).toEqual([
    { key: { a: 1 }, name: 'old', sparse: true },
    // Said where the source leaves it out: the collection may have a collation of its own.
    { v: 2, key: { b: 1 }, name: 'new', unique: true, collation: { locale: 'simple' } },
  ]);
  expect(notes).toEqual([
    'the index old was built without v, ns, background, safe, dropDups, a direction that is no number, which this server does not take',
  ]);
});

it('an option that this server does not know is left out, with a note', async () => {
  const branch = database([], (command) => {
    if ('recordIdsReplicated' in command) return "BSON field 'create.recordIdsReplicated' is an unknown field.";
    const series = command['timeseries'] as Document | undefined;
    if (series && 'bucketRoundingSeconds' in series)
      return "BSON field 'timeseries.bucketRoundingSeconds' is an unknown field.";
    return undefined;
  });
  const options = BSON.serialize({
    timeseries: { timeField: 'at', bucketRoundingSeconds: 60 },
    recordIdsReplicated: true,
  });
  const notes: string[] = [];
  expect(
    await createCollection(branch.db, { name: 'm', type: 'timeseries', options }, (note) => notes.push(note)),
  ).toBe(true);
  expect(branch.commands).toEqual([{ create: 'm', timeseries: { timeField: 'at' } }]);
  expect(notes).toEqual([
    'the option recordIdsReplicated was left out: this server does not know it',
    'the option bucketRoundingSeconds was left out: this server does not know it',
  ]);
});

it('a collection that cannot be created at all is reported, and its documents go nowhere', async () => {
  const branch = database([], () => 'storage engine options are not valid');
  const notes: string[] = [];
  const source = { name: 'c', type: 'collection', options: BSON.serialize({ storageEngine: { x: 1 } }) } as const;
  expect(await createCollection(branch.db, source, (note) => notes.push(note))).toBe(false);
  expect(notes).toEqual([expect.stringContaining('storage engine options are not valid')]);
});

it('views are made after the view they are made on, also when they are listed the other way round, and a circle ends', async () => {
  const view = (name: string, viewOn: string) =>
    ({ name, type: 'view', options: BSON.serialize({ viewOn, pipeline: [] }) }) as const;
  const branch = database([]);
  await createViews(
    branch.db,
    [view('a', 'b'), view('b', 'c'), view('c', 'data'), view('x', 'y'), view('y', 'x')],
    () => {
      throw new Error('nothing to report');
    },
  );
  expect(branch.commands.map(({ create }) => create as string)).toEqual(['c', 'b', 'a', 'y', 'x']);
});
