import { Binary, type Collection, type MongoClient } from 'mongodb';
import type { BenchYard } from './yard.ts';

/** A document of about 1 KB, as an application would have it. */
export interface BenchDocument {
  readonly _id: number;
  readonly name: string;
  readonly email: string;
  readonly active: boolean;
  readonly n: number;
  readonly score: number;
  readonly at: Date;
  readonly tags: readonly string[];
  readonly address: { readonly street: string; readonly city: string; readonly zip: string };
  readonly token: Binary;
  readonly text: string;
}

const seed = 20_240_501;
const textLength = 700;
const batch = 1_000;
const loaders = 4;
/**
 * Main's change log holds 256 MB: capture catches up before so many documents more are written that it could not be
 * read any more.
 */
const ahead = 50_000;

/** Numbers in [0, 1) that are the same every time. (Mulberry32.) */
export function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Cut anew for every document: pieces of it hardly ever meet in one block that the server compresses. */
const noise = Buffer.from(Uint32Array.from({ length: 1 << 20 }, withRandom(seed)).buffer);
const letters = noise.toString('base64');

function withRandom(start: number): () => number {
  const random = randomFrom(start);
  return () => Math.floor(random() * 2 ** 32);
}

/** The document with this id; always the same one. */
export function documentOf(id: number): BenchDocument {
  const random = randomFrom(seed ^ Math.imul(id + 1, 0x9e3779b1));
  const text = (length: number): string => {
    const from = Math.floor(random() * (letters.length - length));
    return letters.slice(from, from + length);
  };
  const from = Math.floor(random() * (noise.length - 24));
  return {
    _id: id,
    name: `Customer ${text(8)}`,
    email: `${text(10)}@example.com`,
    active: random() < 0.8,
    n: 0,
    score: random() * 100,
    at: new Date(1_700_000_000_000 + Math.floor(random() * 1e10)),
    tags: [text(6), text(6), text(6)],
    address: { street: `${text(12)} Street ${id % 200}`, city: text(9), zip: String(10_000 + (id % 90_000)) },
    token: new Binary(noise.subarray(from, from + 24)),
    text: text(textLength),
  };
}

export function documentsIn(client: MongoClient): Collection<BenchDocument> {
  return client.db('bench').collection<BenchDocument>('documents');
}

/** Writes the documents `from <= _id < to` straight into main, and waits until all of them are in its history. */
export async function load(yard: BenchYard, from: number, to: number): Promise<void> {
  const documents = documentsIn(await yard.mongo('main'));
  for (let next = from; next < to;) {
    const end = Math.min(next + ahead, to);
    const loader = async () => {
      while (next < end) {
        const first = next;
        next = Math.min(first + batch, end);
        const rows = Array.from({ length: next - first }, (_, index) => documentOf(first + index));
        await documents.insertMany(rows, { ordered: false, writeConcern: { w: 1 } });
      }
    };
    await Promise.all(Array.from({ length: loaders }, loader));
    await yard.settle('main');
    if (to - from > ahead) yard.run.say(`${next} of ${to} documents`);
  }
}
