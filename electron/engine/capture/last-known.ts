import { toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import type { History } from '../home/history.ts';
import { touchedId } from '../home/touched-id.ts';

const mostBytes = 16 * 1024 * 1024;
const mostDocuments = 50_000;

/**
 * The last known image of documents whose collection has no stored images yet (it was just created), bounded, in order
 * of use; behind it the history.
 */
export class LastKnown {
  private readonly history: History;
  /** By touched id, base64; `null`: known not to exist. */
  private readonly images = new Map<string, Uint8Array | null>();
  private bytes = 0;

  constructor(history: History) {
    this.history = history;
  }

  get size(): number {
    return this.images.size;
  }

  async get(uuid: Uint8Array, key: BsonValue): Promise<Uint8Array | undefined> {
    const id = touchedId(uuid, key);
    const known = this.images.get(toBase64(id));
    if (known !== undefined) return known ?? undefined;
    const row = await this.history.touched.row(id);
    if (!row) return undefined;
    return (await this.history.changes.bySeq([row.last], { after: true })).get(row.last)?.after;
  }

  set(uuid: Uint8Array, key: BsonValue, image: Uint8Array | undefined): void {
    const id = toBase64(touchedId(uuid, key));
    this.forget(id);
    // A copy: the image is a view into a whole batch.
    this.images.set(id, image?.slice() ?? null);
    this.bytes += image?.length ?? 0;
    for (const oldest of this.images.keys()) {
      if (this.bytes <= mostBytes && this.images.size <= mostDocuments) break;
      this.forget(oldest);
    }
  }

  private forget(id: string): void {
    this.bytes -= this.images.get(id)?.length ?? 0;
    this.images.delete(id);
  }
}
