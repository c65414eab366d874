import { randomUUID } from 'node:crypto';
import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import type { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import { importedAfter, marks } from '../home/past.ts';
import type { BranchRecord, GapRecord } from '../home/records.ts';
import { touchedSince } from './parent-edits.ts';
import { dropsBetween } from './schema-history.ts';
import { settleNow, type Side } from './side.ts';
import { uuidText } from './touched.ts';

/** A branch of a family: its history is there whether or not its server runs. */
export interface Kin {
  readonly record: BranchRecord;
  readonly history: History;
  /** Where its server runs. */
  readonly running: Side | undefined;
}

/** How two branches are related. */
export interface Lineage {
  /** The nearest branch that both came from; it may be one of the two. */
  readonly ancestor: Kin;
  /** From the ancestor's child down to the branch; none where the branch is the ancestor. */
  readonly branch: readonly Kin[];
  /** The same down to the other one. */
  readonly other: readonly Kin[];
}

/** The part of a history in which two branches can have come apart: `after < seq <= upTo`. */
export interface Stretch {
  readonly kin: Kin;
  readonly after: number;
  readonly upTo: number;
  /** When it first dropped each collection, by UUID; some have come back. */
  readonly drops: ReadonlyMap<string, number>;
}

/** A document by its identity. */
export interface Touched {
  /** {@link touchedId} */
  readonly id: Uint8Array;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
}

/** Everything that can have made two branches of one family different. */
export interface Apart {
  /** What the ancestor did between the two forks, or since the only one. */
  readonly ancestor: Stretch;
  /** What the branch's own line did, the ancestor's part included where the other left it first. */
  readonly branch: readonly Stretch[];
  /** The same of the other's line. */
  readonly other: readonly Stretch[];
  /** The line that left the ancestor first: what it had then is the base. */
  readonly older: readonly Stretch[];
  /** The other line, from its own fork on; none where the other is the ancestor itself. */
  readonly newer: readonly Stretch[];
  /** What the ancestor changed in its stretch, by collection (hex of its UUID), in order of their ids; read once. */
  readonly meanwhile: () => Promise<ReadonlyMap<string, readonly Touched[]>>;
  /** The ancestor from where its stretch begins up to now. */
  readonly ancestorSince: Stretch;
  /** Where the histories are not the whole truth; whole when everything has been read. */
  readonly gaps: readonly GapRecord[];
  readonly settled: boolean;
}

/** Without an end: up to now. */
const now = Number.MAX_SAFE_INTEGER;

/** Looks at the histories between the common ancestor and the two branches. Costs what changed in them. */
export async function openApart(home: Home, { ancestor, branch, other }: Lineage): Promise<Apart> {
  const all = [ancestor, ...branch, ...other];
  const settled = await Promise.all(all.map(({ running }) => (running ? settleNow(running) : true)));
  const gaps: GapRecord[] = [];
  const stretches = async (chain: readonly Kin[]): Promise<Stretch[]> =>
    Promise.all(
      chain.map(async (kin, index) => {
        const next = chain[index + 1];
        return stretch(home, kin, 0, next ? await forkSequenceIn(kin, next, gaps) : now);
      }),
    );
  const [mine, theirs, forks] = await Promise.all([
    stretches(branch),
    stretches(other),
    Promise.all([branch, other].map(([first]) => (first ? forkSequenceIn(ancestor, first, gaps) : undefined))),
  ]);
  const [left = now, parted = now] = forks;
  // Where one of the two is the ancestor, everything that it did since counts.
  const [after, upTo] = [Math.min(left, parted), Math.max(left, parted)];
  const [between, ancestorSince] = await Promise.all([upTo, now].map((end) => stretch(home, ancestor, after, end)));
  const older = left <= parted ? mine : theirs;
  let changed: ReturnType<typeof changedIn> | undefined;
  const since = forkTime(older[0]!.kin.record);
  const sides = [branch.at(-1) ?? ancestor, other.at(-1) ?? ancestor];
  for (const kin of all) gaps.push(...(await gapsOf(home, kin, since, sides.includes(kin))));
  return {
    ancestor: between!,
    ancestorSince: ancestorSince!,
    branch: older === mine ? mine : [between!, ...mine],
    other: older === theirs ? theirs : [between!, ...theirs],
    older,
    newer: older === mine ? theirs : mine,
    meanwhile: () => (changed ??= changedIn(home, between!, gaps)),
    gaps,
    settled: settled.every(Boolean),
  };
}

async function stretch(home: Home, kin: Kin, after: number, upTo: number): Promise<Stretch> {
  return { kin, after, upTo, drops: await dropsBetween(home, kin.record._id, after, upTo) };
}

/** A fork of a pin left its ancestor when the pin was made. */
function forkTime({ forkPoint, forkedAt }: BranchRecord): Date {
  return forkPoint ? new Date(forkPoint.clusterTime.t * 1_000) : forkedAt;
}

/** The sequence of a branch's history at which a child left it. */
async function forkSequenceIn({ record, history, running }: Kin, child: Kin, gaps: GapRecord[]): Promise<number> {
  const { forkPoint, name } = child.record;
  if (!forkPoint) return 0;
  if (forkPoint.seq !== undefined) return forkPoint.seq;
  if (running) return history.changes.seqAt(forkPoint.clusterTime, running.capture.seq);
  const state = await history.state();
  if (!state || state.clusterTime.lessThan(forkPoint.clusterTime)) {
    gaps.push(gapIn(record, `It stopped before everything up to the fork of ${name} was recorded.`));
  }
  return history.changes.seqAt(forkPoint.clusterTime, state?.seq ?? 0);
}

/** Documents that changed in a stretch. Memory grows with their number, about 150 bytes each. */
async function changedIn(
  home: Home,
  { kin, after, upTo }: Stretch,
  gaps: GapRecord[],
): Promise<Map<string, readonly Touched[]>> {
  const { _id } = kin.record;
  const found = new Map<string, Map<string, Touched>>();
  const add = (uuid: Uint8Array, key: BsonValue) => {
    const collection = uuidText(uuid);
    let known = found.get(collection);
    if (!known) found.set(collection, (known = new Map()));
    const id = touchedId(uuid, key);
    known.set(toBase64(id), { id, uuid, key });
  };
  let imports = false;
  for await (const page of marks(home, _id, { after, upTo })) {
    for (const { uuid, key, op, detail } of page) {
      if (uuid && key) add(uuid, key);
      if (op !== 'import') continue;
      imports = true;
      if (detail?.['keys'] === false) {
        gaps.push(gapIn(kin.record, 'Documents that were imported meanwhile are not recorded one by one.'));
      }
    }
  }
  if (imports) {
    for await (const rows of importedAfter(home, _id, after)) for (const { uuid, key } of rows) add(uuid, key);
  }
  return new Map(
    [...found].map(([uuid, rows]) => [uuid, [...rows.values()].sort((a, b) => Buffer.compare(a.id, b.id))]),
  );
}

/**
 * The gaps that concern a comparison. One of a branch in between counts although an exact comparison has settled it: that
 * tells what the branch is now, not what it was when the next one left it. main is compared with nothing.
 */
async function gapsOf(home: Home, kin: Kin, since: Date, isSide: boolean): Promise<GapRecord[]> {
  const { record } = kin;
  const gaps = await home.gaps.find({ branch: record._id }).toArray();
  return gaps.flatMap((gap) => {
    if (gap.to && gap.to < since) return [];
    const holds = gap.settled && (gap.kind !== 'log' || (isSide && record.parent !== undefined));
    const reason = isSide ? gap.reason : `In ${record.name}: ${gap.reason}`;
    return [{ ...gap, reason, settled: holds }];
  });
}

function gapIn({ _id, name }: BranchRecord, reason: string): GapRecord {
  return { _id: randomUUID(), branch: _id, kind: 'log', reason: `In ${name}: ${reason}`, settled: false };
}

/** What a stretch touched of one collection, in order of the ids. */
export async function* touchedIn({ kin, upTo }: Stretch, uuid: Uint8Array): AsyncGenerator<Touched> {
  for await (const page of touchedSince(kin.history, uuid)) for (const row of page) if (row.first <= upTo) yield row;
}

/** Streams in order of their ids as one, in which each document comes once. */
export async function* merged(streams: readonly AsyncIterable<Touched>[]): AsyncGenerator<Touched> {
  const heads = await Promise.all(
    streams.map(async (stream) => {
      const iterator = stream[Symbol.asyncIterator]();
      return { iterator, next: await iterator.next() };
    }),
  );
  for (;;) {
    let least: Touched | undefined;
    for (const { next } of heads) {
      if (!next.done && (!least || Buffer.compare(next.value.id, least.id) < 0)) least = next.value;
    }
    if (!least) return;
    yield least;
    for (const head of heads) {
      if (!head.next.done && Buffer.compare(head.next.value.id, least.id) === 0) head.next = await head.iterator.next();
    }
  }
}
