import { Binary, type MongoClient, type Timestamp } from 'mongodb';
import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { touchedId, type History } from '../home/history.ts';
import { driverValue, rawFindAll } from '../mongod/raw.ts';
import { tickBefore, type StreamEvent } from './event.ts';
import { foldUpdate } from './fold.ts';

export interface Images {
  before?: Uint8Array | undefined;
  after?: Uint8Array | undefined;
  /** An image was folded; it awaits verification. */
  folded?: boolean;
  /** Neither server, reading nor folding gave the image. */
  lost?: boolean;
}

/** Last known images are kept for collections whose images the server does not store yet. */
const cacheBytes = 16 * 1024 * 1024;

/**
 * Completes the images of events. The server's own come first; a missing one is read by collection UUID at the event's
 * cluster time (a snapshot read gives the exact bytes, 300 s back); where that fails (dropped, renamed, capped), update
 * descriptions are folded over the last known image.
 */
export class ImageReader {
  private readonly client: MongoClient;
  private readonly history: History;
  /** By touched id, base64; in order of use. `null`: known not to exist. */
  private readonly known = new Map<string, Uint8Array | null>();
  private knownBytes = 0;

  constructor(client: MongoClient, history: History) {
    this.client = client;
    this.history = history;
  }

  /** Images of a batch's events, by position. Events come in stream order. */
  async complete(events: readonly StreamEvent[]): Promise<Images[]> {
    const images = events.map((event): Images => ({ before: event.before, after: event.after }));
    const incomplete = events.flatMap((event, index) => (lacks(event, images[index]!) ? [index] : []));
    if (incomplete.length === 0) {
      if (this.known.size > 0) this.remember(events, images);
      return images;
    }
    await readMissing(this.client, events, images, incomplete);
    for (const index of events.keys()) {
      const event = events[index]!;
      if (!event.key || !event.uuid) continue;
      const image = images[index]!;
      if (lacks(event, image)) await this.fold(event, image);
      this.rememberOne(event, image);
    }
    return images;
  }

  private async fold(event: StreamEvent, image: Images): Promise<void> {
    if (!image.before && event.op !== 'insert') {
      image.before = await this.lastKnown(event.uuid!, event.key!);
      image.folded = true;
    }
    if (!image.after && event.op === 'update' && image.before && event.updateDescription) {
      image.after = foldUpdate(image.before, event.updateDescription);
      image.folded = true;
    }
    if (lacks(event, image)) image.lost = true;
  }

  private async lastKnown(uuid: Uint8Array, key: BsonValue): Promise<Uint8Array | undefined> {
    const id = touchedId(uuid, key);
    const cached = this.known.get(toBase64(id));
    if (cached !== undefined) return cached ?? undefined;
    const row = await this.history.touchedRow(id);
    if (!row) return undefined;
    return (await this.history.bySeq([row.last], { after: true })).get(row.last)?.after;
  }

  private remember(events: readonly StreamEvent[], images: readonly Images[]): void {
    events.forEach((event, index) => {
      if (event.key && event.uuid) this.rememberOne(event, images[index]!);
    });
  }

  private rememberOne(event: StreamEvent, image: Images): void {
    const id = toBase64(touchedId(event.uuid!, event.key!));
    const old = this.known.get(id);
    if (old !== undefined) {
      this.knownBytes -= old?.length ?? 0;
      this.known.delete(id);
    }
    const after = image.after ?? null;
    this.known.set(id, after);
    this.knownBytes += after?.length ?? 0;
    for (const [oldest, bytes] of this.known) {
      if (this.knownBytes <= cacheBytes && this.known.size <= 50_000) break;
      this.known.delete(oldest);
      this.knownBytes -= bytes?.length ?? 0;
    }
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

const readersAtOnce = 12;

async function readMissing(
  client: MongoClient,
  events: readonly StreamEvent[],
  images: Images[],
  incomplete: readonly number[],
): Promise<void> {
  const chains = chainsOf(events);
  let next = 0;
  const worker = async () => {
    for (let index = incomplete[next]; index !== undefined; index = incomplete[next]) {
      next += 1;
      const event = events[index]!;
      const image = images[index]!;
      if (!event.uuid || !event.key || event.db === undefined) continue;
      // In a transaction all events have the commit's time: only its first before and its last after can be read.
      const { first, last } = chains.get(chainKey(event))!;
      if (!image.before && first === index) {
        image.before = await imageAt(client, event.db, event.uuid, event.key, tickBefore(event.clusterTime));
      }
      if (!image.after && event.op === 'update' && last === index) {
        image.after = await imageAt(client, event.db, event.uuid, event.key, event.clusterTime);
      }
    }
  };
  await Promise.all(Array.from({ length: readersAtOnce }, worker));
  // Between two events of one document in one transaction, the first's after is the second's before.
  for (const chain of chains.values()) {
    for (let at = 1; at < chain.indexes.length; at += 1) {
      const earlier = images[chain.indexes[at - 1]!]!;
      const event = events[chain.indexes[at - 1]!]!;
      if (!earlier.after && event.op === 'update' && earlier.before && event.updateDescription) {
        const after = foldUpdate(earlier.before, event.updateDescription);
        if (after) Object.assign(earlier, { after, folded: true });
      }
      const later = images[chain.indexes[at]!]!;
      if (!later.before && earlier.after) later.before = earlier.after;
    }
  }
}

interface Chain {
  readonly first: number;
  last: number;
  readonly indexes: number[];
}

function chainKey(event: StreamEvent): string {
  return `${event.clusterTime.t}.${event.clusterTime.i}.${toBase64(touchedId(event.uuid!, event.key!))}`;
}

function chainsOf(events: readonly StreamEvent[]): Map<string, Chain> {
  const chains = new Map<string, Chain>();
  events.forEach((event, index) => {
    if (!event.uuid || !event.key) return;
    const key = chainKey(event);
    const chain = chains.get(key);
    if (chain) {
      chain.last = index;
      chain.indexes.push(index);
    } else chains.set(key, { first: index, last: index, indexes: [index] });
  });
  return chains;
}

/** One document's bytes at a cluster time, by collection UUID; undefined where it cannot be had. */
async function imageAt(
  client: MongoClient,
  db: string,
  uuid: Uint8Array,
  key: BsonValue,
  atClusterTime: Timestamp,
): Promise<Uint8Array | undefined> {
  try {
    const [found] = await rawFindAll(client.db(db), {
      collection: new Binary(uuid, 4),
      filter: { _id: { $eq: driverValue(key) } },
      limit: 1,
      atClusterTime,
    });
    return found;
  } catch {
    // The collection was dropped, renamed or is capped, or the time is out of the server's window: fold instead.
    return undefined;
  }
}
