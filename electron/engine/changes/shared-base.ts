import { keyText } from '../../../shared/bson/key.ts';
import { sameBytes, type BsonValue } from '../../../shared/bson/value.ts';
import { touchedId } from '../home/touched-id.ts';
import type { ChangeRecord, TouchedRecord } from '../home/records.ts';
import { readCatalog } from './catalog.ts';
import type { Apart, Stretch } from './lineage.ts';
import { imageBefore } from './rewind.ts';
import { readByKey, uuidText } from './touched.ts';

type Found = Map<string, { readonly image: Uint8Array | undefined }>;

/**
 * What documents were in the common ancestor when the first of the two branches left it. Told by the first change of the
 * older branch's line, else by what that branch has still, else by the ancestor. What an adoption has agreed on since stands
 * in its place where both sides come from that.
 */
export class SharedBase {
  private readonly apart: Apart;
  /** Where the older branch and the ancestor run: what they call a collection is read from their catalogs once. */
  private readonly catalogs = new Map<Stretch, ReturnType<typeof readCatalog>>();

  constructor(apart: Apart) {
    this.apart = apart;
  }

  /**
   * By {@link keyText}; a document of which that is not known is left out.
   * @param uuid the ancestor's collection
   */
  async at(uuid: Uint8Array, keys: readonly BsonValue[]): Promise<Found> {
    const found: Found = new Map();
    const { older, ancestorSince } = this.apart;
    const hex = uuidText(uuid);
    const missing = () => keys.filter((key) => !found.has(keyText(key)));
    const take = (some: Found) => {
      for (const [key, image] of some) found.set(key, image);
    };
    const unsure = new Set<string>();
    const sure = () => missing().filter((key) => !unsure.has(keyText(key)));
    // Something happened to an unsure one here: what came of it further down is not what it was.
    const lookIn = async (stretch: Stretch) => {
      const { known, unknown } = await firstIn(stretch, uuid, sure());
      take(known);
      for (const key of unknown) unsure.add(key);
      return !stretch.drops.has(hex);
    };
    let isWhole = true;
    for (const stretch of older) isWhole = isWhole && (await lookIn(stretch));
    if (isWhole) take(await this.current(older.at(-1)!, uuid, sure()));
    unsure.clear();
    if (await lookIn(ancestorSince)) take(await this.current(ancestorSince, uuid, sure()));
    take(await this.agreedOn(uuid, keys));
    return found;
  }

  /**
   * What the ancestor and the older line's first branch have agreed on since, by an adoption, where everything below began
   * with just that: then it is what both sides come from.
   */
  private async agreedOn(uuid: Uint8Array, keys: readonly BsonValue[]): Promise<Found> {
    const [first, next] = this.apart.older;
    if (!first || keys.length === 0) return new Map();
    const rows = await first.kin.history.touched.rows(keys.map((key) => touchedId(uuid, key)));
    let agreed: Found = new Map(
      rows.flatMap(({ key, base }) => (base ? [[keyText(key), { image: base.document }]] : [])),
    );
    for (const stretch of [next, this.apart.newer[0]]) {
      if (!stretch || agreed.size === 0) continue;
      const asked = keys.filter((key) => agreed.has(keyText(key)));
      const began = await this.beginning(stretch, uuid, asked);
      agreed = new Map(
        [...agreed].filter(([key, { image }]) => {
          const start = began.get(key);
          return start !== undefined && sameBytes(start.image, image);
        }),
      );
    }
    return agreed;
  }

  /** What a branch began with; a document of which that is not known is left out. */
  private async beginning(stretch: Stretch, uuid: Uint8Array, keys: readonly BsonValue[]): Promise<Found> {
    const { known, unknown } = await firstIn(stretch, uuid, keys);
    const untouched = keys.filter((key) => !known.has(keyText(key)) && !unknown.has(keyText(key)));
    return new Map([...(await this.current(stretch, uuid, untouched)), ...known]);
  }

  /** What the line has now, which is what it had then where nothing is known to have happened to it. */
  private async current(stretch: Stretch, uuid: Uint8Array, keys: readonly BsonValue[]): Promise<Found> {
    const { running } = stretch.kin;
    if (!running || keys.length === 0) return new Map();
    let catalog = this.catalogs.get(stretch);
    if (!catalog) this.catalogs.set(stretch, (catalog = readCatalog(running.client)));
    const collection = (await catalog).byStore.get(uuidText(uuid));
    if (!collection) return new Map();
    const documents = await readByKey(running, { db: collection.db, uuid }, keys);
    return new Map(keys.map((key) => [keyText(key), { image: documents.get(keyText(key)) }]));
  }
}

/** What documents were before a stretch, of those that it touched. */
async function firstIn(
  { kin, after, upTo, drops }: Stretch,
  uuid: Uint8Array,
  keys: readonly BsonValue[],
): Promise<{ known: Found; unknown: Set<string> }> {
  const known: Found = new Map();
  const unknown = new Set<string>();
  if (keys.length === 0) return { known, unknown };
  const rows = (await kin.history.touched.rows(keys.map((key) => touchedId(uuid, key)))).filter(
    ({ first, last }) => first <= upTo && last > after,
  );
  const fresh = rows.filter(({ first }) => first > after);
  const firsts = await kin.history.changes.bySeq([...new Set(fresh.map(({ first }) => first))], { before: true });
  await Promise.all(
    rows.map(async (row) => {
      const text = keyText(row.key);
      const change = row.first > after ? firsts.get(row.first) : await firstBehind(kin.history, row, after);
      const isBehindDrop = change !== undefined && change.seq > (drops.get(uuidText(uuid)) ?? change.seq);
      const image = isBehindDrop ? undefined : before(row, change, after);
      if (image) known.set(text, image);
      else unknown.add(text);
    }),
  );
  return { known, unknown };
}

async function firstBehind(history: Stretch['kin']['history'], row: TouchedRecord, after: number) {
  const change = await history.changes.firstAfter(row, after);
  const imported = (row.imports ?? []).filter((seq) => seq > after);
  if (imported.length === 0 || (change && change.seq < Math.min(...imported))) return change;
  return (await history.changes.bySeq([Math.min(...imported)], { before: true })).get(Math.min(...imported));
}

function before(
  row: TouchedRecord,
  change: ChangeRecord | undefined,
  after: number,
): { readonly image: Uint8Array | undefined } | undefined {
  // An import is an insert.
  if (change?.op === 'import') return { image: undefined };
  const told = imageBefore(change);
  if (told) return told;
  // What an exact comparison found in place of an image.
  return after === 0 && row.base ? { image: row.base.document } : undefined;
}
