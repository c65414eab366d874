import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { touchedId } from '../home/touched-id.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import { forkSequence } from './parent-edits.ts';
import type { Side } from './side.ts';
import { hasAfter, uuidText } from './touched.ts';

/** What a history says of one document. */
export interface Recorded {
  readonly row: TouchedRecord;
  readonly last: ChangeRecord | undefined;
}

/** What one side's history says of documents of one collection, by {@link keyText}; those it never touched are left out. */
export async function recordedOf(
  side: Side,
  uuid: Uint8Array,
  keys: readonly BsonValue[],
): Promise<Map<string, Recorded>> {
  const rows = await side.history.touched.rows(keys.map((key) => touchedId(uuid, key)));
  return withLast(side, rows);
}

/** @see recordedOf */
export async function withLast(side: Side, rows: readonly TouchedRecord[]): Promise<Map<string, Recorded>> {
  const lasts = await side.history.changes.bySeq([...new Set(rows.map(({ last }) => last))], { after: true });
  return new Map(rows.map((row) => [keyText(row.key), { row, last: lasts.get(row.last) }]));
}

/** Whether what a document is now is what the history says of it. An import is recorded by key, a bucket too. */
export function agrees({ last }: Recorded, live: Uint8Array | undefined): boolean {
  if (last?.op === 'import') return live !== undefined;
  if (last?.detail?.['timeSeries'] === true) return (last.op === 'delete') === (live === undefined);
  return hasAfter(last) && sameBytes(live, last.after);
}

/**
 * What documents of the parent were when the branch left it: what the parent's own history says, else what the parent has
 * now. Memory grows with what the parent changed since, about 100 bytes a document.
 */
export class ForkImages {
  private readonly parent: Side;
  /** The parent's last sequence at the fork. */
  readonly from: number;
  private loadedTo: number;
  /** First change after the fork, by collection (hex of its UUID) and by {@link idText}. */
  private readonly first = new Map<string, Map<string, number>>();

  private constructor(parent: Side, from: number) {
    this.parent = parent;
    this.from = from;
    this.loadedTo = from;
  }

  static async open(branch: Pick<Side, 'record'>, parent: Side): Promise<ForkImages> {
    const from = await forkSequence({ branch, parent });
    const images = new ForkImages(parent, from);
    await images.refresh();
    return images;
  }

  /** Takes in what the parent's history got since it was last looked at. */
  async refresh(): Promise<void> {
    for await (const batch of this.parent.history.changes.keysAfter(this.loadedTo)) {
      for (const { seq, uuid, key } of batch) {
        const collection = uuidText(uuid);
        let known = this.first.get(collection);
        if (!known) this.first.set(collection, (known = new Map()));
        const id = idText(touchedId(uuid, key));
        if (!known.has(id)) known.set(id, seq);
        this.loadedTo = seq;
      }
    }
  }

  /** Ids of the documents of a collection that the parent changed since, in groups. */
  *changedIds(uuid: Uint8Array, size: number): Generator<Uint8Array[]> {
    let group: Uint8Array[] = [];
    for (const id of this.first.get(uuidText(uuid))?.keys() ?? []) {
      group.push(Buffer.concat([uuid, Buffer.from(id, 'latin1')]));
      if (group.length === size) {
        yield group;
        group = [];
      }
    }
    if (group.length > 0) yield group;
  }

  private firstChange(uuid: Uint8Array, key: BsonValue): number | undefined {
    return this.first.get(uuidText(uuid))?.get(idText(touchedId(uuid, key)));
  }

  /**
   * Documents at the fork, by {@link keyText}.
   * @param now what the parent has by now
   * @param recorded what the parent's history says of them
   */
  async at(
    uuid: Uint8Array,
    keys: readonly BsonValue[],
    now: ReadonlyMap<string, Uint8Array>,
    recorded: ReadonlyMap<string, Recorded>,
  ): Promise<Map<string, Uint8Array | undefined>> {
    const seqs = keys.flatMap((key) => this.firstChange(uuid, key) ?? []);
    const firsts = await this.parent.history.changes.bySeq(seqs, { before: true });
    return new Map(
      keys.map((key) => {
        const text = keyText(key);
        const seq = this.firstChange(uuid, key);
        if (seq !== undefined) return [text, firsts.get(seq)?.before];
        const known = recorded.get(text);
        // An import leaves no change of its own for each document.
        if (known && known.row.first > this.from) return [text, undefined];
        return [text, known && hasAfter(known.last) ? known.last.after : now.get(text)];
      }),
    );
  }

  /** Whether the parent's history tells what this document was at the fork. */
  knows(uuid: Uint8Array, key: BsonValue, recorded: Recorded | undefined): boolean {
    if (this.firstChange(uuid, key) !== undefined) return true;
    return recorded !== undefined && (recorded.row.first > this.from || hasAfter(recorded.last));
  }
}

/** A touched id without its collection, one character a byte. */
function idText(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset + 16, id.length - 16).toString('latin1');
}
