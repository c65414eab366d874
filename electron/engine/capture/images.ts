import { Binary, type MongoClient, type Timestamp } from 'mongodb';
import { keyText } from '../../../shared/bson/key.ts';
import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { field } from '../../../shared/bson/walk.ts';
import type { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import type { BucketBases } from './bucket-bases.ts';
import { tickBefore, type StreamEvent } from './event.ts';
import { foldUpdate } from './fold.ts';
import { LastKnown } from './last-known.ts';
import { timeSeriesNamespace } from './records.ts';

export interface Images {
  before?: Uint8Array | undefined;
  after?: Uint8Array | undefined;
  /** An image is not what was read, but what should have been: it awaits verification. */
  folded?: boolean;
  /** Neither server, reading nor folding gave the image. */
  lost?: boolean;
}

/** One document's events in a batch, by position, oldest first. */
type Chain = readonly number[];

const readersAtOnce = 12;

/**
 * Completes the images of events.
 *
 * Before-images are the server's: stored with the write, they are exact. Its after-images are not: it computes them from
 * the update's description, and where a pipeline moves fields they come out in another order than the document it
 * stored, or with a field twice (seen on 6.0.5). So what a change left is what the next one of the same document found, and
 * for the last one of a batch it is read, by collection UUID at the batch's end, which gives the exact bytes 300 s back.
 * A missing before-image is read at the tick before. Where a read fails (dropped, renamed, capped), the description folded
 * over the last known image stands in until it is verified.
 */
export class ImageReader {
  private readonly client: MongoClient;
  private readonly lastKnown: LastKnown;
  private readonly buckets: BucketBases;

  constructor(client: MongoClient, history: History, buckets: BucketBases) {
    this.client = client;
    this.buckets = buckets;
    this.lastKnown = new LastKnown(history);
  }

  /**
   * Images of a batch's events, by position. Events come in stream order. `previous` resolves when the batch before is in
   * the history, which may have to be asked.
   */
  async complete(events: readonly StreamEvent[], previous: () => Promise<void>): Promise<Images[]> {
    const images = events.map((event): Images =>
      isBucket(event) ? {} : { before: event.before, after: ownAfter(event) },
    );
    const chains = chainsOf(events);
    for (const chain of chains) passBack(events, images, chain);
    await Promise.all([this.readEnds(events, images, chains), this.readBucketBases(events, images)]);
    const uncovered = chains.filter((chain) => chain.some((index) => lacks(events[index]!, images[index]!)));
    if (uncovered.length > 0) {
      await this.readMissing(events, images, uncovered);
      for (const chain of uncovered) await this.fillForward(events, images, chain, previous);
    }
    // From here on images may be missing for these documents, until the server stores them for their collection.
    if (uncovered.length > 0 || this.lastKnown.size > 0) this.remember(events, images, chains);
    return images;
  }

  /** What the last update of each document left, with one read per collection. */
  private async readEnds(
    events: readonly StreamEvent[],
    images: readonly Images[],
    chains: readonly Chain[],
  ): Promise<void> {
    const end = events.at(-1)?.clusterTime;
    const groups = new Map<string, { event: StreamEvent; image: Images }[]>();
    for (const chain of chains) {
      const last = chain.at(-1)!;
      const event = events[last]!;
      const image = images[last]!;
      if (event.op !== 'update') continue;
      const uuid = toBase64(event.uuid!);
      const group = groups.get(uuid);
      if (group) group.push({ event, image });
      else groups.set(uuid, [{ event, image }]);
    }
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const { db, uuid } = group[0]!.event;
        const keys = group.map(({ event }) => event.key!);
        const found = await documentsAt(this.client, db!, uuid!, keys, end!);
        if (found) for (const { event, image } of group) image.after = found.get(keyText(event.key!));
      }),
    );
  }

  /** One read for each image that nothing else gives. */
  private async readMissing(
    events: readonly StreamEvent[],
    images: readonly Images[],
    chains: readonly Chain[],
  ): Promise<void> {
    const reads: { image: Images; side: 'before' | 'after'; event: StreamEvent; at: Timestamp }[] = [];
    for (const chain of chains) {
      chain.forEach((index, position) => {
        const event = events[index]!;
        const image = images[index]!;
        const sameTime = (other: number | undefined) =>
          other !== undefined && events[other]!.clusterTime.equals(event.clusterTime);
        // Writes of one transaction have one time: only what was before the first and after the last can be read.
        if (
          !image.before &&
          event.op !== 'insert' &&
          !sameTime(chain[position - 1]) &&
          !images[chain[position - 1] ?? -1]?.after
        ) {
          reads.push({ image, side: 'before', event, at: tickBefore(event.clusterTime) });
        }
        if (!image.after && event.op === 'update' && !sameTime(chain[position + 1])) {
          reads.push({ image, side: 'after', event, at: event.clusterTime });
        }
      });
    }
    await sideBySide(reads, async ({ event, image, side, at }) => {
      image[side] = await this.documentAt(event, at);
    });
  }

  /** The server stores no images of buckets: what one was before is read where it has to be recorded. */
  private async readBucketBases(events: readonly StreamEvent[], images: readonly Images[]): Promise<void> {
    const wanted = events.flatMap((event, index) =>
      isBucket(event) && this.buckets.take(event) && event.op !== 'insert' ? [{ event, image: images[index]! }] : [],
    );
    await sideBySide(wanted, async ({ event, image }) => {
      image.before = await this.documentAt(event, tickBefore(event.clusterTime));
      if (!image.before) image.lost = true;
    });
  }

  private async documentAt({ db, uuid, key }: StreamEvent, at: Timestamp): Promise<Uint8Array | undefined> {
    return (await documentsAt(this.client, db!, uuid!, [key!], at))?.get(keyText(key!));
  }

  /** What could not be read: from the change before, or the description. */
  private async fillForward(
    events: readonly StreamEvent[],
    images: readonly Images[],
    chain: Chain,
    previous: () => Promise<void>,
  ): Promise<void> {
    for (const [position, index] of chain.entries()) {
      const event = events[index]!;
      const image = images[index]!;
      if (!lacks(event, image)) continue;
      if (!image.before && event.op !== 'insert') {
        const earlier = chain[position - 1];
        if (earlier === undefined) await previous();
        image.before =
          earlier === undefined ? await this.lastKnown.get(event.uuid!, event.key!) : images[earlier]!.after;
        if (earlier === undefined) image.folded = true;
      }
      if (!image.after && event.op === 'update') {
        const { updateDescription } = event;
        image.after = image.before && updateDescription && foldUpdate(image.before, updateDescription);
        image.folded = true;
      }
      if (lacks(event, image)) image.lost = true;
    }
  }

  private remember(events: readonly StreamEvent[], images: readonly Images[], chains: readonly Chain[]): void {
    for (const chain of chains) {
      const last = chain.at(-1)!;
      const { uuid, key } = events[last]!;
      this.lastKnown.set(uuid!, key!, images[last]!.after);
    }
  }
}

async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let item = items[next]; item; item = items[next]) {
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(readersAtOnce, items.length) }, worker));
}

function isBucket(event: StreamEvent): boolean {
  return timeSeriesNamespace(event) !== undefined;
}

/** The after-image that the event itself carries exactly: what was inserted, or replaced by. */
function ownAfter(event: StreamEvent): Uint8Array | undefined {
  return event.op === 'insert' || event.op === 'replace' ? event.after : undefined;
}

/** What a change left is what the next one found. */
function passBack(events: readonly StreamEvent[], images: readonly Images[], chain: Chain): void {
  for (let position = 1; position < chain.length; position += 1) {
    const earlier = chain[position - 1]!;
    const later = chain[position]!;
    if (events[earlier]!.op === 'update' && images[later]!.before) images[earlier]!.after = images[later]!.before;
    if (!images[later]!.before && events[earlier]!.op !== 'update') images[later]!.before = images[earlier]!.after;
  }
}

/** Whether an image that the event should have is not there. */
function lacks(event: StreamEvent, image: Images): boolean {
  switch (event.op) {
    case 'update':
      return !image.before || !image.after;
    case 'replace':
    case 'delete':
      return !image.before;
    default:
      return false;
  }
}

function chainsOf(events: readonly StreamEvent[]): Chain[] {
  const chains = new Map<string, number[]>();
  events.forEach((event, index) => {
    if (!event.uuid || !event.key || event.db === undefined || isBucket(event)) return;
    const id = toBase64(touchedId(event.uuid, event.key));
    const chain = chains.get(id);
    if (chain) chain.push(index);
    else chains.set(id, [index]);
  });
  return [...chains.values()];
}

/** Documents' bytes at a cluster time, by collection UUID; undefined where they cannot be had. */
async function documentsAt(
  client: MongoClient,
  db: string,
  uuid: Uint8Array,
  keys: readonly BsonValue[],
  atClusterTime: Timestamp,
): Promise<Map<string, Uint8Array> | undefined> {
  try {
    const found = await rawFindAll(client.db(db), {
      collection: new Binary(uuid, 4),
      filter: { _id: { $in: keys.map(driverValue) } },
      batchSize: keys.length + 1,
      atClusterTime,
    });
    return new Map(found.map((document) => [keyText(field(document, '_id')!), document]));
  } catch {
    // The collection was dropped, renamed or is capped, or the time is out of the server's window.
    return undefined;
  }
}
