import { performance } from 'node:perf_hooks';
import type { Home } from '../home/home.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import { openComparison } from './diff.ts';
import { readCatalog, storeNamespace, type Catalog } from './catalog.ts';
import { CollectionCheck, type Finding, type Participants, type VerifiedCollection } from './verify-collection.ts';
import { ForkImages } from './fork-images.ts';
import { settleNow, type Side } from './side.ts';
import type { Tally } from './lockstep.ts';
import { splitNamespace, uuidText, type Comparison } from './touched.ts';

/** A document that is not what the history of `branch` says of it. */
export interface Difference {
  readonly branch: string;
  readonly ns: string;
  readonly key: BsonValue;
  /** It is there and should not be; it should be there and is not; it is another. */
  readonly kind: 'unexpected' | 'missing' | 'different';
}

/** Something that cannot be compared, and why, in one sentence. */
export interface Unverified {
  readonly ns: string;
  readonly reason: string;
}

export interface Verification {
  /** Documents of the branch that its history did not know rightly; by now it does. */
  readonly branchDifferences: number;
  /** The same for the parent. */
  readonly parentDifferences: number;
  /** The first of both. */
  readonly differences: readonly Difference[];
  readonly unverified: readonly Unverified[];
  /** Something did not stand still, or was not yet recorded: comparing again may tell more. */
  readonly isUnsettled: boolean;
  readonly collections: number;
  readonly documents: number;
  /** Read of both sides. */
  readonly bytes: number;
  readonly seconds: number;
}

export interface VerifyOptions {
  /** Only this collection; left out = all. */
  readonly ns?: string | undefined;
  /** So many differences are named. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: { readonly documents: number; readonly ns: string }) => void;
  /** Runs what adds to a branch's history one after the other. */
  readonly inTurn: <T>(branchId: string, work: () => Promise<T>) => Promise<T>;
}

/**
 * Compares a branch exactly with its parent and both histories, and adds to the histories what they do not know. What a
 * document was at the fork is what the parent's history says it was then, else what the parent has now. Without a parent
 * (main) the history alone has to tell every document.
 *
 * Everything is read in batches, as bytes, and what seems to differ is looked at again at one moment of both sides, so that
 * a write under way is no difference.
 */
export async function verify(
  home: Home,
  branch: Side,
  parent: Side | undefined,
  options: VerifyOptions,
): Promise<Verification> {
  const started = performance.now();
  const tally: Tally = { documents: 0, bytes: 0 };
  const { checks, unverified, settled } = await open(home, branch, parent);
  const isWanted = ({ ns }: { readonly ns: string }) => options.ns === undefined || ns === options.ns;
  const wanted = checks.filter(({ collection }) => isWanted(collection));
  const left = unverified.filter(isWanted);
  const found: Finding[] = [];
  let [branchDifferences, parentDifferences, isUnsettled] = [0, 0, !settled];
  for (const { who, collection } of wanted) {
    const check = new CollectionCheck(who, collection, tally, options.inTurn);
    for await (const findings of check.run()) {
      options.signal.throwIfAborted();
      for (const finding of findings) {
        if (finding.side === branch) branchDifferences += 1;
        else parentDifferences += 1;
        if (found.length < options.limit) found.push(finding);
      }
      options.onProgress?.({ documents: tally.documents, ns: collection.ns });
    }
    if (check.isGone) {
      isUnsettled = true;
      left.push({ ns: collection.ns, reason: 'It was dropped, renamed or written over while it was compared.' });
    }
    if (check.restless > 0) {
      const reason = `${check.restless} of its documents kept being written while they were compared.`;
      isUnsettled = true;
      left.push({ ns: collection.ns, reason });
    }
  }
  return {
    branchDifferences,
    parentDifferences,
    differences: found.map((finding) => ({
      branch: finding.side.record.name,
      ns: finding.ns,
      key: finding.key,
      kind: kindOf(finding),
    })),
    unverified: left,
    isUnsettled,
    collections: wanted.length,
    documents: tally.documents,
    bytes: tally.bytes,
    seconds: (performance.now() - started) / 1_000,
  };
}

function kindOf({ before, after, beforeUnknown }: Finding): Difference['kind'] {
  if (after === undefined) return 'missing';
  return before === undefined && !beforeUnknown ? 'unexpected' : 'different';
}

interface Opened {
  readonly checks: readonly { readonly who: Participants; readonly collection: VerifiedCollection }[];
  readonly unverified: readonly Unverified[];
  /** All that had happened is in the histories. */
  readonly settled: boolean;
}

async function open(home: Home, branch: Side, parent: Side | undefined): Promise<Opened> {
  if (!parent) {
    const settled = await settleNow(branch);
    const collections = placesOf(await readCatalog(branch.client));
    const who = { branch, parent: undefined };
    return { checks: collections.map((collection) => ({ who, collection })), unverified: [], settled };
  }
  const { comparison, settled, adminChanged } = await openComparison(home, branch, parent);
  const unverified: Unverified[] = [];
  if (!settled) unverified.push({ ns: '', reason: 'Capture had not caught up with the server.' });
  if (adminChanged)
    unverified.push({
      ns: 'admin',
      reason: 'Ordinary collections of the admin database are not captured; they were written.',
    });
  const [ours, theirs] = [placesOf(comparison.branchCatalog), placesOf(comparison.parentCatalog)];
  const { _id: parentId } = parent.record;
  const { _id: branchId, forkedAt } = branch.record;
  const [lostLogs, lostImages, images] = await Promise.all([
    home.gaps.countDocuments({ branch: parentId, kind: 'log', to: { $gte: forkedAt } }),
    home.gaps.countDocuments({ branch: branchId, kind: 'images' }),
    ForkImages.open(branch, parent),
  ]);
  const both = { branch, parent: { side: parent, images, historyLost: lostLogs > 0, imagesLost: lostImages > 0 } };
  const alone = { branch: parent, parent: undefined };
  return {
    checks: [
      ...paired(comparison, parent, ours, theirs, unverified).map((collection) => ({ who: both, collection })),
      ...onlyInParent(comparison, ours, theirs).map((collection) => ({ who: alone, collection })),
    ],
    unverified,
    settled,
  };
}

/** Collections that hold documents, a time-series collection by its buckets. */
function placesOf({ byStore }: Catalog): VerifiedCollection[] {
  return [...byStore].map(([uuid, collection]) => {
    const { ns, db } = collection;
    return { ns, db, name: splitNamespace(storeNamespace(collection))[1], uuid: Buffer.from(uuid, 'hex') };
  });
}

/** A collection that came from the parent is compared with the parent's of the same identity, whatever its name by now. */
function paired(
  { base }: Comparison,
  parent: Side,
  ours: readonly VerifiedCollection[],
  theirs: readonly VerifiedCollection[],
  unverified: Unverified[],
): VerifiedCollection[] {
  const byUuid = new Map(theirs.map((place) => [uuidText(place.uuid), place]));
  return ours.map((place) => {
    const there = byUuid.get(uuidText(place.uuid));
    if (there) return { ...place, parent: { ns: there.ns, db: there.db, name: there.name } };
    if (!base.byStore.has(uuidText(place.uuid))) return place;
    const reason = `${parent.record.name} has dropped it since: what it held at the fork is known only of documents that were changed.`;
    unverified.push({ ns: place.ns, reason });
    return { ...place, touchedOnly: true };
  });
}

/** What the parent has and the branch has not: its own history has to tell all of it, or, of what it had at the fork, the changes. */
function onlyInParent(
  { base }: Comparison,
  ours: readonly VerifiedCollection[],
  theirs: readonly VerifiedCollection[],
): VerifiedCollection[] {
  const known = new Set(ours.map(({ uuid }) => uuidText(uuid)));
  return theirs
    .filter(({ uuid }) => !known.has(uuidText(uuid)))
    .map((place) => ({ ...place, touchedOnly: base.byStore.has(uuidText(place.uuid)) }));
}
