import type { Document } from 'mongodb';
import type { Input } from '../../../shared/api.ts';
import { sameBytes, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { documentName, firstOf, pointerText } from '../../../shared/changes/explain.ts';
import type { DroppedCollection } from '../changes/dropped.ts';
import type { DocumentDiff } from '../changes/diff.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import { currentDocuments, imageBefore, timeSeries, type BackDocument, type LeftOut } from '../changes/rewind.ts';
import type { Side } from '../changes/side.ts';
import { uuidText } from '../changes/touched.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import { importedAfter, marks, type Mark } from '../home/past.ts';
import type { PlanRecord, Undecided } from '../home/plans.ts';
import type { ChangeRecord } from '../home/records.ts';
import { storeWayBack } from './back-plan.ts';
import { inverseOf, type ImagePair } from './inverse.ts';
import { schemaWithout, type SchemaWithout } from './schema-undo.ts';

export type ChangesToUndo = Input<'changes.undo'>['what'];

/** The changes that are to be taken back: each document's in order, and the schema's. */
export interface ChosenChanges {
  /** By touched id, base64. */
  readonly documents: ReadonlyMap<string, ChosenDocument>;
  readonly schema: readonly Mark[];
  /** Time-series collections whose measurements are among them. */
  readonly series: ReadonlySet<string>;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Changes by one of several, the actor that is asked for among them: whose they are is not known, so they stay. */
  readonly unsure: number;
  /** Whether everything from the first of them on is chosen: then it is a return to the moment before. */
  readonly isTail: boolean;
}

interface ChosenDocument {
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  /** Ascending. */
  readonly seqs: number[];
  /** The import among them that brought it. */
  imported?: number;
}

/** Finds the changes that are meant, up to `upTo`. */
export async function chooseChanges(home: Home, side: Side, what: ChangesToUndo, upTo: number): Promise<ChosenChanges> {
  const branchId = side.record._id;
  const documents = new Map<string, ChosenDocument>();
  const schema: Mark[] = [];
  const series = new Set<string>();
  const imports: number[] = [];
  let [first, last, count] = [0, 0, 0];
  for await (const page of marks(home, branchId, rangeOf(what, upTo), filterOf(what))) {
    for (const mark of page) {
      first ||= mark.seq;
      last = mark.seq;
      count += 1;
      if (mark.op === 'import') imports.push(mark.seq);
      else if (mark.detail?.['timeSeries'] === true) series.add(mark.ns ?? '');
      else if (!mark.uuid || !mark.key) schema.push(mark);
      else chosen(documents, mark.uuid, mark.key).seqs.push(mark.seq);
    }
  }
  if (imports.length > 0) await addImported(home, branchId, documents, imports);
  let after = 0;
  if (count > 0) for await (const page of marks(home, branchId, { after: first - 1, upTo })) after += page.length;
  const unsure = 'actor' in what ? await countUnsure(home, branchId, what.actor, upTo) : 0;
  const isTail = count > 0 && after === count && unsure === 0;
  return { documents, schema, series, first, last, count, unsure, isTail };
}

async function countUnsure(home: Home, branchId: string, actor: string, upTo: number): Promise<number> {
  let count = 0;
  const oneOfSeveral = { c: actor, 'c.0': { $exists: true } };
  for await (const page of marks(home, branchId, { after: 0, upTo }, oneOfSeveral)) count += page.length;
  return count;
}

function rangeOf(what: ChangesToUndo, upTo: number): { after: number; upTo: number } {
  if ('from' in what) return { after: what.from - 1, upTo: Math.min(what.to, upTo) };
  return { after: 0, upTo };
}

function filterOf(what: ChangesToUndo): Document {
  if ('seqs' in what) return { _id: { $in: what.seqs } };
  if ('transaction' in what) return { x: what.transaction };
  // Of a change that one of several made `c` is an array, which an equality would match too.
  return 'actor' in what ? { c: what.actor, 'c.0': { $exists: false } } : {};
}

function chosen(documents: Map<string, ChosenDocument>, uuid: Uint8Array, key: BsonValue): ChosenDocument {
  const id = toBase64(touchedId(uuid, key));
  let document = documents.get(id);
  if (!document) documents.set(id, (document = { uuid, key, seqs: [] }));
  return document;
}

async function addImported(
  home: Home,
  branchId: string,
  documents: Map<string, ChosenDocument>,
  imports: readonly number[],
): Promise<void> {
  for await (const rows of importedAfter(home, branchId, Math.min(...imports) - 1)) {
    for (const row of rows) {
      const imported = row.imports?.find((seq) => imports.includes(seq));
      if (imported !== undefined) chosen(documents, row.uuid, row.key).imported = imported;
    }
  }
}

export interface UndonePlan {
  readonly plan: PlanRecord;
  /** Documents that are left out: the same was changed again since. */
  readonly conflicting: readonly DocumentDiff[];
}

const pageChanges = 500;
const listed = 100;

/**
 * Plans to take changes back inside their branch, field by field: what else was changed in a document since stays. A
 * document of which the same was changed again is left out and told.
 */
export async function planUndoChanges(
  home: Home,
  side: Side,
  changes: ChosenChanges,
  text: string,
  parent: Side | undefined,
): Promise<UndonePlan> {
  const now = await readCatalog(side.client);
  const schema = await schemaWithout(home, side, changes, now, parent);
  const undo = new DocumentsWithout(home, side, changes, now);
  const left = () => [...schema.leftOut, ...undo.left.values(), ...unsureOnes(changes)];
  const plan = await storeWayBack(home, {
    kind: 'undo-changes',
    text,
    side,
    base: schema.base,
    now,
    then: schema.then,
    documents: joined(undo.documents(schema), ...schema.returning.map((each) => undo.returned(each))),
    leftOut: left,
    conflicts: () => ({ count: undo.conflicts, named: undo.conflicting.map(changedAgain) }),
  });
  return { plan, conflicting: undo.conflicting };
}

function unsureOnes({ unsure }: ChosenChanges): LeftOut[] {
  if (unsure === 0) return [];
  const what = unsure === 1 ? '1 change was' : `${unsure} changes were`;
  const detail = `${what} made by one of several, and the server does not tell by whom; ${unsure === 1 ? 'it stays' : 'they stay'} unless chosen by number.`;
  return [{ name: 'history', detail }];
}

function changedAgain({ ns, key, fields, collectionGone }: ChangedAgain): Undecided {
  const paths = fields.filter(({ path }) => path.length > 0).map(({ path }) => pointerText(path));
  const where = paths.length === 0 ? '' : ` at ${firstOf(paths)}`;
  const text = collectionGone
    ? `${documentName(ns, key)} went later with its collection; it stays gone.`
    : `${documentName(ns, key)} was changed again later${where}; it stays as it is.`;
  return { ns, id: toBase64(key), text };
}

async function* joined(...all: AsyncIterable<BackDocument[]>[]): AsyncGenerator<BackDocument[]> {
  for (const each of all) yield* each;
}

/** A document of which the same was changed again. */
interface ChangedAgain extends DocumentDiff {
  readonly collectionGone: boolean;
}

class DocumentsWithout {
  conflicts = 0;
  readonly conflicting: ChangedAgain[] = [];
  readonly left: Map<string, LeftOut>;
  private readonly home: Home;
  private readonly side: Side;
  private readonly changes: ChosenChanges;
  private readonly now: Catalog;

  constructor(home: Home, side: Side, changes: ChosenChanges, now: Catalog) {
    this.home = home;
    this.side = side;
    this.changes = changes;
    this.now = now;
    this.left = new Map([...changes.series].map(timeSeries).map((what) => [what.detail, what]));
  }

  /** All but those that go, or come back, with their collection. */
  async *documents({ leaving, dropped }: SchemaWithout): AsyncGenerator<BackDocument[]> {
    let page: ChosenDocument[] = [];
    let size = 0;
    for (const document of this.changes.documents.values()) {
      const collection = uuidText(document.uuid);
      if (leaving.has(collection) || (dropped.has(collection) && !this.now.byUuid.has(collection))) continue;
      page.push(document);
      size += document.seqs.length + 1;
      if (size >= pageChanges) {
        yield await this.read(page);
        page = [];
        size = 0;
      }
    }
    if (page.length > 0) yield await this.read(page);
  }

  /** A collection that comes back as it was before the drop, without those of its changes that are chosen too. */
  async *returned(collection: DroppedCollection): AsyncGenerator<BackDocument[]> {
    const chosen = new Map([...this.changes.documents].filter(([, { uuid }]) => uuidText(uuid) === collection.hex));
    const without = async (page: readonly ChosenDocument[], before: ReadonlyMap<string, Uint8Array>) =>
      (await this.inverse(page, before, () => collection.ns)).map((each) => ({ ...each, now: undefined }));
    for await (const page of collection.documents()) {
      const before = new Map(page.flatMap(({ id, then }) => (then ? [[toBase64(id), then]] : [])));
      const mine = [...before.keys()].flatMap((id) => chosen.get(id) ?? []);
      const changed = new Map((await without(mine, before)).map((each) => [toBase64(each.id), each]));
      for (const id of before.keys()) chosen.delete(id);
      yield page.map((each) => changed.get(toBase64(each.id)) ?? each);
    }
    yield await without([...chosen.values()], new Map());
  }

  private async read(page: readonly ChosenDocument[]): Promise<BackDocument[]> {
    const current = await currentDocuments(this.side, this.now, page);
    return this.inverse(page, current, (uuid) => this.now.byUuid.get(uuid)?.ns);
  }

  private async inverse(
    page: readonly ChosenDocument[],
    current: ReadonlyMap<string, Uint8Array>,
    name: (uuid: string) => string | undefined,
  ): Promise<BackDocument[]> {
    const records = await this.side.history.changes.bySeq(page.flatMap(({ seqs }) => seqs));
    const found: BackDocument[] = [];
    for (const document of page) {
      const { uuid, key } = document;
      const id = touchedId(uuid, key);
      const there = name(uuidText(uuid));
      const ns = there ?? records.get(document.seqs.at(-1) ?? 0)?.ns ?? '';
      const now = current.get(toBase64(id));
      const pairs = await this.pairsOf(document, records, now);
      if (!pairs) {
        const detail = `What some of these changes were in ${ns} was not recorded; those documents stay as they are.`;
        this.left.set(detail, { name: 'documents', detail });
        continue;
      }
      const { result, clashes } = inverseOf(now, pairs);
      if (clashes.length > 0) {
        this.conflicts += 1;
        if (this.conflicting.length < listed) {
          const sides = { base: pairs[0]?.after, parent: now, branch: pairs.at(-1)?.before };
          const kind = sides.base === undefined ? 'added' : sides.branch === undefined ? 'removed' : 'modified';
          const row = { id, uuid, key, first: document.seqs[0] ?? 0, last: document.seqs.at(-1) ?? 0 };
          this.conflicting.push({
            ns,
            key,
            kind,
            conflict: true,
            fields: clashes,
            collectionGone: there === undefined,
            sides: { row, ns, parentNs: ns, isBucket: false, ...sides },
          });
        }
      } else if (!sameBytes(result, now)) found.push({ id, uuid, key, ns, then: result, now });
    }
    return found;
  }

  /** Each change's two sides, newest first; undefined where one was not recorded. */
  private async pairsOf(
    { uuid, key, seqs, imported }: ChosenDocument,
    records: ReadonlyMap<number, ChangeRecord>,
    now: Uint8Array | undefined,
  ): Promise<ImagePair[] | undefined> {
    const pairs: (ImagePair & { readonly seq: number })[] = [];
    for (const seq of seqs) {
      const record = records.get(seq);
      const before = imageBefore(record);
      const isGone = record?.op === 'delete' || record?.detail?.['removed'] === true;
      if (!before || (!record?.after && !isGone)) return undefined;
      pairs.push({ seq, before: before.image, after: record.after });
    }
    if (imported !== undefined) {
      // An import is kept by key: what it left is what the next change found, or what is there.
      const next = await this.nextAfter(uuid, key, imported);
      pairs.push({ seq: imported, before: undefined, after: next ? next.before : now });
    }
    return pairs.sort((a, b) => b.seq - a.seq);
  }

  private async nextAfter(uuid: Uint8Array, key: BsonValue, seq: number): Promise<ChangeRecord | undefined> {
    const row = await this.side.history.touched.row(touchedId(uuid, key));
    if (!row || row.last <= seq) return undefined;
    const own = await this.side.history.ofDocument(uuid, key, Number.MAX_SAFE_INTEGER);
    return own.find((change) => change.seq > seq);
  }
}
