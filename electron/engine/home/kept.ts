import { createHash } from 'node:crypto';
import { BSON, Binary, type Collection } from 'mongodb';
import { field } from '../../../shared/bson/walk.ts';
import { rawFind, rawWrite } from '../mongod/raw.ts';
import type { Home } from './home.ts';

const pieceBytes = 8 * 1024 * 1024;

/** What was kept of a collection: how many documents, and the SHA-256 of their bytes one behind the other, hex. */
export interface KeptContents {
  readonly documents: number;
  readonly hash: string;
}

/** Takes documents and says what they are together; the same documents in another order are not the same. */
export class ContentsHash {
  private readonly hash = createHash('sha256');
  private documents = 0;

  add(batch: readonly Uint8Array[]): void {
    for (const document of batch) this.hash.update(document);
    this.documents += batch.length;
  }

  end(): KeptContents {
    return { documents: this.documents, hash: this.hash.digest('hex') };
  }
}

/** A sum over the documents that is the same in whatever order they come. */
export async function sumOf(batches: AsyncIterable<readonly Uint8Array[]>): Promise<bigint> {
  let sum = 0n;
  for await (const batch of batches) {
    for (const document of batch) sum += BigInt(`0x${createHash('sha256').update(document).digest('hex')}`);
  }
  return BigInt.asUintN(256, sum);
}

/**
 * All documents of one collection, kept in home as the bytes they are, in the order they stood: one long text of bytes,
 * cut into pieces. So a document of any size and shape is kept, and what is kept costs what it weighs.
 */
export class KeptDocuments {
  private readonly home: Home;
  private readonly name: string;

  constructor(home: Home, plan: string, step: number) {
    this.home = home;
    this.name = `kept_${plan}_${step}`;
  }

  private get pieces(): Collection {
    return this.home.plans.collection(this.name);
  }

  /** Keeps these documents; what was kept here before (by a turn that was cut off) goes first. Majority, on disk. */
  async write(batches: AsyncIterable<readonly Uint8Array[]>): Promise<KeptContents> {
    await this.pieces.drop();
    const contents = new ContentsHash();
    let waiting: Uint8Array[] = [];
    let bytes = 0;
    let n = 0;
    const flush = async () => {
      const row = BSON.serialize({ _id: n, b: new Binary(Buffer.concat(waiting)) });
      const write = { insert: this.name, writeConcern: { w: 'majority', j: true } };
      const { problems } = await rawWrite(this.home.plans, write, { name: 'documents', items: [row] });
      if (problems[0]) throw new Error(`home refused what was to be kept: ${problems[0].message}`);
      n += 1;
      waiting = [];
      bytes = 0;
    };
    for await (const batch of batches) {
      contents.add(batch);
      for (const document of batch) {
        for (let at = 0; at < document.length;) {
          const part = document.subarray(at, at + pieceBytes - bytes);
          waiting.push(part);
          bytes += part.length;
          at += part.length;
          if (bytes === pieceBytes) await flush();
        }
      }
    }
    if (bytes > 0) await flush();
    return contents.end();
  }

  /** The documents in their order, a batch at a time. */
  async *read(): AsyncGenerator<Uint8Array[]> {
    let rest: Uint8Array = new Uint8Array();
    const query = { collection: this.name, filter: {}, sort: { _id: 1 }, batchSize: 1 };
    for await (const rows of rawFind(this.home.plans, query)) {
      for (const row of rows) {
        // Behind type, length and subtype of a binary value.
        const piece = field(row, 'b')?.subarray(6) ?? new Uint8Array();
        const text: Uint8Array = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
        const documents: Uint8Array[] = [];
        let at = 0;
        for (let length = lengthAt(text, at); length !== undefined; length = lengthAt(text, at)) {
          documents.push(text.subarray(at, at + length));
          at += length;
        }
        rest = text.subarray(at);
        if (documents.length > 0) yield documents;
      }
    }
    if (rest.length > 0) throw new Error(`${this.name} ends within a document`);
  }
}

/** What was kept with a plan that is given up. */
export async function dropKept(home: Home, plan: string): Promise<void> {
  const kept = await home.plans.listCollections({ name: { $regex: `^kept_${plan}_` } }, { nameOnly: true }).toArray();
  for (const { name } of kept) await home.plans.collection(name).drop();
}

/** The length of the document that begins here; undefined where it is not all there. */
function lengthAt(text: Uint8Array, at: number): number | undefined {
  if (text.length - at < 4) return undefined;
  const length = new DataView(text.buffer, text.byteOffset + at, 4).getInt32(0, true);
  return length <= text.length - at ? length : undefined;
}
